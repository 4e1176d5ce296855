//! Promises of an operation about numbers: counters, times, and the recorded end of a lease. Members of flows are not
//! checked here.

use std::cmp::Reverse;

use super::{Step, Verdict, is_member};
use crate::adjustment;
use crate::prelude::*;

/// Checks that a step keeps the promises of its operation.
pub fn promised(step: &Step<'_>) -> Verdict {
    for (before, change) in step.changes().filter(|(_, change)| !is_member(&change.after)) {
        let checked = counted(before, change)
            .and_then(|()| before.map_or(Ok(()), |before| changes_one_property(step, before, change)))
            .and_then(|()| check_times(step, before, change))
            .and_then(|()| before.map_or(Ok(()), |before| ended_as_it_did(step.operation, before, change)))
            .and_then(|()| before.map_or(Ok(()), |before| timed(before, change, step.at.now)));
        checked.map_err(|what| format!("{what}\n  before {before:?}\n  change {change:?}"))?;
    }
    if step.before.executions().any(is_member) {
        return Ok(());
    }
    match (step.operation, step.decided.as_ref().map(|decision| &decision.reply)) {
        (Operation::Claim(args), Ok(_)) if step.is_configured(args.partition, &args.lane.within(&args.namespace)) => {
            Ok(())
        }
        (Operation::Claim(args), Ok(Reply::ClaimDecision(taken))) => takes_the_best(step, args, taken),
        (Operation::Pump(args), Ok(_)) if keeps_flows(step, args.partition) => Ok(()),
        (Operation::Pump(args), Ok(Reply::Pumped(pumped))) => fires_what_is_due(step, args.partition, pumped),
        (Operation::Claim(_) | Operation::Pump(_), Ok(reply)) => Err(format!("answers {reply:?}")),
        _ => Ok(()),
    }
}

/// Returns whether a flow, whose members are all forgotten, still has a timer on the partition.
fn keeps_flows(step: &Step<'_>, partition: u16) -> bool {
    step.before.due_flows(&DueQuery { partition, limit: 1 }).is_ok_and(|due| !due.is_empty())
}

/// Checks that the counters of the record agree with the events.
fn counted(before: Option<&Execution>, change: &Change) -> Verdict {
    let counts = |e: &Execution| [e.attempts_made, e.retries, e.reclaims, e.replays];
    let mut expected = before.map_or([0; 4], counts);
    for event in &change.events {
        let [attempts, retries, reclaims, replays] = &mut expected;
        match event.what {
            EventKind::Started { .. } => *attempts += 1,
            EventKind::RetryScheduled { .. } => *retries += 1,
            EventKind::LeaseExpired => *reclaims += 1,
            EventKind::Replayed => (*retries, *reclaims, *replays) = (0, 0, *replays + 1),
            _ => {}
        }
    }
    let is = counts(&change.after);
    if is == expected { Ok(()) } else { Err(format!("I7: expected to count {expected:?}, counts {is:?}")) }
}

/// Checks that an adjustment changes only its property.
fn changes_one_property(step: &Step<'_>, before: &Execution, change: &Change) -> Verdict {
    let others = adjustment::subject(step.operation) != Some(before.id);
    let expected = adjustment::adjusted(step.operation, before, step.at.now);
    if others || expected == Ok(change.after.clone()) { Ok(()) } else { Err(format!("expected {expected:?}")) }
}

/// Checks times. A deadline counts from submission or replay unless it is moved, and a lease counts from now. Backoff
/// follows the policy, and a delay follows the holder's request.
fn check_times(step: &Step<'_>, before: Option<&Execution>, change: &Change) -> Verdict {
    let (now, after, policy) = (step.at.now, &change.after, &change.after.policy);
    let moved = |before: &Execution| adjustment::adjusted(step.operation, before, now).ok()?.deadline_at;
    let mut deadline = before.and_then(moved);
    for event in &change.events {
        match (event.what, step.operation) {
            (EventKind::Submitted | EventKind::Replayed, _) => {
                deadline = policy.timeout_policy.execution_deadline_ms.map(|ms| now + ms);
            }
            (EventKind::RetryScheduled { at }, _) => {
                let (full, jitter) = whole(policy.retry_policy.backoff, after.retries.saturating_sub(1));
                if at > now + full || at < if jitter { now } else { now + full } {
                    return Err(format!("a retry at {at}, with a backoff of {full}"));
                }
            }
            (EventKind::Delayed { until }, Operation::Delay(args))
                if until != args.start.later_than(now).unwrap_or(now) =>
            {
                return Err(format!("delayed until {until}, asked for {:?}", args.start));
            }
            _ => {}
        }
    }
    if after.deadline_at != deadline {
        return Err(format!("the deadline is {:?}, expected {deadline:?}", after.deadline_at));
    }
    let (Phase::Running { lease }, Some(ttl_ms)) = (&after.phase, requested_ttl(step.operation, before)) else {
        return Ok(());
    };
    if (lease.until, lease.ttl_ms) == (now + ttl_ms, ttl_ms) { Ok(()) } else { Err("a lease of another length".into()) }
}

