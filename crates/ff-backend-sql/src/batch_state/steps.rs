//! The loaded and changed steps of a batch, and the payloads of executions to fork.

use std::collections::{BTreeSet, HashMap, HashSet};

use ff_core::payload::Payload;
use ff_core::rule::change::Change;
use ff_core::step::{ForgottenSteps, Step, StepHead, StepRef};
use ff_core::types::ExecutionId;

use super::RecordSet;

/// A step of an execution.
pub(crate) type StepIdentity = (ExecutionId, StepRef);

/// Steps, deleted steps, and the lists of stored steps.
#[derive(Default)]
pub(crate) struct StepRecords {
    pub(crate) records: RecordSet<StepIdentity, Step>,
    /// The stored steps of an execution.
    heads: HashMap<ExecutionId, Result<Vec<StepHead>, String>>,
    /// Executions whose stored steps are all deleted.
    cleared: BTreeSet<ExecutionId>,
    /// Deleted steps.
    gone: BTreeSet<StepIdentity>,
    /// The payloads of executions to fork.
    payloads: HashMap<ExecutionId, Option<Payload>>,
}

/// The changes of a batch to the steps of an execution.
pub(crate) struct StepChanges {
    pub(crate) cleared: bool,
    /// The numbers of stored steps that were deleted or replaced.
    pub(crate) gone: HashSet<u32>,
    pub(crate) recorded: Vec<Step>,
}

impl StepRecords {
    /// Loads the list of an execution's stored steps.
    pub(crate) fn lay_heads(&mut self, id: ExecutionId, heads: Result<Vec<StepHead>, String>) {
        self.heads.entry(id).or_insert(heads);
    }

    pub(crate) fn lay_payload(&mut self, id: ExecutionId, payload: Option<Payload>) {
        self.payloads.insert(id, payload);
    }

    /// Applies the changes of steps.
    pub(crate) fn take(&mut self, change: &mut Change) {
        let id = change.after.id;
        // A payload that was loaded before may have changed.
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

    /// Deletes all steps of an execution.
    pub(crate) fn clear(&mut self, id: ExecutionId) {
        self.records.forget(|(of, _)| *of == id);
        self.heads.insert(id, Ok(Vec::new()));
        self.gone.retain(|(of, _)| *of != id);
        self.cleared.insert(id);
    }

    /// Returns a step with the batch's changes; none if it was not loaded.
    pub(crate) fn find(&self, id: &ExecutionId, step: &StepRef) -> Option<Option<&Step>> {
        self.records.find(&(*id, step.clone())).or_else(|| self.cleared.contains(id).then_some(None))
    }

    /// Returns every step of an execution with the batch's changes, ordered by number.
    pub(crate) fn heads(&self, id: &ExecutionId) -> Option<Vec<StepHead>> {
        let stored = self.heads.get(id)?.as_ref().ok()?;
        let is_touched = |head: &&StepHead| self.records.is_touched(&(*id, head.step.clone()));
        let mut heads: Vec<_> = stored.iter().filter(|head| !is_touched(head)).cloned().collect();
        heads.extend(self.recorded(id).map(Step::head));
        heads.sort_by_key(|head| head.seq);
        Some(heads)
    }

    /// Returns why the list of an execution's steps is unreadable.
    pub(crate) fn unreadable_heads(&self, id: &ExecutionId) -> Option<&String> {
        self.heads.get(id)?.as_ref().err()
    }

    pub(crate) fn payload(&self, id: &ExecutionId) -> Option<Option<&Payload>> {
        self.payloads.get(id).map(Option::as_ref)
    }

    /// Returns the changes of the batch to the steps of an execution so far.
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
