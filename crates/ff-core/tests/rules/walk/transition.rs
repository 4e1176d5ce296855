//! Names for the steps of an execution's life, and the table of those that a walk has to take.

use ff_core::change::Change;
use ff_core::event::What;
use ff_core::execution::{AttemptSlot, Execution, FinishedBy, Origin, Outcome, Phase};
use ff_core::operation::Operation;

/// The table of the semantics, a line per step. A walk that has not taken them all has not shown much.
pub(crate) const TABLE: &[&str] = &[
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

/// The steps of what waits for people or the outside world.
pub(crate) const WAITING_TABLE: &[&str] = &[
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

/// What may happen to waitpoints made ahead wherever their execution is, and what a resume delay or a late pump adds.
const WAITING_ALSO: &[&str] = &[
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

/// What may happen as well, when a span is zero or a pump comes late.
const ALSO: &[&str] = &[
    "running -progress-> running",
    "running -fail-> waiting",
    "running -timed out-> waiting",
    "running -timed out, deadline-> expired",
];

/// What an operator does to an execution that stays where it is.
pub(crate) const OPERATED_TABLE: &[&str] = &[
    "waiting -prioritise-> waiting",
    "delayed -prioritise-> delayed",
    "running -prioritise-> running",
    "waiting -tag-> waiting",
    "delayed -tag-> delayed",
    "running -tag-> running",
    "succeeded -tag-> succeeded",
    "failed -tag-> failed",
    "cancelled -tag-> cancelled",
    "expired -tag-> expired",
];

/// The same, where it waits for people or the outside world.
const OPERATED_ALSO: &[&str] = &["suspended -prioritise-> suspended", "suspended -tag-> suspended"];

/// Whether there is such a step.
pub(crate) fn is_known(name: &str) -> bool {
    let tables = [TABLE, ALSO, WAITING_TABLE, WAITING_ALSO, OPERATED_TABLE, OPERATED_ALSO];
    tables.iter().any(|table| table.contains(&name))
}

/// What a change is called: from where, by what, to where.
pub(crate) fn name(operation: &Operation, before: Option<&Execution>, change: &Change) -> String {
    let cause = match operation {
        Operation::Submit(_) => "submit".into(),
        Operation::Claim(_) | Operation::ClaimGranted(_) => format!("claim {}", before.map_or("nothing", begun)),
        Operation::Renew(_) => "renew".into(),
        Operation::Progress(_) => "progress".into(),
        Operation::Complete(_) => "complete".into(),
        Operation::Fail(_) => "fail".into(),
        Operation::Delay(_) => "delay".into(),
        Operation::Cancel(_) => "cancel".into(),
        Operation::Replay(_) => "replay".into(),
        Operation::Revoke(_) => "revoke".into(),
        Operation::ChangePriority(_) => "prioritise".into(),
        Operation::Suspend(_) => "suspend".into(),
        Operation::CreateWaitpoint(_) => "create waitpoint".into(),
        Operation::CloseWaitpoint(_) => "close waitpoint".into(),
        Operation::Deliver(_) => "signal".into(),
        Operation::Resume(_) => "resume".into(),
        Operation::Rotate(_) => "rotate".into(),
        Operation::StageFlow(_) | Operation::CreateFlow(_) | Operation::GrowFlow(_) => "grow".into(),
        Operation::CloseFlow(_) => "close".into(),
        Operation::CancelFlow(_) => "cancel flow".into(),
        Operation::SetTags(_) | Operation::SetFlowTags(_) => "tag".into(),
        Operation::WaitForChildren(_) => "wait for children".into(),
        Operation::Cascade(_) => "cascade".into(),
        Operation::ConfigureLane(_)
        | Operation::CopyLane(_)
        | Operation::Allot(_)
        | Operation::RecountLane(_)
        | Operation::SettleLane(_) => "lane".into(),
        Operation::RegisterWorker(_)
        | Operation::Heartbeat(_)
        | Operation::Leave(_)
        | Operation::SweepWorker(_)
        | Operation::Follow(_)
        | Operation::CreateKey(_)
        | Operation::RevokeKey(_) => "nothing of an execution's".into(),
        Operation::Pump(_) => fired(change).join(", "),
    };
    format!("{} -{cause}-> {}", before.map_or("nothing", place), place(&change.after))
}

/// How a member of a flow came to where it is, where that is worth counting.
#[allow(dead_code, reason = "only walks over flows ask")]
pub(crate) fn in_flow(operation: &Operation, before: Option<&Execution>, change: &Change) -> Option<&'static str> {
    let membership = change.after.membership.as_ref()?;
    let reopened = change.events.iter().any(|event| event.what == What::Replayed);
    let asked_for = matches!(operation, Operation::Replay(args) if args.execution_id == change.after.id);
    if before.is_some_and(Execution::is_finished) && reopened && !asked_for {
        return Some("reopened");
    }
    match (before.map(|before| &before.phase), &change.after.phase) {
        (Some(Phase::Finished { .. }), Phase::Finished { .. }) | (None, _) => None,
        (_, Phase::Finished { by: FinishedBy::Dependencies, .. }) => Some("ended by its upstreams"),
        (_, Phase::Finished { by: FinishedBy::FlowCancel, .. }) => Some("ended by its flow"),
        (_, Phase::Finished { by: FinishedBy::Join, .. }) => Some("ended by a join"),
        (_, Phase::Finished { by: FinishedBy::Deadline, .. }) => Some("ended by its deadline"),
        (_, Phase::Finished { .. }) if membership.owes.is_some() => Some("owed"),
        (Some(Phase::Blocked { .. }), Phase::Waiting) if matches!(change.after.attempt, AttemptSlot::Open(_)) => {
            Some("went on after its children")
        }
        _ => None,
    }
}

fn place(execution: &Execution) -> &'static str {
    match execution.phase {
        Phase::Delayed { .. } => "delayed",
        Phase::Waiting => "waiting",
        Phase::Running { .. } => "running",
        Phase::Suspended { .. } => "suspended",
        Phase::Blocked { .. } => "blocked",
        Phase::Finished { outcome: Outcome::Success, .. } => "succeeded",
        Phase::Finished { outcome: Outcome::Failed, .. } => "failed",
        Phase::Finished { outcome: Outcome::Cancelled, .. } => "cancelled",
        Phase::Finished { outcome: Outcome::Expired, .. } => "expired",
        Phase::Finished { outcome: Outcome::Skipped, .. } => "skipped",
    }
}

/// What a claim begins.
fn begun(waiting: &Execution) -> &'static str {
    match waiting.attempt {
        AttemptSlot::Open(_) => "resumed",
        AttemptSlot::Next(Origin::Initial) => "initial",
        AttemptSlot::Next(Origin::Retry { .. }) => "retry",
        AttemptSlot::Next(Origin::Reclaim { .. }) => "reclaim",
        AttemptSlot::Next(Origin::Replay { .. }) => "replay",
    }
}

