//! The conditions under which tests perform operations on the model.

use ff_core::backend::entropy::{Entropy, SeededEntropy};
use ff_core::operation::Conditions;
use ff_core::partition::PartitionConfig;
use ff_core::types::TimestampMs;

/// Returns the conditions of an operation at a time, in a store with one partition.
pub(crate) fn at(ms: i64) -> Conditions {
    let partitions = PartitionConfig { num_flow_partitions: 1, ..PartitionConfig::default() };
    Conditions { partitions, nonce: SeededEntropy::new(1).nonce(), now: TimestampMs(ms) }
}
