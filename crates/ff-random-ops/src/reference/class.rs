//! Registration of requirement classes that a partition does not know yet.

use std::collections::BTreeSet;

use super::Reference;
use crate::prelude::*;

impl Reference {
    /// Decides and applies one operation. If the partition does not know a requirement class of new work, registers the
    /// classes and repeats the operation.
    pub(super) fn execute_work(
        &mut self,
        operation: &Operation,
        nonce: Nonce,
    ) -> Result<(Reply, Vec<ClaimedExecution>), Refusal> {
        let partition = operation.partition(&self.partitions);
        let answer = self.execute(operation, nonce);
        if !answer.as_ref().is_err_and(is_unknown_class) {
            return answer;
        }
        for (namespace, lane, class) in self.work_of(operation) {
            let lane = self.ask(RegisterClassesArgs { namespace, lane, classes: [class].into() }, nonce)?;
            self.ask(CopyLaneArgs { partition, lane }, nonce)?;
        }
        self.execute(operation, nonce)
    }

    /// Returns the lanes and requirement classes of an operation's new work, without duplicates.
    fn work_of(&self, operation: &Operation) -> BTreeSet<(Namespace, LaneId, RequirementClass)> {
        let nodes = |namespace: &Namespace, nodes: &[NodeSpec]| {
            let each = nodes.iter().map(|node| (namespace.clone(), node.lane.clone(), node.policy.class()));
            each.filter(|(.., class)| !class.is_plain()).collect()
        };
        match operation {
            Operation::Submit(args) => [(args.namespace.clone(), args.lane.clone(), args.policy.class())].into(),
            Operation::StageFlow(args) => nodes(&args.header.namespace, &args.nodes),
            Operation::GrowFlow(args) => match self.model.flow(&args.flow_id) {
                Ok(Some(flow)) => nodes(&flow.namespace, &args.nodes),
                _ => BTreeSet::new(),
            },
            _ => BTreeSet::new(),
        }
    }
}
