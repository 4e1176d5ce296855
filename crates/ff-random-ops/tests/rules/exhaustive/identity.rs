//! Equality of states. Two states are equal exactly when the rules cannot distinguish them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::discriminant;

use ff_core::execution::{AttemptSlot, Execution, Origin, Phase};
use ff_core::model::Model;
use ff_core::rule::due::Due;
use ff_core::rule::view::View;
use ff_core::types::{TimestampMs, WorkerInstanceId};

/// Returns the identity of a state. Ids, epochs and histories are left out, since rules only compare the ids of the
/// last lease and count the rest up. Times are relative to now. Workers are numbered, without their names. Policies
/// never change after the submission.
pub(crate) fn identity(model: &Model, now: TimestampMs) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut workers = Vec::new();
    for execution in model.executions() {
        let older = model.executions().filter(|other| other.created_at < execution.created_at).count();
        (execution.id, older).hash(&mut hasher);
        (execution.retries, execution.reclaims, execution.replays).hash(&mut hasher);
        standing(execution, &mut workers).hash(&mut hasher);
        (execution.priority, execution.tags.len(), execution.hold.is_some()).hash(&mut hasher);
        timers(execution, now).hash(&mut hasher);
        attempt(execution).hash(&mut hasher);
        execution.last_lease.as_ref().map(|last| discriminant(&last.ended)).hash(&mut hasher);
        (execution.epoch().0 > 1, remembered(model, execution, now)).hash(&mut hasher);
        waiting(model, execution).hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns the phase, and the number of the worker that holds the execution.
fn standing<'m>(execution: &'m Execution, workers: &mut Vec<&'m WorkerInstanceId>) -> (u8, usize) {
    match &execution.phase {
        Phase::Delayed { why, .. } => (0, *why as usize),
        Phase::Waiting => (1, 0),
        Phase::Running { lease } => {
            let holder = &lease.holder.worker_instance_id;
            let number = workers.iter().position(|known| *known == holder).unwrap_or_else(|| {
                workers.push(holder);
                workers.len() - 1
            });
            (2, number)
        }
        Phase::Suspended { suspension } => (4, suspension.timeout_behavior as usize),
        Phase::Blocked { on, .. } => (5, *on as usize),
        Phase::Finished { outcome, .. } => (3, *outcome as usize),
    }
}

/// Describes waitpoints and signals: the pending waitpoints and whether a signal arrived early, the number of counted
/// signals, and the end of the last suspension, as far as the same lease may repeat the suspension.
fn waiting(model: &Model, execution: &Execution) -> Vec<String> {
    let early = |id| model.waitpoint(&execution.id, &id).ok().flatten().is_some_and(|w| !w.buffered.is_empty());
    let mut seen: Vec<_> =
        execution.pending_waitpoints.iter().map(|pending| format!("{} {}", pending.key, early(pending.id))).collect();
    if let Phase::Suspended { suspension } = &execution.phase {
        let keys = suspension.waitpoints.iter().map(|bound| bound.key.as_str()).collect::<Vec<_>>();
        let counted = suspension.tally.counted().count();
        seen.push(format!("on {keys:?}, counted {counted}, escalated {}", suspension.escalated_at.is_some()));
    }
    let last = execution.last_suspension.as_ref();
    seen.extend(last.map(|past| format!("{:?} {}", past.resumed_by(), past.lease_epoch == execution.epoch())));
    seen
}

/// Returns the time until each timer. Of past timers only the order matters, and of the retention only whether it is
/// over: no rule depends on these distances.
fn timers(execution: &Execution, now: TimestampMs) -> Vec<Option<i64>> {
    let all: Vec<_> = Due::ALL.iter().map(|due| execution.due_at(*due)).collect();
    let later_but_past = |at: TimestampMs| all.iter().flatten().filter(|other| at < **other && **other <= now).count();
    let ahead = |at: TimestampMs| if at > now { at.0 - now.0 } else { -(later_but_past(at) as i64) };
    let far = |(due, at): (&Due, &Option<TimestampMs>)| {
        let forgetting = *due == Due::Retention;
        at.map(|at| if forgetting { i64::from(at > now) } else { ahead(at) })
    };
    Due::ALL.iter().zip(&all).map(far).collect()
}

/// Returns the attempt that the next claim begins or resumes, and for one to be resumed the used part of its timeout.
/// The timeout of a running attempt is among the timers.
fn attempt(execution: &Execution) -> (u8, u64) {
    match &execution.attempt {
        AttemptSlot::Open(_) if matches!(execution.phase, Phase::Running { .. }) => (0, 0),
        AttemptSlot::Open(attempt) => {
            let allowed = execution.policy.timeout_policy.attempt_timeout_ms;
            (1, allowed.map_or(0, |allowed| attempt.ran_ms.min(allowed)))
        }
        AttemptSlot::Next(Origin::Initial) => (2, 0),
        AttemptSlot::Next(Origin::Retry { .. }) => (3, 0),
        AttemptSlot::Next(Origin::Reclaim { .. }) => (4, 0),
        AttemptSlot::Next(Origin::Replay { .. }) => (5, 0),
    }
}

fn remembered(model: &Model, execution: &Execution, now: TimestampMs) -> bool {
    let entry = execution.idempotency_key.as_ref().and_then(|key| model.key(&execution.namespace, key).ok().flatten());
    entry.is_some_and(|entry| now < entry.until)
}
