//! Suspensions and signals in the batch state: loaded records and writes.

use std::collections::{BTreeSet, HashMap};

use ff_core::rule::change::Change;
use ff_core::signal::{Delivery, Position, RecordedSignal, SignalKeyEntry};
use ff_core::suspension::{SuspendKeyEntry, Waitpoint};
use ff_core::token::KeyRing;
use ff_core::types::{ExecutionId, IdempotencyKey, SignalId, WaitpointId};

use super::RecordSet;
use super::partition_cache::SMALL;

/// Waitpoints, signals, remembered answers, and the secrets of tokens.
#[derive(Default)]
pub(crate) struct SuspensionRecords {
    pub(crate) waitpoints: RecordSet<(ExecutionId, WaitpointId), Waitpoint>,
    pub(crate) suspend_keys: RecordSet<(ExecutionId, IdempotencyKey), SuspendKeyEntry>,
    pub(crate) signal_keys: RecordSet<(ExecutionId, WaitpointId, IdempotencyKey), SignalKeyEntry>,
    pub(crate) rings: RecordSet<u16, KeyRing>,
    /// Signals to record, in the order they were received.
    pub(crate) signals: Vec<NewSignal>,
    /// Small signals that earlier batches recorded. They do not change any more.
    recorded: HashMap<(ExecutionId, SignalId), RecordedSignal>,
}

/// A signal to record.
pub(crate) struct NewSignal {
    pub(crate) recorded: RecordedSignal,
    /// Its number among the signals of its execution, from zero.
    pub(crate) nth: u32,
    /// The feed entry with its time. The feed sets the position among entries of the same time.
    pub(crate) delivery: Delivery,
}

impl SuspensionRecords {
    /// Returns whether a change has no suspensions and no signals.
    pub(crate) fn is_untouched_by(change: &Change) -> bool {
        change.waitpoints.is_empty()
            && change.signals.is_empty()
            && change.signal_key.is_none()
            && change.suspend_key.is_none()
    }

    /// Drops the loaded records and pending writes of an execution.
    pub(crate) fn forget(&mut self, id: &ExecutionId) {
        self.waitpoints.forget(|(of, _)| of == id);
        self.suspend_keys.forget(|(of, _)| of == id);
        self.signal_keys.forget(|(of, ..)| of == id);
        self.signals.retain(|new| new.recorded.signal.execution_id != *id);
    }

    /// Returns the records that stay valid once everything is stored, while no other session writes to these partitions.
    pub(super) fn settled(mut self, partitions: &BTreeSet<u16>) -> Self {
        let new = self.signals.into_iter().map(|new| new.recorded).filter(is_small);
        self.recorded.extend(new.map(|new| ((new.signal.execution_id, new.signal.id), new)));
        self.recorded.retain(|(id, _), _| partitions.contains(&id.partition()));
        self.waitpoints.settle();
        self.rings.settle();
        self.waitpoints.retain(|(id, _), _| partitions.contains(&id.partition()));
        self.rings.retain(|partition, _| partitions.contains(partition));
        Self { waitpoints: self.waitpoints, rings: self.rings, recorded: self.recorded, ..Self::default() }
    }

    /// Returns the number of known signals and waitpoints.
    pub(super) fn len(&self) -> usize {
        self.signals.len() + self.recorded.len() + self.waitpoints.len()
    }

    /// Returns a small signal that an earlier batch recorded.
    pub(crate) fn recorded(&self, name: &(ExecutionId, SignalId)) -> Option<&RecordedSignal> {
        self.recorded.get(name)
    }

    /// Applies the changes of suspensions and signals.
    pub(crate) fn take(&mut self, change: &mut Change) {
        let id = change.after.id;
        for waitpoint in change.waitpoints.drain(..) {
            self.waitpoints.write((id, waitpoint.id), waitpoint);
        }
        let taken = change.after.signals_taken;
        let first = u32::try_from(change.signals.len()).map_or(0, |new| taken.saturating_sub(new));
        for (nth, recorded) in (first..).zip(change.signals.drain(..)) {
            let received = Position { at: recorded.signal.received_at, nth: 0 };
            let delivery = Delivery::of(&change.after, &recorded.signal, received);
            self.signals.push(NewSignal { recorded, nth, delivery });
        }
        if let Some(entry) = change.suspend_key.take() {
            self.suspend_keys.write((id, entry.key.clone()), entry);
        }
        if let Some(entry) = change.signal_key.take() {
            self.signal_keys.write((id, entry.waitpoint_id, entry.key.clone()), entry);
        }
    }
}

fn is_small(recorded: &RecordedSignal) -> bool {
    recorded.payload.as_ref().is_none_or(|payload| payload.bytes.len() <= SMALL)
}
