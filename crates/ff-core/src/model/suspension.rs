//! The suspensions and signals of the model.

use std::collections::{BTreeMap, VecDeque};

use super::{Model, here, part};
use crate::backend::snapshot::Snapshot;
use crate::execution::Execution;
use crate::limits;
use crate::payload::Payload;
use crate::rule::change::Change;
use crate::rule::index::{Score, pending_waitpoints};
use crate::signal::{Delivery, FeedPart, Position, RecordedSignal, Signal, SignalKeyEntry};
use crate::suspension::{SuspendKeyEntry, Waitpoint};
use crate::token::KeyRing;
use crate::types::{ExecutionId, IdempotencyKey, SignalId, WaitpointId};

/// Waitpoints, signals, their remembered keys, and the secrets that sign tokens.
#[derive(Clone, Debug, Default)]
pub(super) struct SuspensionRecords {
    pub(super) waitpoints: BTreeMap<(ExecutionId, WaitpointId), Waitpoint>,
    pub(super) signals: BTreeMap<ExecutionId, Vec<Signal>>,
    pub(super) payloads: BTreeMap<(ExecutionId, SignalId), Payload>,
    pub(super) suspend_keys: BTreeMap<(ExecutionId, IdempotencyKey), SuspendKeyEntry>,
    pub(super) signal_keys: BTreeMap<(ExecutionId, WaitpointId, IdempotencyKey), SignalKeyEntry>,
    pending: BTreeMap<u16, BTreeMap<WaitpointId, Score>>,
    feeds: BTreeMap<u16, VecDeque<Delivery>>,
    pub(super) rings: BTreeMap<u16, KeyRing>,
}

impl Model {
    /// Sets the token secrets of a partition.
    pub fn set_ring(&mut self, partition: u16, ring: KeyRing) {
        self.waiting.rings.insert(partition, ring);
    }

    /// Returns the token secrets of a partition, or an empty ring if none were set.
    pub fn key_ring(&self, partition: u16) -> KeyRing {
        self.waiting.rings.get(&partition).cloned().unwrap_or_default()
    }

    /// Returns the next part of a partition's feed of delivered signals.
    pub fn deliveries(&self, partition: u16, after: Option<Position>, limit: usize) -> FeedPart {
        let feed = self.waiting.feeds.get(&partition);
        feed.map_or_else(FeedPart::default, |feed| FeedPart::of(feed.iter(), after, limit))
    }

    /// Returns the current end of a partition's feed of delivered signals.
    pub fn feed_end(&self, partition: u16) -> Option<Position> {
        Some(self.waiting.feeds.get(&partition)?.back()?.position)
    }
}

impl SuspensionRecords {
    /// Applies the part of a change that concerns waitpoints and signals.
    pub(super) fn apply(&mut self, before: Option<&Execution>, change: &mut Change) {
        let id = change.after.id;
        self.move_pending(before, &change.after);
        for waitpoint in change.waitpoints.drain(..) {
            self.waitpoints.insert((id, waitpoint.id), waitpoint);
        }
        for RecordedSignal { signal, payload } in change.signals.drain(..) {
            self.add_delivery(&change.after, &signal);
            if let Some(payload) = payload {
                self.payloads.insert((id, signal.id), payload);
            }
            self.signals.entry(id).or_default().push(signal);
        }
        if let Some(entry) = change.suspend_key.take() {
            self.suspend_keys.insert((id, entry.key.clone()), entry);
        }
        if let Some(entry) = change.signal_key.take() {
            self.signal_keys.insert((id, entry.waitpoint_id, entry.key.clone()), entry);
        }
    }

    /// Forgets an execution's waitpoints and signals. The deliveries in its partition's feed stay.
    pub(super) fn forget(&mut self, execution: &Execution) {
        let id = execution.id;
        self.waitpoints.retain(|(of, _), _| *of != id);
        self.signals.remove(&id);
        self.payloads.retain(|(of, _), _| *of != id);
        self.suspend_keys.retain(|(of, _), _| *of != id);
        self.signal_keys.retain(|(of, ..), _| *of != id);
        if let Some(index) = self.pending.get_mut(&id.partition()) {
            for (waitpoint, _) in pending_waitpoints(execution) {
                index.remove(&waitpoint);
            }
        }
    }

    pub(super) fn snapshot(&self, partition: u16, snapshot: &mut Snapshot) {
        snapshot.waitpoints = part(&self.waitpoints, |(id, _)| id.partition() == partition);
        snapshot.signals = here(&self.signals, partition);
        snapshot.signal_payloads = part(&self.payloads, |(id, _)| id.partition() == partition);
        snapshot.suspend_keys = part(&self.suspend_keys, |(id, _)| id.partition() == partition);
        snapshot.signal_keys = part(&self.signal_keys, |(id, ..)| id.partition() == partition);
        snapshot.pending_waitpoints = self.pending.get(&partition).cloned().unwrap_or_default();
        snapshot.deliveries = self.feeds.get(&partition).into_iter().flatten().cloned().collect();
        snapshot.ring = self.rings.get(&partition).cloned();
    }

    /// Updates the entries of an execution in the index of waitpoints created ahead of a suspension.
    fn move_pending(&mut self, before: Option<&Execution>, after: &Execution) {
        if before.is_none_or(|before| before.pending_waitpoints.is_empty()) && after.pending_waitpoints.is_empty() {
            return;
        }
        let index = self.pending.entry(after.id.partition()).or_default();
        for (waitpoint, _) in before.into_iter().flat_map(pending_waitpoints) {
            index.remove(&waitpoint);
        }
        index.extend(pending_waitpoints(after));
    }

    /// Adds a signal to its partition's feed. The feed drops its oldest entry beyond [`limits::FEED`] entries.
    fn add_delivery(&mut self, execution: &Execution, signal: &Signal) {
        let feed = self.feeds.entry(execution.id.partition()).or_default();
        let position = Position::after(feed.back().map(|last| last.position), signal.received_at);
        feed.push_back(Delivery::of(execution, signal, position));
        if feed.len() > limits::FEED {
            feed.pop_front();
        }
    }
}
