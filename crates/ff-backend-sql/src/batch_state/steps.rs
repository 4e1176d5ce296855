//! The steps a batch has loaded and writes, and the payloads it forks executions with.

use std::collections::{BTreeSet, HashMap, HashSet};

use ff_core::change::Change;
use ff_core::payload::Payload;
use ff_core::step::{ForgottenSteps, Step, StepHead, StepRef};
use ff_core::types::ExecutionId;

use super::RecordSet;

/// A step of an execution.
pub(crate) type StepIdentity = (ExecutionId, StepRef);

/// Steps, those that go, and the lists of what is stored.
#[derive(Default)]
pub(crate) struct StepRecords {
    pub(crate) records: RecordSet<StepIdentity, Step>,
    /// The stored steps of an execution.
    heads: HashMap<ExecutionId, Result<Vec<StepHead>, String>>,
    /// Executions all of whose stored steps go.
    cleared: BTreeSet<ExecutionId>,
    /// Stored steps that go.
    gone: BTreeSet<StepIdentity>,
    /// The payloads of executions that are forked.
    payloads: HashMap<ExecutionId, Option<Payload>>,
}

/// The changes of a batch to the steps of an execution.
pub(crate) struct StepChanges {
    pub(crate) cleared: bool,
    /// The numbers of stored steps that go.
    pub(crate) gone: HashSet<u32>,
    pub(crate) recorded: Vec<Step>,
}

impl StepRecords {
    /// Puts what the store has of the steps of an execution on the desk.
    pub(crate) fn lay_heads(&mut self, id: ExecutionId, heads: Result<Vec<StepHead>, String>) {
        self.heads.entry(id).or_insert(heads);
    }

    pub(crate) fn lay_payload(&mut self, id: ExecutionId, payload: Option<Payload>) {
        self.payloads.insert(id, payload);
    }

    /// Takes what a change says of steps.
    pub(crate) fn take(&mut self, change: &mut Change) {
        let id = change.after.id;
        // A payload that was read before may have changed.
        self.payloads.remove(&id);
        let Some(write) = change.steps.take() else { return };
        match write.forgotten {
            ForgottenSteps::None => {}
            ForgottenSteps::All => self.clear(id),
            ForgottenSteps::Only(gone) => {
                for step in gone {
                    self.records.remove((id, step.clone()));
                    self.gone.insert((id, step));
                }
            }
        }
        for step in write.recorded {
            self.records.write((id, step.step.clone()), step);
        }
    }

    /// Takes up that all steps of an execution go.
    pub(crate) fn clear(&mut self, id: ExecutionId) {
        self.records.forget(|(of, _)| *of == id);
        self.heads.insert(id, Ok(Vec::new()));
        self.gone.retain(|(of, _)| *of != id);
        self.cleared.insert(id);
    }

    /// A step as the batch has made it so far; nothing is known when it was not loaded.
    pub(crate) fn find(&self, id: &ExecutionId, step: &StepRef) -> Option<Option<&Step>> {
        let known = self.records.find(&(*id, step.clone()));
        known.or_else(|| self.cleared.contains(id).then_some(None))
    }

    /// Every step of an execution as the batch has made them so far, in the order of their numbers.
    pub(crate) fn heads(&self, id: &ExecutionId) -> Option<Vec<StepHead>> {
        let stored = self.heads.get(id)?.as_ref().ok()?;
        let is_touched = |head: &&StepHead| self.records.is_touched(&(*id, head.step.clone()));
        let mut heads: Vec<_> = stored.iter().filter(|head| !is_touched(head)).cloned().collect();
        heads.extend(self.recorded(id).map(Step::head));
        heads.sort_by_key(|head| head.seq);
        Some(heads)
    }

    /// Why the list of an execution's steps cannot be read.
    pub(crate) fn unreadable_heads(&self, id: &ExecutionId) -> Option<&String> {
        self.heads.get(id)?.as_ref().err()
    }

    pub(crate) fn payload(&self, id: &ExecutionId) -> Option<Option<&Payload>> {
        self.payloads.get(id).map(Option::as_ref)
    }

    /// The changes of the batch to the steps of an execution so far.
    pub(crate) fn changes(&self, id: &ExecutionId) -> StepChanges {
        let stored = self.heads.get(id).and_then(|heads| heads.as_ref().ok()).into_iter().flatten();
        let gone = stored.filter(|head| self.records.is_touched(&(*id, head.step.clone())));
        StepChanges {
            cleared: self.cleared.contains(id),
            gone: gone.map(|head| head.seq).collect(),
            recorded: self.recorded(id).cloned().collect(),
        }
    }

    pub(crate) fn cleared(&self) -> impl Iterator<Item = &ExecutionId> {
        self.cleared.iter()
    }

    pub(crate) fn gone(&self) -> impl Iterator<Item = &StepIdentity> {
        self.gone.iter()
    }

    fn recorded(&self, id: &ExecutionId) -> impl Iterator<Item = &Step> {
        let id = *id;
        self.records.touched().filter_map(move |((of, _), step)| step.filter(|_| *of == id))
    }
}
