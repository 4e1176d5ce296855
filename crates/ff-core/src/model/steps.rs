//! The recorded steps of the model.

use std::collections::BTreeMap;

use super::{Model, here};
use crate::backend::snapshot::Snapshot;
use crate::step::contracts::StepsPage;
use crate::step::{ForgottenSteps, Step, StepsWrite};
use crate::types::ExecutionId;

/// The recorded steps of executions that have any, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps(BTreeMap<ExecutionId, Vec<Step>>);

impl Steps {
    /// Applies a write to the steps of an execution.
    pub(super) fn apply(&mut self, id: ExecutionId, write: StepsWrite) {
        let steps = self.0.entry(id).or_default();
        match &write.forgotten {
            ForgottenSteps::None => {}
            ForgottenSteps::All => steps.clear(),
            ForgottenSteps::Only(gone) => steps.retain(|step| !gone.contains(&step.step)),
        }
        steps.extend(write.recorded);
        if steps.is_empty() {
            self.0.remove(&id);
        }
    }

    pub(super) fn forget(&mut self, id: &ExecutionId) {
        self.0.remove(id);
    }

    pub(super) fn of(&self, id: &ExecutionId) -> impl Iterator<Item = &Step> {
        self.0.get(id).into_iter().flatten()
    }

    pub(super) fn snapshot(&self, partition: u16, snapshot: &mut Snapshot) {
        snapshot.steps = here(&self.0, partition);
    }
}

impl Model {
    /// Returns the recorded steps of an execution after a given one, up to a number and a size.
    pub fn steps_page(&self, id: &ExecutionId, after: Option<u32>, limit: usize, bytes: usize) -> StepsPage {
        let rest = self.steps.of(id).filter(|step| after.is_none_or(|after| step.seq > after));
        StepsPage::of(rest.cloned(), limit, bytes)
    }
}
