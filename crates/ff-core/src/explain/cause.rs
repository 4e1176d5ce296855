//! The summary of an explanation: the first term that keeps an execution from running, and the event that changes it.

use super::facts::Facts;
use super::{NextEvent, Term, TermKind, Verdict};
use crate::state::PublicState;
use crate::types::TimestampMs;

/// Returns a summary of the first cause, followed by the other causes, and the event that changes the state next.
pub(super) fn first(facts: &Facts, terms: &[Term], now: TimestampMs) -> (String, Option<NextEvent>) {
    let info = &facts.info;
    if info.public_state.is_terminal() {
        return (format!("It has ended: it is {}.", info.public_state), None);
    }
    if info.public_state == PublicState::Active {
        return running(facts);
    }
    let keeps = |term: &&Term| term.verdict != Verdict::Passes && term.term != TermKind::Deadline;
    let mut causes = terms.iter().filter(keeps);
    let (summary, event, at) = match causes.next() {
        None => {
            ("It is ready: the next worker that asks for work can claim it.".to_owned(), "a worker claims it", None)
        }
        Some(cause) => (sentence(facts, cause), event(cause.term), cause.until),
    };
    // A turn or a position is not listed as a further cause, because the first cause delays the execution regardless of them.
    let others = causes
        .filter(|term| !matches!(term.term, TermKind::Turn | TermKind::Position))
        .map(|term| term.detail.as_str());
    let others = others.collect::<Vec<_>>();
    let summary = if others.is_empty() { summary } else { format!("{summary} Also: {}.", others.join("; ")) };
    let deadline = info.deadline_at.filter(|deadline| at.is_some_and(|at| *deadline <= at) || *deadline <= now);
    let next = match deadline {
        Some(deadline) => NextEvent { event: "its deadline".into(), at: Some(deadline) },
        None => NextEvent { event: event.into(), at },
    };
    (summary, Some(next))
}

fn running(facts: &Facts) -> (String, Option<NextEvent>) {
    let Some(lease) = &facts.info.lease else { return ("It is running.".into(), None) };
    let held = if facts.info.hold.is_some() { " An operator holds it as soon as it is ready again." } else { "" };
    let summary =
        format!("It is running: {} works on attempt {}.{held}", lease.worker_instance_id, lease.attempt_index.0 + 1);
    let event = "its worker completes, fails or renews it; otherwise its lease ends".to_owned();
    (summary, Some(NextEvent { event, at: Some(lease.expires_at) }))
}

fn sentence(facts: &Facts, cause: &Term) -> String {
    let detail = &cause.detail;
    match cause.term {
        TermKind::Hold => format!("An operator holds it ({detail})."),
        TermKind::Delay => format!("It is delayed: {detail}."),
        TermKind::Suspension => format!("It is suspended: {detail}."),
        TermKind::Workers => format!("No worker takes it: {detail}."),
        TermKind::Turn | TermKind::Position => format!("It waits for its turn: {detail}."),
        TermKind::LaneLimit => format!("It waits for a slot: {detail}."),
        TermKind::Requirements => format!("No worker can run it: {detail}."),
        TermKind::Singleton => format!("It is queued: {detail}."),
        TermKind::Quota | TermKind::Budget => format!("It is over a limit: {detail}."),
        TermKind::Lane => format!("Its lane is paused; {} waits in it.", facts.info.kind),
        TermKind::Assignment => format!("It is {detail}."),
        TermKind::Dependencies | TermKind::Deadline => format!("It {detail}."),
    }
}

/// Returns the event that ends this cause.
fn event(cause: TermKind) -> &'static str {
    match cause {
        TermKind::Hold => "an operator releases it",
        TermKind::Assignment => "that worker claims it, or its time ends",
        TermKind::Delay => "the delay ends",
        TermKind::Suspension => "a signal, a decision, or its timeout",
        TermKind::Workers => "a worker that takes it registers",
        TermKind::Turn => "the keys before its own are served",
        TermKind::Position => "those ahead of it are claimed",
        TermKind::LaneLimit => "an execution of its lane ends",
        TermKind::Requirements => "a worker with what it requires registers",
        TermKind::Quota => "the quota has room",
        TermKind::Singleton => "the execution before it ends",
        TermKind::Budget => "the budget is raised or reset",
        TermKind::Dependencies => "one of them ends",
        TermKind::Lane => "an operator resumes the lane",
        TermKind::Deadline => "its deadline",
    }
}
