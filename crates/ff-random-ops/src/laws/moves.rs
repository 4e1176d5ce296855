//! Names of the moves of an execution from phase to phase, and the tables of all possible moves.

use super::{Step, Verdict, is_member};
use crate::adjustment;
use crate::coverage::Coverage;
use crate::prelude::*;

/// The moves that every run about executions must contain to prove anything.
pub const EXECUTION_MOVES: &[&str] = &[
    "nothing -submit-> waiting",
    "nothing -submit-> delayed",
    "delayed -promoted-> waiting",
    "waiting -claim initial-> running",
    "waiting -claim retry-> running",
    "waiting -claim reclaim-> running",
    "waiting -claim replay-> running",
    "waiting -claim resumed-> running",
    "running -renew-> running",
    "running -complete-> succeeded",
    "running -fail-> failed",
    "running -fail-> delayed",
    "running -delay-> delayed",
    "running -delay-> waiting",
    "running -lease expired-> waiting",
    "running -reclaim cap-> failed",
    "running -revoke-> waiting",
    "running -timed out-> delayed",
    "running -timed out-> failed",
    "delayed -deadline-> expired",
    "waiting -deadline-> expired",
    "running -deadline-> expired",
    "running -lease expired, deadline-> expired",
    "delayed -promoted, deadline-> expired",
    "delayed -cancel-> cancelled",
    "waiting -cancel-> cancelled",
    "running -cancel-> cancelled",
    "succeeded -replay-> waiting",
    "failed -replay-> waiting",
    "cancelled -replay-> waiting",
    "expired -replay-> waiting",
];

/// The moves of executions that wait for signals or decisions, by suspensions and waitpoints.
pub const SUSPENSION_MOVES: &[&str] = &[
    "running -suspend-> suspended",
    "running -suspend-> running",
    "running -create waitpoint-> running",
    "running -close waitpoint-> running",
    "running -signal-> running",
    "suspended -signal-> suspended",
    "suspended -signal-> waiting",
    "suspended -resume-> waiting",
    "suspended -suspension timeout-> failed",
    "suspended -suspension timeout-> cancelled",
    "suspended -suspension timeout-> expired",
    "suspended -suspension timeout-> waiting",
    "suspended -suspension timeout-> suspended",
    "suspended -cancel-> cancelled",
    "suspended -deadline-> expired",
    "running -waitpoint expired-> running",
];

/// Further possible moves: of waitpoints that are created before the suspension, in any phase, and moves caused by a
/// resume delay or a late pump.
const SUSPENSION_MOVES_BESIDE: &[&str] = &[
    "waiting -close waitpoint-> waiting",
    "delayed -close waitpoint-> delayed",
    "suspended -close waitpoint-> suspended",
    "waiting -signal-> waiting",
    "delayed -signal-> delayed",
    "waiting -waitpoint expired-> waiting",
    "delayed -waitpoint expired-> delayed",
    "suspended -waitpoint expired-> suspended",
    "suspended -signal-> delayed",
    "suspended -resume-> delayed",
    "suspended -suspension timeout-> delayed",
    "suspended -suspension timeout, deadline-> expired",
];

/// Further possible moves, among them those caused by a duration of zero or a late pump.
const EXECUTION_MOVES_BESIDE: &[&str] = &[
    "running -progress-> running",
    "running -append frames-> running",
    "running -record step-> running",
    "nothing -fork-> waiting",
    "running -fail-> waiting",
    "running -timed out-> waiting",
    "running -timed out, deadline-> expired",
];

/// The moves of executions that are ready but held by an operator, blocked or assigned.
pub const ADMISSION_MOVES: &[&str] = &[
    "waiting -hold-> held",
    "delayed -hold-> delayed",
    "running -hold-> running",
    "blocked -hold-> held",
    "held -release hold-> waiting",
    "running -release hold-> running",
    "waiting -block-> blocked",
    "blocked -unblock-> waiting",
    "blocked -unblocked-> waiting",
    "delayed -promoted-> held",
    "running -lease expired-> held",
    "held -cancel-> cancelled",
    "blocked -cancel-> cancelled",
    "held -deadline-> expired",
    "blocked -deadline-> expired",
    "waiting -assign-> assigned",
    "blocked -assign-> assigned",
    "assigned -unassign-> waiting",
    "assigned -unblocked-> waiting",
    "assigned -claim initial-> running",
    "assigned -hold-> held",
];

