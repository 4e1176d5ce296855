//! The doctor: checks every partition of a live store, one after the other.

use ff_core::backend::{Answer, EngineStore};
use ff_core::doctor::{self, Finding};

/// The findings of one check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examination {
    pub partitions: u16,
    pub executions: usize,
    /// Broken invariants; normally empty.
    pub findings: Vec<Finding>,
}

/// Checks the invariants on every partition, and calls `on_partition` after each.
pub async fn examine(store: &dyn EngineStore, mut on_partition: impl FnMut(u16, &[Finding])) -> Answer<Examination> {
    let mut examined = Examination::default();
    for partition in 0..store.partitions().num_flow_partitions {
        let one = examine_partition(store, partition).await?;
        on_partition(partition, &one.findings);
        examined.partitions += one.partitions;
        examined.executions += one.executions;
        examined.findings.extend(one.findings);
    }
    Ok(examined)
}

/// Checks the invariants on one partition.
pub async fn examine_partition(store: &dyn EngineStore, partition: u16) -> Answer<Examination> {
    let snapshot = store.snapshot(partition).await?;
    // Read after the snapshot, so that no time in the snapshot is later.
    let now = store.now().await?;
    let findings = doctor::examine(&snapshot, partition, now);
    Ok(Examination { partitions: 1, executions: snapshot.executions.len(), findings })
}
