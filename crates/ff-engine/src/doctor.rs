//! The doctor's round: every partition of a live store, one after the other.

use ff_core::backend::{Answer, Upkeep};
use ff_core::doctor::{self, Finding};

/// What a round found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examined {
    pub partitions: u16,
    pub executions: usize,
    /// Everything that should not be so; nothing, most of the time.
    pub findings: Vec<Finding>,
}

/// Checks the invariants on every partition, telling of each as it is through.
pub async fn examine(store: &dyn Upkeep, mut on_partition: impl FnMut(u16, &[Finding])) -> Answer<Examined> {
    let mut examined = Examined::default();
    for partition in 0..store.partitions().num_flow_partitions {
        let snapshot = store.snapshot(partition).await?;
        // Read after the snapshot: nothing in it can have happened later.
        let now = store.now().await?;
        let findings = doctor::examine(&snapshot, partition, now);
        on_partition(partition, &findings);
        examined.partitions += 1;
        examined.executions += snapshot.executions.len();
        examined.findings.extend(findings);
    }
    Ok(examined)
}
