//! Finds the partition of an execution and its keys.

use ff_core::keys::{ExecKeyContext, IndexKeys};
use ff_core::partition::{Partition, PartitionConfig, PartitionFamily, execution_partition};
use ff_core::types::ExecutionId;

/// Finds partitions and their keys for one deployment's partition counts.
///
/// ```
/// use ff_core::partition::PartitionConfig;
/// use ff_engine::PartitionRouter;
///
/// let router = PartitionRouter::new(PartitionConfig::default());
/// let id = "{fp:7}:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c".parse()?;
/// assert_eq!(router.partition_for(&id).hash_tag(), "{fp:7}");
/// assert_eq!(router.index_keys(7).lease_expiry(), "ff:idx:{fp:7}:lease_expiry");
/// assert_eq!(router.num_flow_partitions(), 256);
/// # Ok::<(), ff_core::types::ExecutionIdError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PartitionRouter {
    config: PartitionConfig,
}

impl PartitionRouter {
    /// Creates a router with these counts.
    pub fn new(config: PartitionConfig) -> Self {
        Self { config }
    }

    /// Returns the partition of an execution.
    pub fn partition_for(&self, id: &ExecutionId) -> Partition {
        execution_partition(id, &self.config)
    }

    /// Returns the keys of one execution.
    pub fn exec_keys(&self, id: &ExecutionId) -> ExecKeyContext {
        ExecKeyContext::new(&self.partition_for(id), id)
    }

    /// Returns the index keys of one partition.
    pub fn index_keys(&self, partition: u16) -> IndexKeys {
        IndexKeys::new(&Partition::new(PartitionFamily::Execution, partition))
    }

    /// Returns the partition counts.
    pub fn config(&self) -> &PartitionConfig {
        &self.config
    }

    /// Returns the number of partitions that flows and executions share.
    pub fn num_flow_partitions(&self) -> u16 {
        self.config.num_flow_partitions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn the_keys_of_an_execution_carry_its_partition() {
        let config = PartitionConfig { num_flow_partitions: 16, ..PartitionConfig::default() };
        let router = PartitionRouter::new(config);
        let id = ExecutionId::new(9, Uuid::from_u128(1));
        assert_eq!(router.exec_keys(&id).hash_tag(), "{fp:9}");
        assert_eq!(router.exec_keys(&id).execution_id_str(), id.to_string());
        assert_eq!(router.index_keys(9).hash_tag(), router.partition_for(&id).hash_tag());
        assert_eq!((*router.config(), router.num_flow_partitions()), (config, 16));
    }
}
