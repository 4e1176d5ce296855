//! The records a writer keeps in mind from one batch to the next while their partitions stay with it. Nobody else writes
//! them meanwhile, so they need not be asked for again.

use std::collections::{BTreeSet, HashMap};

use ff_core::flow::Flow;
use ff_core::suspension::Waitpoint;
use ff_core::token::KeyRing;
use ff_core::types::{ExecutionId, FlowId, WaitpointId};

use super::sheet::{Fate, Sheet};
use super::{Desk, Shelf};

/// How many executions are kept in mind. Past it they are loaded anew.
const EXECUTIONS: usize = 4_096;

/// Records as they are stored.
#[derive(Default)]
pub(super) struct Kept {
    /// Which stay they are of.
    stay: Option<u64>,
    /// The partitions that have been a batch's since it began.
    partitions: BTreeSet<u16>,
    sheets: HashMap<ExecutionId, Sheet>,
    flows: Shelf<FlowId, Flow>,
    waitpoints: Shelf<(ExecutionId, WaitpointId), Waitpoint>,
    rings: Shelf<u16, KeyRing>,
}

impl Desk {
    /// Lays out what is kept in mind.
    pub(super) fn lay_out(&mut self) {
        let kept = &mut self.known.kept;
        std::mem::swap(&mut self.sheets, &mut kept.sheets);
        std::mem::swap(&mut self.flows.flows, &mut kept.flows);
        std::mem::swap(&mut self.waits.waitpoints, &mut kept.waitpoints);
        std::mem::swap(&mut self.waits.rings, &mut kept.rings);
    }

    /// Takes note of the stay a batch begins in, and to which partitions. What was laid out is of use only if it is of the
    /// same one: otherwise others may have written since.
    pub(crate) fn begin(&mut self, stay: Option<u64>, partitions: &[u16]) {
        if stay.is_none() || self.known.kept.stay != stay {
            self.lay_out();
            self.known.kept = Kept { stay, ..Kept::default() };
        }
        self.known.kept.partitions.extend(partitions);
    }

    /// Keeps in mind what is on the desk, all of which is stored by now.
    pub(super) fn put_by(&mut self) {
        // What goes takes along much that is not on the desk.
        let went = !self.going.is_empty() || !self.flows.gone.is_empty();
        if self.known.kept.stay.is_none() || went || self.sheets.len() > EXECUTIONS {
            self.known.kept = Kept::default();
            return;
        }
        for id in self.changed.values().flatten() {
            if let Some(sheet) = self.sheets.get_mut(id)
                && let Some(Fate::Written(after)) = sheet.fate.take()
            {
                sheet.stored = Ok(Some(*after));
            }
        }
        self.flows.flows.settle();
        self.waits.waitpoints.settle();
        self.waits.rings.settle();
        self.lay_out();
        let Kept { partitions, sheets, flows, waitpoints, rings, .. } = &mut self.known.kept;
        sheets.retain(|id, sheet| partitions.contains(&id.partition()) && sheet.stored().is_some());
        flows.retain(|_, flow| partitions.contains(&flow.partition));
        waitpoints.retain(|(id, _), _| partitions.contains(&id.partition()));
        rings.retain(|partition, _| partitions.contains(partition));
    }
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::SubmitArgs;
    use ff_core::dice::{Dice, SeededDice};
    use ff_core::execution::Execution;
    use ff_core::model::Model;
    use ff_core::operation::{Ask, Conditions};
    use ff_core::partition::PartitionConfig;
    use ff_core::payload::Payload;
    use ff_core::types::TimestampMs;
    use ff_core::view::View;

    use super::*;
    use crate::desk::Known;

    fn execution() -> Execution {
        let nonce = SeededDice::new(1).nonce();
        let at = Conditions { partitions: PartitionConfig::default(), nonce, now: TimestampMs(1) };
        let mut model = Model::default();
        let work = SubmitArgs::new("k".parse().unwrap(), Payload::default());
        model.execute(&work.into_operation(), &at).unwrap();
        model.executions().next().unwrap().clone()
    }

    /// What is left in mind of a batch on these partitions that came upon an execution.
    fn after(stay: Option<u64>, partitions: &[u16], execution: &Execution) -> Known {
        let mut desk = Desk::default();
        desk.begin(stay, partitions);
        desk.lay(execution.id, Ok(Some(execution.clone())));
        desk.settled()
    }

    /// Whether a batch in a stay is spared loading an execution.
    fn is_known(known: Known, stay: Option<u64>, execution: &Execution) -> bool {
        let mut desk = Desk::with(known);
        desk.begin(stay, &[]);
        desk.execution(&execution.id) == Ok(Some(execution))
    }

    #[test]
    fn records_are_known_for_as_long_as_their_partitions_stay() {
        let execution = execution();
        let ours = [execution.id.partition()];
        assert!(is_known(after(Some(1), &ours, &execution), Some(1), &execution));
        assert!(!is_known(after(Some(1), &ours, &execution), Some(2), &execution), "others may have written");
        assert!(!is_known(after(Some(1), &ours, &execution), None, &execution));
        assert!(!is_known(after(None, &ours, &execution), None, &execution));
    }

    #[test]
    fn records_of_partitions_that_do_not_stay_are_not_kept() {
        let execution = execution();
        let another = [execution.id.partition() ^ 1];
        assert!(!is_known(after(Some(1), &another, &execution), Some(1), &execution));
    }

    #[test]
    fn what_a_batch_wrote_is_what_the_next_finds() {
        let before = execution();
        let changed = Execution { retries: 7, ..before.clone() };
        let mut desk = Desk::with(after(Some(1), &[before.id.partition()], &before));
        desk.begin(Some(1), &[]);
        desk.decide(before.id, Fate::Written(Box::new(changed.clone())));
        let mut desk = Desk::with(desk.settled());
        desk.begin(Some(1), &[]);
        assert_eq!(desk.execution(&before.id), Ok(Some(&changed)));
        assert_eq!(desk.rewritten().count(), 0, "it is stored");
    }

    #[test]
    fn nothing_is_kept_when_something_went() {
        let execution = execution();
        let mut desk = Desk::with(after(Some(1), &[execution.id.partition()], &execution));
        desk.begin(Some(1), &[]);
        desk.forget(ExecutionId::new(0, uuid::Uuid::nil()));
        assert!(!is_known(desk.settled(), Some(1), &execution));
    }
}
