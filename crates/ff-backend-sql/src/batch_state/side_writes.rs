//! The writes of a batch other than the records: payloads, results, archived attempts, lease history and keys.

use std::collections::HashMap;

use ff_core::execution::{Attempt, Execution};
use ff_core::lease::LeaseEvent;
use ff_core::payload::Payload;
use ff_core::rule::change::{Change, KeyEntry, Write};
use ff_core::types::{ExecutionId, IdempotencyKey, Namespace};

/// The pending writes other than the records.
#[derive(Default)]
pub(crate) struct SideWrites {
    pub(crate) payloads: HashMap<ExecutionId, Write<Payload>>,
    pub(crate) results: HashMap<ExecutionId, Write<Payload>>,
    pub(crate) attempts: Vec<(ExecutionId, Attempt)>,
    pub(crate) leases: Vec<(ExecutionId, LeaseEvent)>,
    pub(crate) keys: HashMap<(Namespace, IdempotencyKey), KeyEntry>,
    /// Keys to delete.
    pub(crate) freed: Vec<KeyEntry>,
}

impl SideWrites {
    /// Returns whether a change affects only the record.
    pub(crate) fn is_untouched_by(change: &Change) -> bool {
        change.attempts.is_empty()
            && change.leases.is_empty()
            && change.key.is_none()
            && matches!((&change.payload, &change.result), (Write::Keep, Write::Keep))
    }

    /// Takes the writes other than the record, and returns the record.
    pub(crate) fn take(&mut self, change: Change) -> Execution {
        let id = change.after.id;
        let payload = self.injected(change.payload);
        keep_last(&mut self.payloads, id, payload);
        keep_last(&mut self.results, id, change.result);
        self.attempts.extend(change.attempts.into_iter().map(|attempt| (id, attempt)));
        self.leases.extend(change.leases.into_iter().map(|lease| (id, lease)));
        self.keys.extend(change.key.map(|entry| ((entry.namespace.clone(), entry.key.clone()), entry)));
        change.after
    }

    /// Drops the pending writes of an execution.
    pub(crate) fn forget(&mut self, id: &ExecutionId) {
        self.payloads.remove(id);
        self.results.remove(id);
        self.attempts.retain(|(of, _)| of != id);
        self.leases.retain(|(of, _)| of != id);
    }

    /// Deletes an idempotency key.
    pub(crate) fn free(&mut self, entry: KeyEntry) {
        self.keys.remove(&(entry.namespace.clone(), entry.key.clone()));
        self.freed.push(entry);
    }

    /// Resolves `ResultOf` if the batch has changed that result. Otherwise the stored result is read later.
    fn injected(&self, payload: Write<Payload>) -> Write<Payload> {
        match payload {
            Write::ResultOf(other) => match self.results.get(&other) {
                Some(Write::Put(result)) => Write::Put(result.clone()),
                Some(_) => Write::Keep,
                None => Write::ResultOf(other),
            },
            payload => payload,
        }
    }
}

fn keep_last(writes: &mut HashMap<ExecutionId, Write<Payload>>, id: ExecutionId, write: Write<Payload>) {
    if !matches!(write, Write::Keep) {
        writes.insert(id, write);
    }
}
