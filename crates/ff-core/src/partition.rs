//! Partitions: the unit of serialisation. Records that share a partition can change in one atomic step.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::crc16::crc16;
use crate::engine_error::{Code, Refusal};
use crate::schedule::ScheduleRef;
use crate::types::{BudgetId, ExecutionId, FlowId, KeyId, LaneId, Namespace, QuotaPolicyId, WorkerInstanceId};

/// The kind of a partition. Flows and executions share partitions, so that a flow, its members and its edges are in one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PartitionFamily {
    Flow,
    Execution,
    Budget,
    Quota,
}

impl PartitionFamily {
    fn prefix(self) -> &'static str {
        match self {
            Self::Flow | Self::Execution => "fp",
            Self::Budget => "b",
            Self::Quota => "q",
        }
    }
}

/// One partition of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Partition {
    pub family: PartitionFamily,
    pub index: u16,
}

impl Partition {
    pub fn new(family: PartitionFamily, index: u16) -> Self {
        Self { family, index }
    }

    /// Returns the partition that an execution id contains.
    pub fn of(id: &ExecutionId) -> Self {
        Self::new(PartitionFamily::Execution, id.partition())
    }

    /// Returns the hash tag of the partition's keys, with its braces. A Valkey cluster derives the slot of a key from it.
    pub fn hash_tag(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}:{}}}", self.family.prefix(), self.index)
    }
}

/// The number of partitions of each family. It is fixed at a store's first boot, because ids contain their partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PartitionConfig {
    pub num_flow_partitions: u16,
    pub num_budget_partitions: u16,
    pub num_quota_partitions: u16,
}

impl Default for PartitionConfig {
    fn default() -> Self {
        Self { num_flow_partitions: 256, num_budget_partitions: 32, num_quota_partitions: 32 }
    }
}

impl PartitionConfig {
    /// Returns whether an id can exist here. An id whose partition is not below the partition count cannot.
    pub fn holds(&self, id: &ExecutionId) -> bool {
        id.partition() < self.num_flow_partitions
    }
}

impl fmt::Display for PartitionConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { num_flow_partitions: flow, num_budget_partitions: budget, num_quota_partitions: quota } = self;
        write!(f, "{flow} flow, {budget} budget and {quota} quota partitions")
    }
}

/// Returns the partition that an execution id contains. It does not depend on the partition count.
pub fn execution_partition(id: &ExecutionId, _config: &PartitionConfig) -> Partition {
    Partition::of(id)
}

/// Returns the partition of a flow and all its members.
pub fn flow_partition(id: &FlowId, config: &PartitionConfig) -> Partition {
    Partition::new(PartitionFamily::Flow, crc16(id.as_uuid().as_bytes()) % config.num_flow_partitions)
}

/// Returns the home partition of a lane, which decides its configuration and keeps
/// its limit. `lane` is the lane's name in keys.
pub fn lane_partition(lane: &LaneId, config: &PartitionConfig) -> u16 {
    crc16(lane.as_str().as_bytes()) % config.num_flow_partitions
}

/// Returns the home partition of a worker instance.
pub fn worker_partition(instance: &WorkerInstanceId, config: &PartitionConfig) -> u16 {
    crc16(instance.as_str().as_bytes()) % config.num_flow_partitions
}

/// Returns the home partition of an API key, which orders the key's changes.
pub fn key_partition(id: &KeyId, config: &PartitionConfig) -> u16 {
    crc16(id.as_str().as_bytes()) % config.num_flow_partitions
}

/// Returns the partition of a budget.
pub fn budget_partition(id: &BudgetId, config: &PartitionConfig) -> Partition {
    Partition::new(PartitionFamily::Budget, crc16(id.as_uuid().as_bytes()) % config.num_budget_partitions)
}

/// Returns the home partition of a namespace, which decides its quota policies.
pub fn namespace_partition(namespace: &Namespace, config: &PartitionConfig) -> u16 {
    crc16(namespace.as_str().as_bytes()) % config.num_flow_partitions
}

/// Returns the home partition of a schedule.
pub fn schedule_partition(schedule: &ScheduleRef, config: &PartitionConfig) -> u16 {
    crc16(schedule.key().as_bytes()) % config.num_flow_partitions
}

/// Returns the partition that orders the changes of a quota policy, on stores that keep quotas on the partitions of flows.
pub fn quota_home(id: &QuotaPolicyId, config: &PartitionConfig) -> u16 {
    crc16(id.as_uuid().as_bytes()) % config.num_flow_partitions
}

/// Returns the partition of a quota.
pub fn quota_partition(id: &QuotaPolicyId, config: &PartitionConfig) -> Partition {
    Partition::new(PartitionFamily::Quota, crc16(id.as_uuid().as_bytes()) % config.num_quota_partitions)
}

/// Returns the slot of a key in a Valkey cluster. It is derived from the hash tag or, without one, from the whole key.
pub fn cluster_slot(key: &str) -> u16 {
    let tag = key.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map(|(tag, _)| tag);
    crc16(tag.filter(|tag| !tag.is_empty()).unwrap_or(key).as_bytes()) % 16_384
}

/// Refuses an id whose partition this deployment does not have, because nothing can be stored there.
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

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_key_is_in_the_slot_a_cluster_puts_it_in() {
        assert_eq!(cluster_slot("123456789"), 12_739);
        assert_eq!(cluster_slot("ff:exec:{123456789}:core"), 12_739);
        assert_eq!(cluster_slot("foo{}{bar}"), crc16(b"foo{}{bar}") % 16_384);
        assert_eq!(cluster_slot("foo{{bar}}zap"), crc16(b"{bar") % 16_384);
        assert_eq!(cluster_slot("foo{bar"), crc16(b"foo{bar") % 16_384);
    }

    #[test]
    fn flows_and_executions_share_their_tag() {
        assert_eq!(Partition::new(PartitionFamily::Flow, 7).hash_tag(), "{fp:7}");
        assert_eq!(Partition::new(PartitionFamily::Execution, 7).hash_tag(), "{fp:7}");
        assert_eq!(Partition::new(PartitionFamily::Budget, 31).hash_tag(), "{b:31}");
        assert_eq!(Partition::new(PartitionFamily::Quota, 0).hash_tag(), "{q:0}");
    }

    #[test]
    fn an_id_beyond_the_count_does_not_belong_here() {
        let config = PartitionConfig { num_flow_partitions: 4, ..PartitionConfig::default() };
        assert!(config.holds(&ExecutionId::new(3, Uuid::nil())));
        assert!(!config.holds(&ExecutionId::new(4, Uuid::nil())));
    }
}
