//! What a batch knows and writes of suspensions and signals.

use std::collections::BTreeSet;

use ff_core::change::Change;
use ff_core::signal::{Delivery, Position, RecordedSignal, SignalKeyEntry};
use ff_core::suspension::{SuspendKeyEntry, Waitpoint};
use ff_core::token::KeyRing;
use ff_core::types::{ExecutionId, IdempotencyKey, WaitpointId};

use super::Shelf;

/// Waitpoints, signals, what is remembered of them, and the secrets behind their tokens.
#[derive(Default)]
pub(crate) struct Waits {
    pub(crate) waitpoints: Shelf<(ExecutionId, WaitpointId), Waitpoint>,
    pub(crate) suspend_keys: Shelf<(ExecutionId, IdempotencyKey), SuspendKeyEntry>,
    pub(crate) signal_keys: Shelf<(ExecutionId, WaitpointId, IdempotencyKey), SignalKeyEntry>,
    pub(crate) rings: Shelf<u16, KeyRing>,
    /// Signals to be recorded, in the order they were received.
    pub(crate) signals: Vec<NewSignal>,
}

/// A signal to be recorded.
pub(crate) struct NewSignal {
    pub(crate) recorded: RecordedSignal,
    /// Which it is of those its execution received, counted from zero.
    pub(crate) nth: u32,
    /// As the feed tells it. When is known; where it stands among others of that moment, the feed decides.
    pub(crate) delivery: Delivery,
}

impl Waits {
    /// Whether a change says nothing of suspensions and signals.
    pub(crate) fn is_untouched_by(change: &Change) -> bool {
        change.waitpoints.is_empty()
            && change.signals.is_empty()
            && change.signal_key.is_none()
            && change.suspend_key.is_none()
    }

    /// Gives up whatever is known and was to be written of an execution.
    pub(crate) fn forget(&mut self, id: &ExecutionId) {
        self.waitpoints.forget(|(of, _)| of == id);
        self.suspend_keys.forget(|(of, _)| of == id);
        self.signal_keys.forget(|(of, ..)| of == id);
        self.signals.retain(|new| new.recorded.signal.execution_id != *id);
    }

    /// What is left to count on once everything is stored and nobody else writes to these partitions.
    pub(super) fn settled(mut self, partitions: &BTreeSet<u16>) -> Self {
        self.waitpoints.settle();
        self.rings.settle();
        self.waitpoints.retain(|(id, _), _| partitions.contains(&id.partition()));
        self.rings.retain(|partition, _| partitions.contains(partition));
        Self { waitpoints: self.waitpoints, rings: self.rings, ..Self::default() }
    }

    /// Takes what a change says of suspensions and signals.
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
