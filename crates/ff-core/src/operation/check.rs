//! What of an operation can be judged without looking at any record, and where it writes.

use super::Operation;
use crate::engine_error::{Code, Refusal};
use crate::partition::{PartitionConfig, flow_partition, key_partition, lane_partition, worker_partition};
use crate::types::ExecutionId;

impl Operation {
    /// Refuses what no state of the store could make acceptable.
    pub fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        let here = |id: &ExecutionId| check_id(id, partitions);
        match self {
            Self::Submit(args) => args.check(),
            Self::Claim(args) => check_partition(args.partition, partitions).and(args.check()),
            Self::Renew(args) => here(&args.execution_id).and(args.check()),
            Self::Progress(args) => here(&args.execution_id).and(args.check()),
            Self::Complete(args) => here(&args.execution_id).and(args.check()),
            Self::Fail(args) => here(&args.execution_id).and(args.check()),
            Self::Delay(args) => here(&args.execution_id).and(args.check()),
            Self::Cancel(args) => here(&args.execution_id).and(args.check()),
            Self::Replay(args) => here(&args.execution_id).and(args.check()),
            Self::Revoke(args) => here(&args.execution_id).and(args.check()),
            Self::ChangePriority(args) => here(&args.execution_id),
            Self::SetTags(args) => here(&args.execution_id).and(args.check()),
            Self::Suspend(args) => here(&args.execution_id).and(args.check()),
            Self::CreateWaitpoint(args) => here(&args.execution_id).and(args.check()),
            Self::CloseWaitpoint(args) => here(&args.execution_id).and(args.check()),
            Self::Deliver(args) => here(&args.execution_id).and(args.check()),
            Self::Resume(args) => here(&args.execution_id).and(args.check()),
            Self::Rotate(args) => check_partition(args.partition, partitions).and(args.rotation.check()),
            Self::StageFlow(args) => args.check(),
            Self::CreateFlow(args) => args.header.check(),
            Self::GrowFlow(args) => args.check(),
            Self::CancelFlow(args) => args.check(),
            Self::CloseFlow(_)
            | Self::SetFlowTags(_)
            | Self::Heartbeat(_)
            | Self::Leave(_)
            | Self::SweepWorker(_)
            | Self::RevokeKey(_) => Ok(()),
            Self::WaitForChildren(args) => here(&args.execution_id),
            Self::Cascade(args) => here(&args.execution_id),
            Self::ConfigureLane(args) => args.check(),
            Self::CopyLane(args) => check_partition(args.partition, partitions),
            Self::Allot(args) => check_partition(args.partition, partitions),
            Self::ClaimGranted(args) => check_partition(args.claim.partition, partitions).and(args.claim.check()),
            Self::RecountLane(args) => check_partition(args.partition, partitions),
            Self::SettleLane(args) => args.check(),
            Self::RegisterWorker(args) => args.check(),
            Self::CreateKey(args) => args.check(),
            Self::Follow(args) => check_partition(args.partition, partitions),
            Self::Pump(args) => check_partition(args.partition, partitions),
        }
    }

    /// The partition this operation writes to.
    pub fn partition(&self, partitions: &PartitionConfig) -> u16 {
        match self {
            Self::Submit(args) => args.execution_id(partitions).partition(),
            Self::Claim(args) => args.partition,
            Self::Renew(args) => args.execution_id.partition(),
            Self::Progress(args) => args.execution_id.partition(),
            Self::Complete(args) => args.execution_id.partition(),
            Self::Fail(args) => args.execution_id.partition(),
            Self::Delay(args) => args.execution_id.partition(),
            Self::Cancel(args) => args.execution_id.partition(),
            Self::Replay(args) => args.execution_id.partition(),
            Self::Revoke(args) => args.execution_id.partition(),
            Self::ChangePriority(args) => args.execution_id.partition(),
            Self::SetTags(args) => args.execution_id.partition(),
            Self::Suspend(args) => args.execution_id.partition(),
            Self::CreateWaitpoint(args) => args.execution_id.partition(),
            Self::CloseWaitpoint(args) => args.execution_id.partition(),
            Self::Deliver(args) => args.execution_id.partition(),
            Self::Resume(args) => args.execution_id.partition(),
            Self::Rotate(args) => args.partition,
            Self::StageFlow(args) => flow_partition(&args.header.flow_id, partitions).index,
            Self::CreateFlow(args) => flow_partition(&args.header.flow_id, partitions).index,
            Self::GrowFlow(args) => flow_partition(&args.flow_id, partitions).index,
            Self::CloseFlow(args) => flow_partition(&args.flow_id, partitions).index,
            Self::CancelFlow(args) => flow_partition(&args.flow_id, partitions).index,
            Self::SetFlowTags(args) => flow_partition(&args.flow_id, partitions).index,
            Self::WaitForChildren(args) => args.execution_id.partition(),
            Self::Cascade(args) => args.execution_id.partition(),
            Self::ConfigureLane(args) => lane_partition(&args.lane.within(&args.namespace), partitions),
            Self::CopyLane(args) => args.partition,
            Self::Allot(args) => lane_partition(&args.lane.within(&args.namespace), partitions),
            Self::ClaimGranted(args) => args.claim.partition,
            Self::RecountLane(args) => args.partition,
            Self::SettleLane(args) => lane_partition(&args.lane.within(&args.namespace), partitions),
            Self::RegisterWorker(args) => worker_partition(&args.worker_instance_id, partitions),
            Self::Heartbeat(args) => worker_partition(&args.worker_instance_id, partitions),
            Self::Leave(args) => worker_partition(&args.worker_instance_id, partitions),
            Self::SweepWorker(args) => worker_partition(&args.worker_instance_id, partitions),
            Self::CreateKey(args) => key_partition(&args.key_id, partitions),
            Self::RevokeKey(args) => key_partition(&args.key_id, partitions),
            Self::Follow(args) => args.partition,
            Self::Pump(args) => args.partition,
        }
    }
}

/// Refuses an id that names a partition this deployment does not have: it would be kept where nobody looks.
pub fn check_id(id: &ExecutionId, partitions: &PartitionConfig) -> Result<(), Refusal> {
    if partitions.holds(id) {
        return Ok(());
    }
    let (count, sent) = (partitions.num_flow_partitions, id.partition());
    Err(Refusal::new(Code::InvalidExecutionId)
        .at("execution_id")
        .because(format!("names partition {sent}; this deployment has {count}")))
}

/// Refuses a partition this deployment does not have.
pub(crate) fn check_partition(partition: u16, partitions: &PartitionConfig) -> Result<(), Refusal> {
    if partition < partitions.num_flow_partitions {
        return Ok(());
    }
    let count = partitions.num_flow_partitions;
    Err(Refusal::invalid("partition", format!("must be below {count}, got {partition}")))
}
