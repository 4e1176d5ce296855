//! Invariants of every operation, checked with the record before the operation, the change and the time.

use super::{Step, Verdict};
use crate::prelude::*;

/// Checks that every change of a step keeps the invariants.
pub fn lawful(step: &Step<'_>) -> Verdict {
    let now = step.at.now;
    forgotten_in_time(step, now)?;
    for (before, change) in step.changes() {
        let checked = story(before, change, now)
            .and_then(|()| before.map_or(Ok(()), |before| one_change(before, change, now)))
            .and_then(|()| within_policy(&change.after));
        checked.map_err(|what| format!("{what}\n  before {before:?}\n  change {change:?}"))?;
    }
    Ok(())
}

/// I1: a forgotten execution had finished, is in no flow, and its retention is over. The same step does not change it.
fn forgotten_in_time(step: &Step<'_>, now: TimestampMs) -> Verdict {
    for execution in step.forgotten() {
        let Some(execution) = execution else { return Err("I1: something is forgotten that is not there".into()) };
        let Phase::Finished { at, .. } = execution.phase else { return Err("I1: something live is forgotten".into()) };
        if execution.membership.is_some() || now < at + execution.retention_ms() {
            return Err(format!("I1: forgotten too early: {execution:?}"));
        }
        if step.changes().any(|(_, change)| change.after.id == execution.id) {
            return Err(format!("I1: {} is forgotten and changed", execution.id));
        }
    }
    Ok(())
}

fn one_change(before: &Execution, change: &Change, now: TimestampMs) -> Verdict {
    submitted_for_good(before, change)?;
    final_until_replayed(before, change)?;
    one_holder_at_a_time(before, &change.after, now)?;
    attributed_to_the_holder(before, change, now)?;
    times_do_not_run_backwards(before, &change.after, now)
}

/// I2: events describe the lives of an execution in sequence. Each life begins with a submission or a replay and has
/// one end.
fn story(before: Option<&Execution>, change: &Change, now: TimestampMs) -> Verdict {
    let mut alive = before.map(|before| !before.is_finished());
    for event in &change.events {
        if event.at != now || event.execution_id != change.after.id {
            return Err(format!("I18: {event:?} is of another time or execution"));
        }
        alive = match (alive, event.what) {
            (None, EventKind::Submitted) | (Some(false), EventKind::Replayed) => Some(true),
            (Some(true), EventKind::Finished { .. }) => Some(false),
            (Some(alive), EventKind::Tagged | EventKind::SoftLimitExceeded { .. }) => Some(alive),
            (Some(true), EventKind::Submitted | EventKind::Replayed) | (None | Some(false), _) => {
                return Err(format!("I2: {event:?} happened to what was alive: {alive:?}"));
            }
            (Some(true), _) => Some(true),
        };
    }
    if alive != Some(!change.after.is_finished()) {
        return Err(format!("I2: events leave it alive: {alive:?}, the record says otherwise"));
    }
    Ok(())
}

/// I1: a submission never changes. The exceptions are its priority and tags, each with an event, and the payload of a
/// debounced execution before it starts.
fn submitted_for_good(before: &Execution, change: &Change) -> Verdict {
    let after = &change.after;
    let submitted = |e: &Execution| {
        let names = (e.namespace.clone(), e.lane.clone(), e.kind.clone(), e.idempotency_key.clone());
        (e.id, names, e.policy.clone(), e.created_at)
    };
    let payload = |e: &Execution| (e.fingerprint, e.payload_bytes);
    let is_debounced =
        before.started_at.is_none() && before.queue_place.as_ref().is_some_and(|at| at.debounced.is_some());
    if !is_debounced && payload(before) != payload(after) {
        return Err("I1: the payload has changed".into());
    }
    let says = |expected: EventKind| change.events.iter().any(|event| event.what == expected);
    let moved = EventKind::Prioritised { from: before.priority, to: after.priority };
    if (before.priority != after.priority) != says(moved) || (before.tags != after.tags) != says(EventKind::Tagged) {
        return Err("I1: another priority or other labels than were told".into());
    }
    if submitted(before) == submitted(after) { Ok(()) } else { Err("I1: what was submitted has changed".into()) }
}

/// I2: an outcome stays until a replay. The membership, tags and usage may still change.
fn final_until_replayed(before: &Execution, change: &Change) -> Verdict {
    let replayed = change.events.iter().any(|event| event.what == EventKind::Replayed);
    // The membership is excluded: the flow changes it after the end.
    let mut own = change.clone();
    own.after.membership.clone_from(&before.membership);
    // Operators may tag finished executions.
    own.after.tags.clone_from(&before.tags);
    own.events.retain(|event| !matches!(event.what, EventKind::Tagged | EventKind::SoftLimitExceeded { .. }));
    // Usage may be reported after the end.
    own.after.usage.clone_from(&before.usage);
    own.usage_report = None;
    if matches!(own.payload, Write::ResultOf(_)) {
        own.payload = Write::Keep;
    }
    if before.is_finished() && !replayed && before.unchanged() != own {
        return Err("I2: something finished has changed".into());
    }
    Ok(())
}

