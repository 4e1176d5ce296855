//! Invariants of every state that a run reaches.

use std::collections::HashSet;

use super::Verdict;
use super::stream::keeps_its_bounds;
use crate::prelude::*;

/// Checks that a partition is valid. The doctor checks the stored records (I1 to I4, I7, I8, I17, I18). The remaining
/// checks query the model.
pub fn healthy(model: &Model, partition: u16, now: TimestampMs) -> Verdict {
    let snapshot = model.snapshot(partition);
    if let Some(finding) = doctor::examine(&snapshot, partition, now).first() {
        return Err(finding.to_string());
    }
    check_due_times(model, &snapshot, partition)?;
    for (id, execution) in &snapshot.executions {
        if let Some(class) = execution.queue_class() {
            can_be_claimed(model, execution, &class)?;
        }
        let archived = snapshot.attempts.get(id).map_or(&[][..], Vec::as_slice);
        lives_within_policy(execution, archived)?;
    }
    for ((id, attempt), (stream, _)) in &snapshot.streams {
        if !keeps_its_bounds(stream) {
            return Err(format!("I15: stream {attempt} of {id} keeps {}..{}", stream.first, stream.next));
        }
    }
    no_lease_twice(&snapshot)
}

/// I9: the query for due executions finds every execution that has a timer, with the time of its timer. Delayed and
/// running executions always have a timer.
fn check_due_times(model: &Model, snapshot: &Snapshot, partition: u16) -> Verdict {
    let mut expected: Vec<_> =
        snapshot.executions.values().filter_map(|e| e.next_due().map(|(at, _)| (at, e.id))).collect();
    expected.sort_unstable();
    let known = model.due(&DueQuery { partition, limit: usize::MAX }).unwrap_or_default();
    let of_flows = snapshot.flows.values().filter_map(|flow| flow.next_due());
    let first = expected.iter().map(|(at, _)| *at).chain(of_flows).min();
    if known != expected || model.next_due(partition) != first {
        return Err(format!("I9: due are {expected:?}, known are {known:?}"));
    }
    let stuck = |e: &&Execution| matches!(e.phase, Phase::Delayed { .. } | Phase::Running { .. });
    match snapshot.executions.values().filter(stuck).find(|e| e.next_due().is_none()) {
        Some(stuck) => Err(format!("I9: nothing will ever move {stuck:?}")),
        None => Ok(()),
    }
}

/// I9: a query for its kind finds a claimable execution. Without a fair key, a query for any kind finds it as well.
/// With a fair key, the turn queue of its kind and that of all kinds contain the key. A sweep of its partition reports
/// its lane and kind as ready, unless the lane is configured.
fn can_be_claimed(model: &Model, execution: &Execution, class: &RequirementClass) -> Verdict {
    let (partition, lane) = (execution.id.partition(), execution.lane_key());
    let key = execution.queue_key();
    let kinds = [vec![execution.kind.clone()], vec![]].into_iter().take(if key.is_empty() { 2 } else { 1 });
    for kinds in kinds {
        let (lane, classes, key) = (lane.clone(), vec![class.clone()], key.clone());
        let query = EligibleQuery { partition, lane, kinds, classes, key, ageing_ms: None, limit: usize::MAX };
        if !model.eligible(&query).is_ok_and(|found| found.contains(&execution.id)) {
            return Err(format!("I9: {query:?} does not find {}", execution.id));
        }
    }
    for kind in [None, Some(execution.kind.clone())].into_iter().filter(|_| !key.is_empty()) {
        let queue = TurnQueue::Of(kind, execution.class());
        let query = TurnsQuery { partition, lane: lane.clone(), queue, limit: usize::MAX };
        if !model.turns(&query).is_ok_and(|found| found.iter().any(|(_, one)| *one == key)) {
            return Err(format!("I9: {query:?} does not find the key {key} of {}", execution.id));
        }
    }
    if model.lane(partition, &lane).is_ok_and(|known| known.is_some()) {
        return Ok(());
    }
    let is_ready = model.ready(partition).iter().any(|ready| ready.lane == lane && ready.kind == execution.kind);
    if is_ready { Ok(()) } else { Err(format!("I9: no sweep tells of {}", execution.id)) }
}

/// I7: each life of an execution has no more retries and expiries than the policy allows, and every attempt names the
/// one before it as its origin.
fn lives_within_policy(execution: &Execution, archived: &[Attempt]) -> Verdict {
    let open = match &execution.attempt {
        AttemptSlot::Open(attempt) => Some(attempt),
        AttemptSlot::Next(_) => None,
    };
    let (mut retries, mut expiries) = (0, 0);
    for (attempt, earlier) in archived.iter().chain(open).zip(std::iter::once(None).chain(archived.iter().map(Some))) {
        let of = match &attempt.origin {
            Origin::Initial => None,
            Origin::Retry { of } | Origin::Reclaim { of } => Some(*of),
            Origin::Replay { of, .. } => *of,
        };
        if of != earlier.map(|earlier: &Attempt| earlier.index) {
            return Err(format!("I7: attempt {} of {} says it follows {of:?}", attempt.index, execution.id));
        }
        match attempt.origin {
            Origin::Initial | Origin::Replay { .. } => (retries, expiries) = (0, 0),
            Origin::Retry { .. } => retries += 1,
            Origin::Reclaim { .. } => {}
        }
        let expired = attempt.end.as_ref().is_some_and(|end| end.outcome == AttemptOutcome::LeaseExpired);
        expiries += u32::from(expired);
        within(&execution.policy, attempt.index, retries, expiries)?;
    }
    Ok(())
}

fn within(policy: &Policy, attempt: AttemptIndex, retries: u32, expiries: u32) -> Verdict {
    if retries > policy.retry_policy.max_retries {
        return Err(format!("I7: attempt {attempt} is retry {retries} of its life"));
    }
    // The expiry that ends the execution comes on top of the expiries that the policy allows.
    if expiries > policy.max_reclaim_count.saturating_add(1) {
        return Err(format!("I7: attempt {attempt} is expiry {expiries} of its life"));
    }
    Ok(())
}

/// I6: no two leases have the same id.
fn no_lease_twice(snapshot: &Snapshot) -> Verdict {
    let current = snapshot.executions.values().filter_map(|e| match &e.phase {
        Phase::Running { lease } => Some(lease.fence.lease_id),
        _ => None,
    });
    let ended = snapshot.leases.values().flatten().map(|event| event.fence.lease_id);
    let mut seen = HashSet::new();
    match current.chain(ended).find(|id| !seen.insert(*id)) {
        Some(id) => Err(format!("I6: two leases are {id}")),
        None => Ok(()),
    }
}
