//! The keys of calls about edges. What a caller does not know stands as the placeholder: the functions go by the record.

use ff_core::keys::{ExecKeyContext, FlowIndexKeys, FlowKeyContext, IndexKeys};
use ff_core::partition::Partition;
use ff_core::types::{AttemptIndex, EdgeId, ExecutionId, FlowId, LaneId};

/// What the keys of an edge that is settled are made from.
#[derive(Clone, Debug)]
pub struct ResolveDependencyOpKeys {
    pub child: ExecKeyContext,
    pub upstream: ExecKeyContext,
    pub flow: FlowKeyContext,
    pub index: IndexKeys,
    pub flows: FlowIndexKeys,
    pub edge_id: EdgeId,
    pub downstream_execution_id: ExecutionId,
    /// The child's, as indexes name it.
    pub lane_id: LaneId,
    /// The child's current one.
    pub attempt_index: AttemptIndex,
}

impl ResolveDependencyOpKeys {
    /// The keys of an edge between two members of a flow.
    pub fn new(
        flow_id: &FlowId,
        edge_id: &EdgeId,
        upstream: &ExecutionId,
        downstream: &ExecutionId,
        lane_id: &LaneId,
        attempt_index: AttemptIndex,
    ) -> Self {
        let partition = Partition::of(downstream);
        Self {
            child: ExecKeyContext::new(&partition, downstream),
            upstream: ExecKeyContext::new(&partition, upstream),
            flow: FlowKeyContext::new(&partition, flow_id),
            index: IndexKeys::new(&partition),
            flows: FlowIndexKeys::new(&partition),
            edge_id: *edge_id,
            downstream_execution_id: *downstream,
            lane_id: lane_id.clone(),
            attempt_index,
        }
    }
}