/// Further possible moves. Held, blocked and assigned executions count as waiting here because they make the same
/// moves.
const ADMISSION_MOVES_BESIDE: &[&str] = &[
    "waiting -hold-> waiting",
    "suspended -hold-> suspended",
    "waiting -release hold-> waiting",
    "delayed -release hold-> delayed",
    "suspended -release hold-> suspended",
    "waiting -block-> waiting",
    "waiting -unblock-> waiting",
    "waiting -unblocked-> waiting",
    "waiting -unblocked, deadline-> expired",
    "waiting -assign-> waiting",
    "running -assign-> waiting",
    "waiting -unassign-> waiting",
];

/// The moves of executions under singleton and debounce keys.
pub const KEY_MOVES: &[&str] = &[
    "nothing -submit-> blocked",
    "blocked -moved up-> waiting",
    "delayed -submit-> delayed",
    "waiting -submit-> delayed",
    "waiting -submit-> cancelled",
    "cancelled -replay-> blocked",
];

/// Further possible moves of executions under such keys.
const KEY_MOVES_BESIDE: &[&str] = &[
    "waiting -moved up-> waiting",
    "blocked -moved up-> blocked",
    "delayed -moved up-> delayed",
    "delayed -moved up-> waiting",
    "waiting -submit-> waiting",
    "delayed -submit-> cancelled",
];

/// Returns the name of a move with held, blocked and assigned executions counted as waiting.
fn of_ready(name: &str) -> String {
    let at = |place: &str| {
        if ["held", "blocked", "assigned"].contains(&place) { "waiting".to_owned() } else { place.to_owned() }
    };
    match name.split_once(" -").and_then(|(from, rest)| Some((from, rest.rsplit_once("-> ")?))) {
        Some((from, (cause, to))) => format!("{} -{cause}-> {}", at(from), at(to)),
        None => name.to_owned(),
    }
}

/// Returns the moves of operators' changes to an execution that stays in its phase.
pub fn adjustment_moves() -> Vec<String> {
    adjustment::moves().0
}

impl Coverage {
    /// Counts a decided step: its reply or refusal, the moves of executions, and the forgotten executions.
    pub fn count_step(&mut self, step: &Step<'_>) -> Verdict {
        let answer = step.decided.as_ref().map(|decision| decision.reply.clone()).map_err(Clone::clone);
        self.count(step.operation, &answer);
        self.count_forgotten(step.forgotten().count());
        count_moves(step, self)
    }
}

/// Counts the moves of executions and the ends of flows. Fails on a move that no table contains, unless the execution
/// is a member of a flow.
pub fn count_moves(step: &Step<'_>, coverage: &mut Coverage) -> Verdict {
    let tables = [
        EXECUTION_MOVES,
        EXECUTION_MOVES_BESIDE,
        SUSPENSION_MOVES,
        SUSPENSION_MOVES_BESIDE,
        ADMISSION_MOVES,
        ADMISSION_MOVES_BESIDE,
        KEY_MOVES,
        KEY_MOVES_BESIDE,
    ];
    let (adjustments, while_suspended) = adjustment::moves();
    let is_known = |name: &String| {
        tables.iter().any(|table| table.contains(&name.as_str()))
            || adjustments.contains(name)
            || while_suspended.contains(name)
    };
    for (before, change) in step.changes() {
        if is_member(&change.after) {
            in_flow(step.operation, before, change).into_iter().for_each(|name| coverage.record(name));
            continue;
        }
        let name = name(step.operation, before, change);
        if !is_known(&name) && !is_known(&of_ready(&name)) {
            return Err(format!("{name} is not in the table"));
        }
        coverage.record(name);
    }
    let flows = step.decided.as_ref().map_or(&[][..], |decision| &decision.flows);
    for event in flows.iter().flat_map(|change| &change.events) {
        if let FlowEventKind::Ended { state } = event.what {
            coverage.record(format!("flow {state}"));
        }
    }
    Ok(())
}

/// Returns the name of a change: phase before, cause, phase after.
fn name(operation: &Operation, before: Option<&Execution>, change: &Change) -> String {
    let ahead = before.and_then(Execution::behind);
    let is_moved_up = ahead.is_some() && ahead != change.after.behind() && !change.after.is_finished();
    let cause = match operation {
        _ if is_moved_up => "moved up".into(),
        Operation::Claim(_) | Operation::ClaimGranted(_) => format!("claim {}", before.map_or("nothing", begun)),
        Operation::Deliver(_) => "signal".into(),
        Operation::Pump(_) => fired(change).join(", "),
        other => other.name().replace('_', " "),
    };
    format!("{} -{cause}-> {}", before.map_or("nothing", place), place(&change.after))
}