/// Returns the backoff before a retry without jitter, and whether the policy adds jitter.
fn whole(backoff: Backoff, retry: u32) -> (u64, bool) {
    let (mut plain, mut jittered) = (backoff, false);
    let (Backoff::Fixed { jitter, .. } | Backoff::Exponential { jitter, .. }) = &mut plain;
    std::mem::swap(jitter, &mut jittered);
    (plain.delay_ms(retry, 0), jittered)
}

fn requested_ttl(operation: &Operation, before: Option<&Execution>) -> Option<u64> {
    match (operation, before.map(|before| &before.phase)) {
        (Operation::Claim(args), _) => Some(args.lease_ttl_ms),
        (Operation::Renew(args), Some(Phase::Running { lease })) => Some(args.lease_ttl_ms.unwrap_or(lease.ttl_ms)),
        _ => None,
    }
}

/// Checks that the record names the cause of the end of a lease, because the former holder acts on it.
fn ended_as_it_did(operation: &Operation, before: &Execution, change: &Change) -> Verdict {
    let (Phase::Running { .. }, Some(last)) = (&before.phase, &change.after.last_lease) else { return Ok(()) };
    if matches!(change.after.phase, Phase::Running { .. }) {
        return Ok(());
    }
    let by = match &change.after.phase {
        Phase::Finished { by, .. } => Some(by),
        _ => None,
    };
    // A waitpoint that expired in the same step does not explain the end of the lease.
    let event = change.events.iter().map(|event| event.what).find(|what| *what != EventKind::WaitpointExpired);
    let fits = match (operation, last.ended, event) {
        (Operation::Complete(_), LeaseEnding::Completed, _)
        | (Operation::Cancel(_), LeaseEnding::Cancelled, _)
        | (Operation::Revoke(_), LeaseEnding::Revoked, _)
        | (Operation::Suspend(_), LeaseEnding::Suspended, Some(EventKind::Suspended))
        | (Operation::Fail(_), LeaseEnding::Failed { retry_at: None }, Some(EventKind::Finished { .. }))
        | (Operation::Pump(_) | Operation::Assign(_), LeaseEnding::Expired, Some(EventKind::LeaseExpired))
        | (Operation::Pump(_), LeaseEnding::TimedOut, Some(EventKind::RetryScheduled { .. })) => true,
        (Operation::Fail(_), LeaseEnding::Failed { retry_at: Some(time) }, Some(EventKind::RetryScheduled { at })) => {
            time == at
        }
        (Operation::Delay(_), LeaseEnding::Delayed { until: time }, Some(EventKind::Delayed { until })) => {
            time == until
        }
        (Operation::Pump(_), LeaseEnding::Expired, _) => by == Some(&FinishedBy::ReclaimCap),
        (Operation::Pump(_), LeaseEnding::TimedOut, _) => by == Some(&FinishedBy::AttemptTimeout),
        (Operation::Pump(_), LeaseEnding::DeadlinePassed, _) => by == Some(&FinishedBy::Deadline),
        _ => false,
    };
    if fits { Ok(()) } else { Err(format!("the lease is said to have ended by {:?}", last.ended)) }
}

