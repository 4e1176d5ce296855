//! Ends that have not been propagated to all dependents. They follow from the records; a store may also list them in a table.

use ff_core::execution::{Execution, Outcome, Phase};
use ff_core::flow::Propagation;
use ff_core::types::{ExecutionId, FlowId, TimestampMs};

/// The end of a member that has not been propagated to all dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingEnd {
    /// The execution that ended.
    pub execution_id: ExecutionId,
    /// Its flow.
    pub flow_id: FlowId,
    /// Its outcome.
    pub outcome: Outcome,
    /// When the end became pending.
    pub since: TimestampMs,
}

/// The changes of a transaction to the outbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutboxChanges {
    /// Ends that become pending.
    pub incurred: Vec<PendingEnd>,
    /// Executions whose end is no longer pending: all dependents are notified, or the execution runs again.
    pub paid: Vec<ExecutionId>,
}

impl OutboxChanges {
    /// Returns whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.incurred.is_empty() && self.paid.is_empty()
    }
}

/// Returns the changes of the outbox for changed executions, each given as stored and as changed.
pub(crate) fn outbox_changes<'e>(
    changes: impl Iterator<Item = (Option<&'e Execution>, &'e Execution)>,
) -> OutboxChanges {
    let mut outbox_changes = OutboxChanges::default();
    for (before, after) in changes {
        let (was, is) = (before.and_then(pending_end_of), pending_end_of(after));
        if was != is {
            outbox_changes.paid.extend(was.map(|pending_end| pending_end.execution_id));
            outbox_changes.incurred.extend(is);
        }
    }
    outbox_changes
}

fn pending_end_of(execution: &Execution) -> Option<PendingEnd> {
    let membership = execution.membership.as_ref()?;
    let propagation = membership.pending_propagation.filter(|propagation| propagation.what == Propagation::End)?;
    match execution.phase {
        Phase::Finished { outcome, .. } => Some(PendingEnd {
            execution_id: execution.id,
            flow_id: membership.flow_id,
            outcome,
            since: propagation.since,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::{CancelArgs, EdgeSpec, FlowHeader, NodeSpec, PumpArgs, ReplayArgs, SubmitFlowArgs};
    use ff_core::limits;
    use ff_core::model::Model;
    use ff_core::operation::Ask;
    use ff_core::payload::Payload;
    use ff_core::types::{Kind, NodeName};

    use super::*;
    use crate::test_conditions::at;

    /// Returns a member with more dependents than one step notifies, and its model.
    fn wide() -> (Model, ExecutionId) {
        let name = |n| NodeName::parse(&format!("n{n}")).unwrap();
        let node = |n| NodeSpec::new(name(n), Kind::parse("k").unwrap(), Payload::default());
        let edge = |n| EdgeSpec { upstream: name(0), downstream: name(n), passes: None };
        let width = limits::FLOW_STEP + 1;
        let args = SubmitFlowArgs {
            header: FlowHeader::new(Kind::parse("k").unwrap()),
            nodes: (0..=width).map(node).collect(),
            edges: (1..=width).map(edge).collect(),
        };
        let mut model = Model::default();
        for part in args.plan().unwrap() {
            model.execute(&part.into_operation(), &at(1)).unwrap();
        }
        pump(&mut model);
        let root =
            model.executions().find(|execution| execution.membership.as_ref().unwrap().position == 0).unwrap().id;
        (model, root)
    }

    /// Pumps until nothing is pending.
    fn pump(model: &mut Model) {
        for _ in 0..3 {
            model.execute(&PumpArgs { partition: 0 }.into_operation(), &at(10)).unwrap();
        }
    }

    fn stand(model: &Model, id: &ExecutionId) -> Execution {
        model.executions().find(|execution| execution.id == *id).unwrap().clone()
    }

    fn cancel(model: &mut Model, execution_id: ExecutionId) {
        let cancel = CancelArgs { execution_id, reason: None, requested_by: None };
        model.execute(&cancel.into_operation(), &at(10)).unwrap();
    }

    #[test]
    fn an_end_stays_pending_until_all_dependents_are_notified() {
        let (mut model, root) = wide();
        let before = stand(&model, &root);
        cancel(&mut model, root);
        let pending = stand(&model, &root);
        let flow_id = pending.membership.as_ref().unwrap().flow_id;
        let pending_end =
            PendingEnd { execution_id: root, flow_id, outcome: Outcome::Cancelled, since: TimestampMs(10) };
        let incurred = OutboxChanges { incurred: vec![pending_end], paid: vec![] };
        assert_eq!(outbox_changes([(Some(&before), &pending)].into_iter()), incurred);
        assert!(outbox_changes([(Some(&pending), &pending)].into_iter()).is_empty());

        pump(&mut model);
        let paid = OutboxChanges { incurred: vec![], paid: vec![root] };
        assert_eq!(outbox_changes([(Some(&pending), &stand(&model, &root))].into_iter()), paid);
    }

    #[test]
    fn a_replayed_execution_has_no_pending_end() {
        let (mut model, root) = wide();
        cancel(&mut model, root);
        let pending = stand(&model, &root);
        let replay = ReplayArgs::new(root);
        model.execute(&replay.into_operation(), &at(11)).unwrap();
        let paid = OutboxChanges { incurred: vec![], paid: vec![root] };
        assert_eq!(outbox_changes([(Some(&pending), &stand(&model, &root))].into_iter()), paid);
    }
}