/// Returns the name under which a change of a flow's member is counted, or `None` if the change is not counted.
fn in_flow(operation: &Operation, before: Option<&Execution>, change: &Change) -> Option<&'static str> {
    let membership = change.after.membership.as_ref()?;
    let reopened = change.events.iter().any(|event| event.what == EventKind::Replayed);
    let asked_for = matches!(operation, Operation::Replay(args) if args.execution_id == change.after.id);
    if before.is_some_and(Execution::is_finished) && reopened && !asked_for {
        return Some("reopened by a replay upstream");
    }
    match (before.map(|before| &before.phase), &change.after.phase) {
        (Some(Phase::Finished { .. }), Phase::Finished { .. }) | (None, _) => None,
        (_, Phase::Finished { by: FinishedBy::Dependencies, .. }) => Some("ended by its upstreams"),
        (_, Phase::Finished { by: FinishedBy::FlowCancel, .. }) => Some("ended by its flow"),
        (_, Phase::Finished { by: FinishedBy::Join, .. }) => Some("ended by a join"),
        (_, Phase::Finished { by: FinishedBy::Deadline, .. }) => Some("member ended by its deadline"),
        (_, Phase::Finished { .. }) if membership.pending_propagation.is_some() => Some("propagation left to do"),
        _ => None,
    }
}

fn place(execution: &Execution) -> &'static str {
    match execution.phase {
        Phase::Delayed { .. } => "delayed",
        Phase::Waiting => "waiting",
        Phase::Running { .. } => "running",
        Phase::Suspended { .. } => "suspended",
        Phase::Blocked { on: Blocker::Operator, .. } => "held",
        Phase::Blocked { on: Blocker::Assignment, .. } => "assigned",
        Phase::Blocked { .. } => "blocked",
        Phase::Finished { outcome: Outcome::Success, .. } => "succeeded",
        Phase::Finished { outcome: Outcome::Failed, .. } => "failed",
        Phase::Finished { outcome: Outcome::Cancelled, .. } => "cancelled",
        Phase::Finished { outcome: Outcome::Expired, .. } => "expired",
        Phase::Finished { outcome: Outcome::Skipped, .. } => "skipped",
    }
}

/// Returns the kind of attempt that a claim begins or resumes.
fn begun(waiting: &Execution) -> &'static str {
    match waiting.attempt {
        AttemptSlot::Open(_) => "resumed",
        AttemptSlot::Next(Origin::Initial) => "initial",
        AttemptSlot::Next(Origin::Retry { .. }) => "retry",
        AttemptSlot::Next(Origin::Reclaim { .. }) => "reclaim",
        AttemptSlot::Next(Origin::Replay { .. }) => "replay",
    }
}

/// Returns the timers that fired, in order. A late pump can fire several timers of one execution.
fn fired(change: &Change) -> Vec<&'static str> {
    let words = change.events.iter().map(|event| match (event.what, &change.after.phase) {
        (EventKind::Promoted, _) => "promoted",
        (EventKind::Unblocked { .. }, _) => "unblocked",
        (EventKind::WaitpointExpired, _) => WAITPOINT_EXPIRED,
        (EventKind::Released { .. } | EventKind::Escalated, _)
        | (EventKind::Finished { .. }, Phase::Finished { by: FinishedBy::SuspensionTimeout, .. }) => {
            "suspension timeout"
        }
        (EventKind::LeaseExpired, _) => "lease expired",
        (EventKind::RetryScheduled { .. }, _)
        | (EventKind::Finished { .. }, Phase::Finished { by: FinishedBy::AttemptTimeout, .. }) => "timed out",
        (EventKind::Finished { .. }, Phase::Finished { by: FinishedBy::Deadline, .. }) => "deadline",
        (EventKind::Finished { .. }, Phase::Finished { by: FinishedBy::ReclaimCap, .. }) => "reclaim cap",
        _ => "something no pump does",
    });
    let words: Vec<_> = words.collect();
    // A waitpoint may expire together with another timer and has no effect on it.
    let other: Vec<_> = words.iter().copied().filter(|word| *word != WAITPOINT_EXPIRED).collect();
    if other.is_empty() { vec![WAITPOINT_EXPIRED] } else { other }
}

const WAITPOINT_EXPIRED: &str = "waitpoint expired";
