//! Check that the answers of all clients fit one order of events.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::backend::EngineStore;
use ff_core::contracts::FailedAttempt;
use ff_core::doctor;
use ff_core::execution::AttemptOutcome;
use ff_core::lease::Fence;
use ff_core::types::{ExecutionId, LeaseEpoch};

use super::ledger::{Entry, Ledger, LedgerAction};
use super::suspensions;

/// Panics if the ledger contradicts itself or the store.
pub async fn check(store: &dyn EngineStore, ledger: &Ledger) {
    let histories = ledger.by_execution();
    assert!(!histories.is_empty(), "nothing happened");
    let mut leases = BTreeSet::new();
    for (id, history) in &histories {
        let claims = claims_by_epoch(id, history);
        assert!(claims.values().all(|claim| leases.insert(claim.fence.lease_id)), "{id}: a lease id was used before");
        check_single_creation(id, history);
        epochs_rise(id, &claims);
        check_one_end_per_lease(id, history);
        nothing_from_a_stale_fence(id, history, &claims);
        suspensions::check_one_end_per_suspension(id, history);
        suspensions::check_one_signal_per_key(id, history);
        check_store(store, id, history, &claims).await;
        suspensions::check_store(store, id, history).await;
    }
    let now = store.now().await.unwrap();
    for partition in 0..store.partitions().num_flow_partitions {
        let snapshot = store.snapshot(partition).await.unwrap();
        let findings: Vec<_> = doctor::examine(&snapshot, partition, now).iter().map(ToString::to_string).collect();
        assert!(findings.is_empty(), "partition {partition}:\n{}", findings.join("\n"));
    }
}

#[derive(Clone, Copy)]
struct Claim {
    fence: Fence,
    began: u64,
    ended: u64,
}

fn claims_by_epoch(id: &ExecutionId, history: &[Entry]) -> BTreeMap<LeaseEpoch, Claim> {
    let mut claims = BTreeMap::new();
    for entry in history {
        if let LedgerAction::Claimed(fence) = entry.what {
            let claim = Claim { fence, began: entry.began, ended: entry.ended };
            let before = claims.insert(fence.lease_epoch, claim);
            assert!(before.is_none(), "{id}: two claims have epoch {}", fence.lease_epoch);
        }
    }
    claims
}

fn check_single_creation(id: &ExecutionId, history: &[Entry]) {
    let created = history.iter().filter(|entry| entry.what == LedgerAction::Submitted { duplicate: false }).count();
    assert_eq!(created, 1, "{id} was created {created} times");
}

/// Checks that epochs rise by one, in an order that fits the times of the claims.
fn epochs_rise(id: &ExecutionId, claims: &BTreeMap<LeaseEpoch, Claim>) {
    assert!(claims.keys().zip(1..).all(|(epoch, nth)| epoch.0 == nth), "{id}: {:?}", claims.keys());
    let in_order: Vec<_> = claims.values().collect();
    for pair in in_order.windows(2) {
        assert!(pair[0].began < pair[1].ended, "{id}: epoch {} came late", pair[0].fence.lease_epoch);
    }
}

/// Checks that a lease ends in one way, and that a repeated call gets the same answer.
fn check_one_end_per_lease(id: &ExecutionId, history: &[Entry]) {
    let mut ends: BTreeMap<LeaseEpoch, &LedgerAction> = BTreeMap::new();
    for entry in history.iter().filter(|entry| entry.what.ends_lease()) {
        let fence = entry.what.fence().unwrap();
        let first: &LedgerAction = ends.entry(fence.lease_epoch).or_insert(&entry.what);
        let same = match (first, &entry.what) {
            (LedgerAction::Completed(..), LedgerAction::Completed(..)) => true,
            (first, other) => first == other,
        };
        assert!(same, "{id}: one lease ended as {first:?} and as {:?}", entry.what);
    }
}

/// Checks that the store accepted no call that began after its fence was certainly invalid.
fn nothing_from_a_stale_fence(id: &ExecutionId, history: &[Entry], claims: &BTreeMap<LeaseEpoch, Claim>) {
    for entry in history {
        let Some(fence) = entry.what.fence() else { continue };
        let later = claims.range(fence.lease_epoch.next()..).find(|(_, claim)| claim.ended < entry.began);
        assert!(later.is_none(), "{id}: {entry:?} came after a claim of {:?}", later.map(|(epoch, _)| epoch));
        if entry.what.ends_lease() || matches!(entry.what, LedgerAction::Claimed(_)) {
            continue;
        }
        let claimed = claims[&fence.lease_epoch];
        let over = |other: &&Entry| match &other.what {
            LedgerAction::Cancelled { already: false } => claimed.ended < other.began,
            LedgerAction::Revoked { epoch, .. } => *epoch == fence.lease_epoch,
            what => what.ends_lease() && what.fence() == Some(fence),
        };
        let end = history.iter().filter(over).find(|end| end.ended < entry.began);
        assert!(end.is_none(), "{id}: {entry:?} came after {end:?}");
    }
}

/// Checks that the store agrees with the clients' answers: as many ends as replays allow, every attempt, and one of the
/// results sent.
async fn check_store(
    store: &dyn EngineStore,
    id: &ExecutionId,
    history: &[Entry],
    claims: &BTreeMap<LeaseEpoch, Claim>,
) {
    let info = store.describe(id).await.unwrap();
    let count = |what: &dyn Fn(&LedgerAction) -> bool| history.iter().filter(|entry| what(&entry.what)).count();
    let fences = |what: &dyn Fn(&LedgerAction) -> bool| -> BTreeSet<_> {
        let of = history.iter().filter(|entry| what(&entry.what));
        of.filter_map(|entry| Some(entry.what.fence()?.lease_epoch)).collect()
    };
    let completed = fences(&|what| matches!(what, LedgerAction::Completed(..)));
    let failed = fences(&|what| matches!(what, LedgerAction::Failed(_, FailedAttempt::Failed)));
    let cancelled = count(&|what| *what == LedgerAction::Cancelled { already: false });
    let (ends, replays) = (completed.len() + failed.len() + cancelled, count(&|what| *what == LedgerAction::Replayed));
    assert_eq!(ends, replays + usize::from(info.public_state.is_terminal()), "{id} is {}", info.public_state);
    assert_eq!(info.replays as usize, replays, "{id}");

    let attempts = store.attempts(id).await.unwrap().attempts;
    let tried: BTreeSet<_> = claims.values().map(|claim| claim.fence.attempt_id).collect();
    assert_eq!(attempts.iter().map(|attempt| attempt.id).collect::<BTreeSet<_>>(), tried, "{id}");
    let succeeded = |attempt: &&ff_core::execution::Attempt| {
        attempt.end.as_ref().is_some_and(|end| end.outcome == AttemptOutcome::Success)
    };
    let won: BTreeSet<_> = attempts.iter().filter(succeeded).map(|attempt| attempt.lease_epoch).collect();
    assert_eq!(won, completed, "{id}: attempts that succeeded, and completions that were accepted");

    if let Some(result) = store.result(id).await.ok().and_then(|ended| ended.result) {
        let last = completed.last().copied();
        let sent = count(&|what| match what {
            LedgerAction::Completed(fence, mark) => Some(fence.lease_epoch) == last && result.bytes == mark.to_string(),
            _ => false,
        });
        assert_eq!(sent, 1, "{id}: the result is one that its last finisher sent");
    }
}