/// Checks that the running time of an attempt is the sum of its leases, and that a new lease times out after the rest
/// of the allowed time.
fn timed(before: &Execution, change: &Change, now: TimestampMs) -> Verdict {
    let ran = |slot: &AttemptSlot| match slot {
        AttemptSlot::Open(attempt) => attempt.ran_ms,
        AttemptSlot::Next(_) => 0,
    };
    match (&before.phase, &change.after.phase) {
        (Phase::Running { .. }, Phase::Running { .. }) => Ok(()),
        (Phase::Running { lease }, _) => {
            let ended = change.attempts.first().map_or_else(|| ran(&change.after.attempt), |attempt| attempt.ran_ms);
            let expected = ran(&before.attempt) + now.since(lease.acquired_at);
            if ended == expected { Ok(()) } else { Err(format!("ran {expected} ms, says {ended}")) }
        }
        (_, Phase::Running { lease }) => {
            let allowed = before.policy.timeout_policy.attempt_timeout_ms;
            let expected = allowed.map(|ms| now + ms.saturating_sub(ran(&before.attempt)));
            if lease.timeout_at == expected { Ok(()) } else { Err(format!("must time out at {expected:?}")) }
        }
        _ => Ok(()),
    }
}

/// Checks that a claim takes executions by priority, then age, then id, up to its maximum, and reports whether more are
/// left.
fn takes_the_best(step: &Step<'_>, args: &ClaimArgs, taken: &ClaimDecision) -> Verdict {
    let is_claimable = |e: &Execution| match (args.assigned, e.grant()) {
        (false, _) => e.phase == Phase::Waiting,
        (true, grant) => grant.is_some_and(|grant| {
            grant.worker_instance_id == args.holder.worker_instance_id && step.at.now < grant.expires_at
        }),
    };
    let mut waiting: Vec<_> = step
        .before
        .executions()
        .filter(|e| e.id.partition() == args.partition && is_claimable(e))
        .filter(|e| e.namespace == args.namespace && e.lane == args.lane)
        .filter(|e| args.kinds.is_empty() || args.kinds.contains(&e.kind))
        .collect();
    waiting.sort_by_key(|e| (Reverse(e.priority), e.created_at, e.id));
    let best: Vec<_> = waiting.iter().take(args.max).map(|e| e.id).collect();
    let tasks: Vec<_> = taken.tasks.iter().map(|task| task.execution_id).collect();
    let changed: Vec<_> = step.changes().map(|(_, change)| change.after.id).collect();
    if tasks != best || changed != best || taken.next.is_some() != (waiting.len() > args.max) {
        return Err(format!("took {tasks:?} where {best:?} come first"));
    }
    for (task, (_, change)) in taken.tasks.iter().zip(step.changes()) {
        let Phase::Running { lease } = &change.after.phase else { return Err("claimed but not running".into()) };
        if (task.fence, task.lease_expires_at, &args.holder) != (lease.fence, lease.until, &lease.holder) {
            return Err("I5: the worker is told another lease than the record has".into());
        }
    }
    Ok(())
}

/// I9: a pump fires no timer before its time, fires due timers up to its batch size, and returns the next due time.
fn fires_what_is_due(step: &Step<'_>, partition: u16, pumped: &PumpedPartition) -> Verdict {
    let now = step.at.now;
    let moment = |execution: &Execution| execution.next_due().map(|(at, _)| at);
    let is_due = |execution: &Execution| moment(execution).is_some_and(|at| at <= now);
    let here = || step.before.executions().filter(|e| e.id.partition() == partition);
    // An execution that ends by its own timer and has no retention is forgotten by the next pump.
    let is_left = |execution: &Execution| is_due(execution) && execution.forget_at().is_none_or(|at| at > now);
    // The end of an execution moves the next one under the same key up, which need not be due.
    let is_moved_up = |before: Option<&Execution>, change: &Change| {
        before.is_some_and(|before| {
            !is_due(before) && before.behind().is_some() && before.behind() != change.after.behind()
        })
    };
    let fired = || step.changes().filter(|(before, change)| !is_moved_up(*before, change));
    if fired().any(|(before, change)| !before.is_some_and(is_due) || is_left(&change.after)) {
        return Err("I9: fired too early, or left something due".into());
    }
    let due = here().filter(|e| is_due(e)).count();
    let fired = fired().count() + step.forgotten().count();
    if pumped.fired != fired || pumped.fired != due.min(limits::PUMP_BATCH) {
        return Err(format!("I9: {due} were due, {} fired", pumped.fired));
    }
    let fired = step.changes().map(|(_, change)| &change.after);
    let gone = |e: &Execution| step.forgotten().flatten().any(|forgotten| forgotten.id == e.id);
    let others = here().filter(|e| !gone(e) && !step.changes().any(|(_, change)| change.after.id == e.id));
    let next = fired.chain(others).filter_map(moment).min();
    if pumped.next_due == next { Ok(()) } else { Err(format!("I9: next due {next:?}, told {:?}", pumped.next_due)) }
}