/// What fired, in order: an execution looked at late can have several moments behind it.
fn fired(change: &Change) -> Vec<&'static str> {
    let words = change.events.iter().map(|event| match (event.what, &change.after.phase) {
        (What::Promoted, _) => "promoted",
        (What::WaitpointExpired, _) => WAITPOINT_EXPIRED,
        (What::Released { .. } | What::Escalated, _)
        | (What::Finished { .. }, Phase::Finished { by: FinishedBy::SuspensionTimeout, .. }) => "suspension timeout",
        (What::LeaseExpired, _) => "lease expired",
        (What::RetryScheduled { .. }, _)
        | (What::Finished { .. }, Phase::Finished { by: FinishedBy::AttemptTimeout, .. }) => "timed out",
        (What::Finished { .. }, Phase::Finished { by: FinishedBy::Deadline, .. }) => "deadline",
        (What::Finished { .. }, Phase::Finished { by: FinishedBy::ReclaimCap, .. }) => "reclaim cap",
        _ => "something no pump does",
    });
    let words: Vec<_> = words.collect();
    // A waitpoint may run out beside anything else, and makes no difference to it.
    let other: Vec<_> = words.iter().copied().filter(|word| *word != WAITPOINT_EXPIRED).collect();
    if other.is_empty() { vec![WAITPOINT_EXPIRED] } else { other }
}

const WAITPOINT_EXPIRED: &str = "waitpoint expired";
