//! Ends that dependents have not all been told of. They follow from the records; a store may keep a list of them besides.

use ff_core::execution::{Execution, Outcome, Phase};
use ff_core::flow::Owed;
use ff_core::types::{ExecutionId, FlowId, TimestampMs};

/// The end of a member, owed to its dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Debt {
    /// Whose end.
    pub execution_id: ExecutionId,
    /// The flow it is in.
    pub flow_id: FlowId,
    /// How it ended.
    pub outcome: Outcome,
    /// Since when it is owed.
    pub since: TimestampMs,
}

/// How a transaction changes what is owed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Debts {
    /// What is owed from now on.
    pub incurred: Vec<Debt>,
    /// Whose end is owed no longer: everybody knows, or it runs again.
    pub paid: Vec<ExecutionId>,
}

impl Debts {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.incurred.is_empty() && self.paid.is_empty()
    }
}

/// What changes when executions, as stored, become what they are to be.
pub(crate) fn debts<'e>(changes: impl Iterator<Item = (Option<&'e Execution>, &'e Execution)>) -> Debts {
    let mut debts = Debts::default();
    for (before, after) in changes {
        let (was, is) = (before.and_then(owed_end), owed_end(after));
        if was != is {
            debts.paid.extend(was.map(|debt| debt.execution_id));
            debts.incurred.extend(is);
        }
    }
    debts
}

fn owed_end(execution: &Execution) -> Option<Debt> {
    let membership = execution.membership.as_ref()?;
    let owes = membership.owes.filter(|owes| owes.what == Owed::End)?;
    match execution.phase {
        Phase::Finished { outcome, .. } => {
            Some(Debt { execution_id: execution.id, flow_id: membership.flow_id, outcome, since: owes.since })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::{CancelArgs, EdgeSpec, FlowHeader, NodeSpec, PumpArgs, ReplayArgs, SubmitFlowArgs};
    use ff_core::dice::{Dice, SeededDice};
    use ff_core::limits;
    use ff_core::model::Model;
    use ff_core::operation::{Ask, Conditions};
    use ff_core::partition::PartitionConfig;
    use ff_core::payload::Payload;
    use ff_core::types::{Kind, NodeName};

    use super::*;

    fn at(ms: i64) -> Conditions {
        let partitions = PartitionConfig { num_flow_partitions: 1, ..PartitionConfig::default() };
        Conditions { partitions, nonce: SeededDice::new(1).nonce(), now: TimestampMs(ms) }
    }

    /// A member that more depend on than one step tells, and the model it is in.
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

    /// Pays whatever is owed.
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
    fn an_end_is_owed_until_everybody_knows() {
        let (mut model, root) = wide();
        let before = stand(&model, &root);
        cancel(&mut model, root);
        let owing = stand(&model, &root);
        let flow_id = owing.membership.as_ref().unwrap().flow_id;
        let debt = Debt { execution_id: root, flow_id, outcome: Outcome::Cancelled, since: TimestampMs(10) };
        let incurred = Debts { incurred: vec![debt], paid: vec![] };
        assert_eq!(debts([(Some(&before), &owing)].into_iter()), incurred);
        assert!(debts([(Some(&owing), &owing)].into_iter()).is_empty());

        pump(&mut model);
        let paid = Debts { incurred: vec![], paid: vec![root] };
        assert_eq!(debts([(Some(&owing), &stand(&model, &root))].into_iter()), paid);
    }

    #[test]
    fn what_runs_again_owes_no_end() {
        let (mut model, root) = wide();
        cancel(&mut model, root);
        let owing = stand(&model, &root);
        let replay = ReplayArgs::new(root);
        model.execute(&replay.into_operation(), &at(11)).unwrap();
        let paid = Debts { incurred: vec![], paid: vec![root] };
        assert_eq!(debts([(Some(&owing), &stand(&model, &root))].into_iter()), paid);
    }
}
