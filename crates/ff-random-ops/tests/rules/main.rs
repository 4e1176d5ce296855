//! The rules under random operations, and in every state that a few operations reach.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod exhaustive;
mod joins;
mod random;

use ff_core::contracts::ClaimArgs;
use ff_core::lease::Holder;
use ff_core::types::{LaneId, Namespace, WorkerId, WorkerInstanceId};

/// Returns a claim of any execution on the default lane.
fn claim(partition: u16, max: usize) -> ClaimArgs {
    ClaimArgs {
        partition,
        namespace: Namespace::default_name(),
        lane: LaneId::default_name(),
        kinds: vec![],
        capabilities: Default::default(),
        assigned: false,
        max,
        holder: holder(0),
        lease_ttl_ms: 3_000,
    }
}

fn holder(worker: usize) -> Holder {
    Holder {
        worker_id: WorkerId::parse("worker").unwrap(),
        worker_instance_id: WorkerInstanceId::parse(&format!("worker-{worker}")).unwrap(),
    }
}
