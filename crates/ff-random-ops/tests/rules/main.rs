//! The rules under random operations, and in every state that a few operations reach.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod exhaustive;
mod joins;
mod random;

use ff_core::contracts::ClaimArgs;
use ff_core::lease::Holder;
use ff_core::partition::PartitionConfig;

/// One partition, so that every operation is local.
const PARTITIONS: PartitionConfig =
    PartitionConfig { num_flow_partitions: 1, num_budget_partitions: 1, num_quota_partitions: 1 };

/// Returns a claim of any execution on the default lane.
fn claim(partition: u16, max: usize) -> ClaimArgs {
    ClaimArgs { max, lease_ttl_ms: 3_000, ..ClaimArgs::new(partition, holder(0)) }
}

fn holder(worker: usize) -> Holder {
    Holder::parse("worker", &format!("worker-{worker}")).unwrap()
}
