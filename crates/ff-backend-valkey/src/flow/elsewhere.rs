//! Members of other flows: a function sees the partition of its own flow only, and takes whatever lives elsewhere for a
//! stranger. Whoever was refused for one is told which flow it is in.

use ff_core::backend::ExecutionRoom;
use ff_core::contracts::{GrowFlowArgs, MemberRef};
use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::flow::member_id;
use ff_core::types::{ExecutionId, FlowId};

use crate::ValkeyBackend;

impl ValkeyBackend {
    /// Why a flow does not grow, told more exactly where what was named is in another flow.
    pub(super) async fn why_not_grown(&self, asked: &GrowFlowArgs, error: EngineError) -> EngineError {
        let EngineError::Refused(refusal) = &error else { return error };
        if refusal.code != Code::ExecutionNotInFlow {
            return error;
        }
        let new: Vec<_> =
            asked.nodes.iter().map(|node| member_id(&asked.flow_id, &node.name, &self.partitions)).collect();
        for id in self.named_at(asked, refusal.field.as_deref().unwrap_or_default()) {
            match self.flow_of(&id).await {
                Ok(Some(flow)) if flow == asked.flow_id => {}
                Ok(Some(flow)) => return in_another_flow(refusal, &flow).into(),
                Ok(None) if new.contains(&id) => {}
                Ok(None) => return error,
                Err(error) => return error,
            }
        }
        error
    }

    /// The executions that are named where a refusal points at, in the order they are judged.
    fn named_at(&self, asked: &GrowFlowArgs, field: &str) -> Vec<ExecutionId> {
        let resolve = |named: &MemberRef| match named {
            MemberRef::Node(name) => member_id(&asked.flow_id, name, &self.partitions),
            MemberRef::Execution(id) => *id,
        };
        if field == "holder" {
            return asked.holder.iter().map(|(id, _)| *id).collect();
        }
        let joins = asked.joins.iter().filter(|spec| field == format!("joins.{}", spec.member));
        let joins = joins.map(|spec| resolve(&spec.member));
        let edges = asked.edges.iter().filter(|edge| field == format!("edges.{}->{}", edge.upstream, edge.downstream));
        joins.chain(edges.flat_map(|edge| [resolve(&edge.upstream), resolve(&edge.downstream)])).collect()
    }

    /// The flow an execution is in, if there is such an execution, or such a partition, and it is in one.
    async fn flow_of(&self, id: &ExecutionId) -> Result<Option<FlowId>, EngineError> {
        match self.describe(id).await {
            Ok(info) => Ok(info.flow_id),
            Err(error) if matches!(error.code(), Code::ExecutionNotFound | Code::InvalidExecutionId) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn in_another_flow(refusal: &Refusal, flow: &FlowId) -> Refusal {
    let exact = Code::AlreadyMemberOfDifferentFlow.refusal().at(refusal.field.clone().unwrap_or_default());
    exact.because(format!("names a member of the flow {flow}"))
}