/// I3 and I4: a lease begins only when no other lease is held, with a higher epoch. Only the end and the TTL of a lease
/// change.
fn one_holder_at_a_time(before: &Execution, after: &Execution, now: TimestampMs) -> Verdict {
    let Phase::Running { lease } = &after.phase else {
        return match after.epoch() == before.epoch() {
            true => Ok(()),
            false => Err("I4: the epoch moved without a lease".into()),
        };
    };
    let AttemptSlot::Open(attempt) = &after.attempt else { return Err("I9: a lease without an attempt".into()) };
    if (lease.fence.attempt_id, &lease.holder) != (attempt.id, &attempt.holder) {
        return Err("I5: the lease and its attempt are not one".into());
    }
    match &before.phase {
        Phase::Running { lease: held } => {
            let identity = |lease: &Lease| (lease.fence, lease.holder.clone(), lease.acquired_at, lease.timeout_at);
            if identity(lease) == identity(held) { Ok(()) } else { Err("I3: a lease began while another held".into()) }
        }
        _ if lease.fence.lease_epoch <= before.epoch() => Err("I4: the epoch does not rise".into()),
        Phase::Waiting if lease.acquired_at == now && lease.until > now => Ok(()),
        Phase::Blocked { .. }
            if before.grant().is_some_and(|grant| {
                grant.worker_instance_id == lease.holder.worker_instance_id && now < grant.expires_at
            }) =>
        {
            Ok(())
        }
        _ => Err("I3: a lease began out of time, or on what was not waiting".into()),
    }
}

/// I5: a step archives only the lease and attempt that were current, with the current time as their end.
fn attributed_to_the_holder(before: &Execution, change: &Change, now: TimestampMs) -> Verdict {
    let (held, open) = match (&before.phase, &before.attempt) {
        (Phase::Running { lease }, AttemptSlot::Open(attempt)) => (Some(lease), Some(attempt)),
        (_, AttemptSlot::Open(attempt)) => (None, Some(attempt)),
        (_, AttemptSlot::Next(_)) => (None, None),
    };
    let of_holder = change.leases.iter().all(|event| {
        held.is_some_and(|lease| {
            (event.fence, &event.holder, event.acquired_at) == (lease.fence, &lease.holder, lease.acquired_at)
        }) && event.ended_at == now
    });
    let of_attempt = change.attempts.iter().all(|attempt| {
        let ended_now = attempt.end.as_ref().is_some_and(|end| end.at == now);
        ended_now && open.is_some_and(|open| (open.id, open.index) == (attempt.id, attempt.index))
    });
    if !of_holder || !of_attempt || change.leases.len() > 1 || change.attempts.len() > 1 {
        return Err("I5: archives what was not current".into());
    }
    let released = held.filter(|_| !matches!(change.after.phase, Phase::Running { .. }));
    match (released, &change.after.last_lease) {
        (Some(lease), Some(last)) if last.fence == lease.fence => Ok(()),
        (Some(_), _) => Err("I5: the last lease is not the one that ended".into()),
        (None, last) if *last == before.last_lease => Ok(()),
        (None, _) => Err("I5: the last lease changed though none ended".into()),
    }
}

/// I18: `changed_at` is the time of the last change of phase, and `started_at` is set once until a replay clears it.
fn times_do_not_run_backwards(before: &Execution, after: &Execution, now: TimestampMs) -> Verdict {
    let moved = after.phase != before.phase;
    let stays = matches!(
        (&before.phase, &after.phase),
        (Phase::Running { .. }, Phase::Running { .. }) | (Phase::Suspended { .. }, Phase::Suspended { .. })
    );
    let changed_at = if moved && !stays { now } else { before.changed_at };
    if after.changed_at != changed_at || before.changed_at > now {
        return Err(format!("I18: changed at {}, expected {changed_at}", after.changed_at));
    }
    match (before.started_at, after.started_at) {
        (_, None) if after.replays > before.replays => Ok(()),
        (Some(first), then) if then != Some(first) => Err("I18: started twice".into()),
        (None, Some(first)) if first != now => Err("I18: started at another time".into()),
        _ => Ok(()),
    }
}

/// I7: the counters of the record are within the limits of the policy.
fn within_policy(after: &Execution) -> Verdict {
    let policy = &after.policy;
    let counted = [
        ("retries", after.retries, policy.retry_policy.max_retries),
        ("reclaims", after.reclaims, policy.max_reclaim_count),
        ("replays", after.replays, policy.max_replay_count),
    ];
    match counted.into_iter().find(|(_, made, allowed)| made > allowed) {
        Some((what, made, allowed)) => Err(format!("I7: {made} {what}, {allowed} allowed")),
        None => Ok(()),
    }
}
