//! The doctor: checks every partition of a live store, one after the other.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::backend::snapshot::Snapshot;
use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::{QuotaSlotsArgs, ReadBudgetLedger};
use ff_core::doctor::{self, Finding};
use ff_core::execution::Phase;
use ff_core::limits;
use ff_core::partition::quota_home;
use ff_core::types::{ExecutionId, LeaseEpoch, QuotaPolicyId};

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
    let mut findings = doctor::examine(&snapshot, partition, now);
    findings.extend(unreserved(store, &snapshot).await?);
    findings.extend(unaccounted(store, partition).await?);
    Ok(Examination { partitions: 1, executions: snapshot.executions.len(), findings })
}

/// Checks I13: reports account for the spending of every budget, and its reservations belong to executions. A budget is checked
/// with the partition of its home.
async fn unaccounted(store: &dyn EngineStore, partition: u16) -> Answer<Vec<Finding>> {
    let (mut findings, partitions) = (Vec::new(), store.partitions());
    for budget in store.all_quotas().await?.into_iter().flat_map(|set| set.budgets.into_values()) {
        if quota_home(&budget.id.policy_id(), &partitions) != partition {
            continue;
        }
        let read = ReadBudgetLedger { budget_id: budget.id, with_draws: true };
        let mut faults = store.budget_ledger(read).await?.faults();
        // Reports may arrive between the reads; a real mismatch persists.
        for _ in 0..LOOKS {
            if faults.is_empty() {
                break;
            }
            faults = store.budget_ledger(read).await?.faults();
        }
        let about = format!("budget {} of {}", budget.name, budget.namespace);
        let finding = |what| Finding { invariant: "I13", about: about.clone(), what };
        findings.extend(faults.into_iter().map(finding));
    }
    Ok(findings)
}

/// Maximum number of times an inconsistent ledger is read again.
const LOOKS: usize = 5;

/// Checks I14: the home of a quota policy holds every slot that a lease has.
async fn unreserved(store: &dyn EngineStore, snapshot: &Snapshot) -> Answer<Vec<Finding>> {
    let mut needed = BTreeMap::<QuotaPolicyId, Vec<(&str, ExecutionId, LeaseEpoch)>>::new();
    for (id, execution) in &snapshot.executions {
        let Phase::Running { lease } = &execution.phase else { continue };
        for slot in &lease.slots {
            needed.entry(slot.policy_id).or_default().push((&slot.key, *id, lease.fence.lease_epoch));
        }
    }
    let mut findings = Vec::new();
    for (policy_id, needed) in needed {
        let held = held_slots(store, policy_id).await?;
        for (key, id, epoch) in needed {
            if held.contains(&(key.to_owned(), id, epoch)) {
                continue;
            }
            // The lease may have ended since the snapshot was taken.
            let lease = store.describe(&id).await.ok().and_then(|info| info.lease);
            if lease.is_some_and(|lease| lease.lease_epoch == epoch) {
                let what = format!("runs without a slot of the quota {policy_id}");
                findings.push(Finding { invariant: "I14", about: id.to_string(), what });
            }
        }
    }
    Ok(findings)
}

async fn held_slots(
    store: &dyn EngineStore,
    policy_id: QuotaPolicyId,
) -> Answer<BTreeSet<(String, ExecutionId, LeaseEpoch)>> {
    let (mut held, mut after) = (BTreeSet::new(), None);
    loop {
        let page = store.quota_slots(QuotaSlotsArgs { policy_id, after, limit: limits::PAGE }).await?;
        held.extend(page.slots.into_iter().map(|slot| (slot.key, slot.execution_id, slot.epoch)));
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(held),
        }
    }
}
