//! Handing out what waits: which come first, what becomes of them, and what the worker is told.

use crate::change::Change;
use crate::dice::Nonce;
use crate::event::{Event, What};
use crate::execution::{Attempt, AttemptSlot, Execution, FinishedBy, Origin, Phase};
use crate::flow::contracts::TaskFlow;
use crate::lane::Lane;
use crate::lease::contracts::{ClaimArgs, Head, Taken, Task};
use crate::lease::{Fence, Holder, Lease};
use crate::limits;
use crate::suspension::contracts::Resumption;
use crate::types::{AttemptId, AttemptIndex, FlowId, LeaseId, TimestampMs};
use crate::view::{Eligible, Stop, View, together};

/// What a claim looks for, as its lane weighs it.
pub(super) fn eligible(args: &ClaimArgs, lane: Option<&Lane>) -> Eligible {
    Eligible {
        partition: args.partition,
        lane: args.lane.within(&args.namespace),
        kinds: args.kinds.clone(),
        ageing_ms: lane.and_then(|lane| lane.settings.ageing_ms),
        limit: at_once(args) + 1,
    }
}

/// How many it takes at most: what it asks for, and no more than go at once.
fn at_once(args: &ClaimArgs) -> usize {
    args.max.min(limits::CLAIM_AT_ONCE)
}

/// Takes the first of what waits, and no more than go at once. Stops before payloads and signals together pass what one
/// reply may carry, but always takes one when there is one.
pub(super) fn hand_out(
    view: &dyn View,
    args: &ClaimArgs,
    lane: Option<&Lane>,
    nonce: &Nonce,
    now: TimestampMs,
) -> Result<(Taken, Vec<Change>), Stop> {
    let max = at_once(args);
    let waiting = view.eligible(&eligible(args, lane))?;
    together(waiting.iter().filter_map(|id| Some(view.flow(&flow_of(view.execution(id).ok()??)?))))?;
    let mut taken = Taken { tasks: Vec::new(), next: None, limited: false };
    let mut passed_over = None;
    let mut changes = Vec::new();
    let mut bytes = 0;
    for id in &waiting {
        let Some(execution) = view.execution(id)? else { continue };
        if !may_start(view, execution)? {
            passed_over = Some(Head::new(execution.priority, execution.created_at));
            changes.push(execution.cancelled(FinishedBy::FlowCancel, now));
            continue;
        }
        let resumption = execution.last_suspension.as_deref().and_then(Resumption::of);
        bytes += execution.input_size() + inputs_handed(execution) + resumption.as_ref().map_or(0, |(_, bytes)| *bytes);
        let full = taken.tasks.len() == max || bytes > limits::CLAIM_BYTES as u64;
        if full && !taken.tasks.is_empty() {
            taken.next = Some(Head::new(execution.priority, execution.created_at));
            break;
        }
        let change = take(execution, &args.holder, args.lease_ttl_ms, nonce.lease(taken.tasks.len()), now);
        taken.tasks.extend(task(&change.after, execution, resumption.map(|(resumption, _)| resumption)));
        changes.push(change);
    }
    // There may be more behind what was looked at and turned out not to start.
    taken.next = taken.next.or(passed_over.filter(|_| waiting.len() > max));
    Ok((taken, changes))
}

/// Whether its flow lets it start. One whose flow is cancelled is not handed out, but ends.
fn may_start(view: &dyn View, execution: &Execution) -> Result<bool, Stop> {
    let Some(flow) = flow_of(execution) else { return Ok(true) };
    Ok(view.flow(&flow)?.is_none_or(|flow| flow.spares(execution)))
}

fn flow_of(execution: &Execution) -> Option<FlowId> {
    execution.membership.as_ref().map(|membership| membership.flow_id)
}

/// The bytes of named inputs that come with it.
fn inputs_handed(execution: &Execution) -> u64 {
    let all = execution.membership.as_ref().map_or(0, |membership| membership.input_bytes);
    all.min(limits::INPUT_BYTES as u64)
}

/// Hands one waiting execution to a holder: a new attempt, or the open one resumed.
fn take(
    execution: &Execution,
    holder: &Holder,
    ttl_ms: u64,
    (lease_id, new_attempt): (LeaseId, AttemptId),
    now: TimestampMs,
) -> Change {
    let lease_epoch = execution.epoch().next();
    let (attempt, what) = match &execution.attempt {
        AttemptSlot::Open(open) => {
            let attempt = Attempt { holder: holder.clone(), lease_epoch, ..open.clone() };
            (attempt, What::Resumed { attempt: open.index })
        }
        AttemptSlot::Next(origin) => {
            let index = AttemptIndex(execution.attempts_made);
            let attempt = started(index, new_attempt, origin.clone(), holder, lease_epoch, now);
            (attempt, What::Started { attempt: index })
        }
    };
    let timeout_ms = execution.policy.timeout_policy.attempt_timeout_ms;
    let lease = Lease {
        fence: Fence { lease_id, lease_epoch, attempt_id: attempt.id },
        holder: holder.clone(),
        acquired_at: now,
        until: now + ttl_ms,
        ttl_ms,
        timeout_at: timeout_ms.map(|ms| now + ms.saturating_sub(attempt.ran_ms)),
        limited: false,
    };
    let mut change = execution.enter(Phase::Running { lease }, now);
    if matches!(what, What::Started { .. }) {
        change.after.attempts_made += 1;
        change.after.progress = None;
    }
    change.after.attempt = AttemptSlot::Open(attempt);
    change.after.started_at = execution.started_at.or(Some(now));
    change.events.push(Event::new(&execution.id, now, what));
    change
}

fn started(
    index: AttemptIndex,
    id: AttemptId,
    origin: Origin,
    holder: &Holder,
    lease_epoch: crate::types::LeaseEpoch,
    now: TimestampMs,
) -> Attempt {
    Attempt { index, id, origin, started_at: now, holder: holder.clone(), lease_epoch, ran_ms: 0, end: None }
}

/// What the worker is told; nothing when the execution turned out not to be running.
fn task(after: &Execution, before: &Execution, resumption: Option<Resumption>) -> Option<Task> {
    let (Phase::Running { lease }, AttemptSlot::Open(attempt)) = (&after.phase, &after.attempt) else { return None };
    Some(Task {
        execution_id: after.id,
        namespace: after.namespace.clone(),
        lane_id: after.lane.clone(),
        kind: after.kind.clone(),
        priority: after.priority,
        tags: after.tags.clone(),
        policy: after.policy.clone(),
        fence: lease.fence,
        attempt_index: attempt.index,
        attempt: attempt.origin.clone(),
        resumed: matches!(before.attempt, AttemptSlot::Open(_)),
        lease_ttl_ms: lease.ttl_ms,
        lease_expires_at: lease.until,
        created_at: after.created_at,
        deadline_at: after.deadline_at,
        resumption,
        flow: after.membership.as_deref().map(TaskFlow::from),
        trace: after.trace.clone(),
    })
}
