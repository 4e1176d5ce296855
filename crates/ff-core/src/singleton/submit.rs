//! Submission under a singleton or debounce key.

use crate::engine_error::{Code, Refusal};
use crate::event::{Event, EventKind};
use crate::execution::contracts::{CancelArgs, SubmitArgs, SubmittedExecution};
use crate::execution::{DelayReason, Execution, Phase, cancel};
use crate::operation::command::Decision;
use crate::rule::change::{Change, Write};
use crate::rule::view::{Stop, View};
use crate::singleton::{Debounce, DebounceState, KeyConflict, KeyRule, OnConflict, QueuePlace, follow};
use crate::types::TimestampMs;

/// Decides a submission under a key. `new` applies when no other execution of the key is live.
pub(crate) fn submit(
    view: &dyn View,
    args: &SubmitArgs,
    rule: &KeyRule,
    mut new: Change,
    now: TimestampMs,
) -> Result<Decision<SubmittedExecution>, Stop> {
    let (id, name) = (new.after.id, rule.queue());
    let queue = view.key_queue(id.partition(), &args.namespace, &name)?;
    let ids = queue.map_or(&[][..], |queue| &queue.executions);
    let find = |id| view.execution(id)?.ok_or_else(|| Stop::from(Code::InvariantViolation));
    let last = ids.last().map(find).transpose()?;
    let mut conflict = None;
    let mut changes = Vec::new();
    match (rule, last) {
        (KeyRule::Singleton(singleton), Some(last)) => {
            if singleton.on_conflict == OnConflict::Skip {
                let live = ids.first().map_or(Ok(last), find)?;
                return Ok(Decision::of(answer(live, true, Some(KeyConflict::Skipped)), None));
            }
            conflict = Some(KeyConflict::Queued);
            if singleton.on_conflict == OnConflict::Replace && last.is_replaceable() {
                conflict = Some(KeyConflict::Replaced);
                let reason = Some(format!("replaced by {id}"));
                changes.push(cancel(last, &CancelArgs { execution_id: last.id, reason, requested_by: None }, now)?);
            }
        }
        (KeyRule::Debounce(debounce), Some(last)) => {
            if last.queue_place.as_ref().and_then(|place| place.debounced).is_some_and(|by| by.submission == args.uuid)
            {
                return Ok(Decision::of(answer(last, true, Some(KeyConflict::Replaced)), None));
            }
            if last.is_replaceable() {
                let change = debounced(last, args, debounce, now)?;
                return Ok(Decision::of(answer(&change.after, false, Some(KeyConflict::Replaced)), [change]));
            }
        }
        (_, None) => {}
    }
    let debounced = match rule {
        KeyRule::Singleton(_) => None,
        KeyRule::Debounce(debounce) => {
            new.after.phase = Phase::Delayed { until: now + debounce.delay_ms, why: DelayReason::Submitted };
            Some(DebounceState { latest_start: debounce.latest_start(now), submission: args.uuid })
        }
    };
    new.after.queue_place = Some(Box::new(QueuePlace { queue: name, behind: None, debounced }));
    changes.push(new);
    let key_queues = follow(view, &mut changes, now)?;
    let after = changes.iter().map(|change| &change.after).find(|after| after.id == id);
    let reply = answer(after.ok_or(Code::InvariantViolation)?, false, conflict);
    Ok(Decision { key_queues, ..Decision::of(reply, changes) })
}

fn answer(execution: &Execution, duplicate: bool, conflict: Option<KeyConflict>) -> SubmittedExecution {
    SubmittedExecution { execution_id: execution.id, public_state: execution.public_state(), duplicate, conflict }
}

/// Returns the execution with the payload of a further submission of its key, and with a moved start.
fn debounced(
    execution: &Execution,
    args: &SubmitArgs,
    debounce: &Debounce,
    now: TimestampMs,
) -> Result<Change, Refusal> {
    let differs = |what: &str| {
        let why = format!("is the key of {}, which has another {what}", execution.id);
        Err(Code::IdempotencyConflict.refusal().at("debounce.key").because(why))
    };
    if execution.kind != args.kind {
        return differs("kind");
    } else if execution.lane != args.lane {
        return differs("lane");
    }
    let latest = execution.queue_place.as_ref().and_then(|place| place.debounced).map_or(now, |by| by.latest_start);
    let until = (now + debounce.delay_ms).min(latest);
    let mut change = if until > now {
        let mut change = execution.enter(Phase::Delayed { until, why: DelayReason::Submitted }, now);
        change.events.push(Event::new(&execution.id, now, EventKind::Delayed { until }));
        change
    } else {
        execution.unchanged()
    };
    change.after.fingerprint = args.payload.fingerprint();
    change.after.payload_bytes = args.payload.bytes.len() as u64;
    change.payload = Write::Put(args.payload.clone());
    if let Some(by) = change.after.queue_place.as_mut().and_then(|place| place.debounced.as_mut()) {
        by.submission = args.uuid;
    }
    Ok(change)
}

impl Execution {
    /// Returns whether no worker has started the execution since its submission or
    /// replay, and only time and admission hold it back.
    fn is_replaceable(&self) -> bool {
        self.started_at.is_none() && self.is_ready_or_delayed()
    }
}
