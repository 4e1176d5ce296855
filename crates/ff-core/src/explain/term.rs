//! The terms: all conditions for running an execution, each evaluated by itself.

use std::collections::BTreeSet;

use super::facts::{AHEAD_MAX, Facts};
use super::{Term, TermKind, Verdict};
use crate::execution::BlockDetail;
use crate::execution::contracts::ExecutionInfo;
use crate::lane::LaneState;
use crate::state::{BlockingReason, PublicState};
use crate::types::{Capability, Kind, LaneId, RequirementClass, TimestampMs};
use crate::worker::Worker;

/// Maximum number of workers that are named with the capabilities they lack.
const NAMED_WORKERS: usize = 5;

/// Returns all terms that apply, in the order in which an execution meets them. A finished execution has none.
pub(super) fn all(facts: &Facts, now: TimestampMs) -> Vec<Term> {
    let info = &facts.info;
    if info.public_state.is_terminal() {
        return Vec::new();
    }
    let runs = info.public_state == PublicState::Active;
    let waits_for_worker = info.state.blocking_reason == BlockingReason::WaitingForWorker;
    // An assigned execution goes to its worker, regardless of kind and requirements.
    let is_assigned = info.state.blocking_reason == BlockingReason::WaitingForLocalityMatch;
    let fitting = [Some(workers(facts)), requirements(facts)].into_iter().filter(|_| !is_assigned);
    let queue = [lane(facts), lane_limit(facts)].into_iter().chain(fitting);
    let queue = queue.flatten().filter(|_| !runs);
    let before = [dependencies(facts), suspension(facts), delay(facts), hold(facts), admission(facts)];
    let position = [turn(facts), position(facts)].into_iter().flatten().filter(|_| waits_for_worker);
    before.into_iter().flatten().chain(queue).chain(position).chain(deadline(facts, now)).collect()
}

fn term(term: TermKind, verdict: Verdict, detail: impl Into<String>, until: Option<TimestampMs>) -> Term {
    Term { term, verdict, detail: detail.into(), until }
}

/// Returns the term of the upstreams or children that a member of a flow waits for.
fn dependencies(facts: &Facts) -> Option<Term> {
    if facts.info.public_state != PublicState::WaitingChildren {
        return None;
    }
    let named = facts.upstreams.iter().map(|upstream| match &upstream.node {
        Some(node) => format!("{node} ({})", upstream.public_state),
        None => format!("{} ({})", upstream.execution_id, upstream.public_state),
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let of = if facts.info.started_at.is_none() { "upstreams" } else { "children" };
    let detail = if named.is_empty() { format!("waits for its {of}") } else { format!("waits for its {of}: {named}") };
    Some(term(TermKind::Dependencies, Verdict::Waits, detail, None))
}

/// Returns the term of a suspension, with its reason, waitpoints, counted signals and timeout.
fn suspension(facts: &Facts) -> Option<Term> {
    let suspension = facts.info.suspension.as_ref()?;
    let waitpoints = suspension.waitpoints.iter().map(|waitpoint| waitpoint.key.as_str());
    let at = waitpoints.collect::<Vec<_>>().join(", ");
    let reason = suspension.reason.as_str().replace('_', " ");
    let counted = match suspension.signals_counted {
        0 => "no signal has counted yet".to_owned(),
        1 => "1 signal has counted".to_owned(),
        several => format!("{several} signals have counted"),
    };
    let timeout = match (suspension.escalated_at, suspension.timeout_at) {
        (Some(_), _) => "; it timed out and was escalated to an operator".to_owned(),
        (None, Some(_)) => format!("; when nothing ends it in time: {}", suspension.timeout_behavior),
        (None, None) => "; it has no timeout".to_owned(),
    };
    let verdict = if suspension.escalated_at.is_some() { Verdict::Blocks } else { Verdict::Waits };
    let detail = format!("{reason} at waitpoint {at}; {counted}{timeout}");
    Some(term(TermKind::Suspension, verdict, detail, suspension.timeout_at))
}

/// Returns the term of a delay, with its reason.
fn delay(facts: &Facts) -> Option<Term> {
    let info = &facts.info;
    let until = info.delayed_until.filter(|_| info.public_state == PublicState::Delayed)?;
    let detail = match info.state.blocking_reason {
        BlockingReason::WaitingForRetryBackoff => {
            let failure = info.failure.as_ref();
            let failure =
                failure.map_or(String::new(), |failure| format!(" ({}: {})", failure.category, failure.message));
            let allowed = info.policy.retry_policy.max_retries;
            format!("attempt {} failed{failure}; retry {} of {allowed}", info.attempts_made, info.retries)
        }
        BlockingReason::WaitingForResumeDelay => "its resume delay has not passed".into(),
        _ if info.attempts_made > 0 => "its worker delayed it".into(),
        _ if info.submission_key.as_ref().is_some_and(|key| !key.is_singleton()) => {
            "each submission under its debounce key moves its start".into()
        }
        _ => "was submitted to start later".into(),
    };
    Some(term(TermKind::Delay, Verdict::Waits, detail, Some(until)))
}

/// Returns the term of an operator's hold, which applies once the execution is ready.
fn hold(facts: &Facts) -> Option<Term> {
    let hold = facts.info.hold.as_deref()?;
    let by_whom = by_whom(hold.requested_by.as_deref(), hold.reason.as_deref());
    Some(term(TermKind::Hold, Verdict::Blocks, format!("held{by_whom}"), None))
}

fn by_whom(requested_by: Option<&str>, reason: Option<&str>) -> String {
    let by = requested_by.map_or(String::new(), |who| format!(" by {who}"));
    let why = reason.map_or(String::new(), |why| format!(": {why}"));
    by + &why
}

/// Returns the term of the blocker that admission has recorded.
fn admission(facts: &Facts) -> Option<Term> {
    let detail = facts.info.blocking_detail.as_deref()?;
    let until = detail.retry_at();
    Some(match detail {
        // Requirements have a term of their own, whether or not the execution is already blocked.
        BlockDetail::Route { .. } if !requires_nothing(facts) => return None,
        BlockDetail::Route { class } => {
            term(TermKind::Requirements, Verdict::Blocks, format!("no connected worker has {class}"), None)
        }
        BlockDetail::Quota { name, key, used, limit, .. } => {
            let of = if key.is_empty() { String::new() } else { format!(" for {key}") };
            term(TermKind::Quota, Verdict::Waits, format!("quota {name}{of}: {used} of {limit} used"), until)
        }
        BlockDetail::Singleton { key, behind } => {
            let detail = format!("{behind} of the singleton key {key} has to end first");
            term(TermKind::Singleton, Verdict::Waits, detail, None)
        }
        BlockDetail::Budget { name, dimension, .. } => {
            let verdict = if until.is_some() { Verdict::Waits } else { Verdict::Blocks };
            term(TermKind::Budget, verdict, format!("budget {name}: no {dimension} left"), until)
        }
        BlockDetail::Assignment(grant) => {
            let by_whom = by_whom(grant.requested_by.as_deref(), grant.reason.as_deref());
            let detail = format!("assigned to worker {}{by_whom}", grant.worker_instance_id);
            term(TermKind::Assignment, Verdict::Waits, detail, until)
        }
    })
}

/// Returns the term of its lane: whether the lane hands out work.
fn lane(facts: &Facts) -> Option<Term> {
    let lane = &facts.info.lane_id;
    let (verdict, is) = match facts.queue.settings.state {
        LaneState::Paused => (Verdict::Blocks, "paused"),
        LaneState::Draining => (Verdict::Passes, "draining: it accepts claims, but no submissions"),
        LaneState::Active => (Verdict::Passes, "active"),
    };
    Some(term(TermKind::Lane, verdict, format!("lane {lane} is {is}"), None))
}

/// Returns the term of its lane's limit: whether the lane may run one more execution.
fn lane_limit(facts: &Facts) -> Option<Term> {
    let limit = facts.queue.settings.concurrency?;
    let (lane, active) = (&facts.info.lane_id, facts.queue.active);
    let verdict = if active >= u64::from(limit) { Verdict::Waits } else { Verdict::Passes };
    Some(term(TermKind::LaneLimit, verdict, format!("lane {lane} runs {active} of at most {limit}"), None))
}

/// Returns the term of the workers: whether a registered worker takes its lane and kind.
fn workers(facts: &Facts) -> Term {
    let info = &facts.info;
    let takes_lane = |worker: &&Worker| worker.lanes.contains(&info.lane_id);
    let of_lane: Vec<_> = facts.workers.iter().filter(takes_lane).collect();
    let both = of_lane.iter().filter(|worker| takes(worker, info)).count();
    let (lane, kind) = (&info.lane_id, &info.kind);
    let they_take =
        |count: usize| if count == 1 { "1 worker takes".to_owned() } else { format!("{count} workers take") };
    if both > 0 {
        let more = if facts.more_workers { "at least " } else { "" };
        let detail = format!("{more}{} kind {kind} from lane {lane}", they_take(both));
        return term(TermKind::Workers, Verdict::Passes, detail, None);
    }
    if facts.more_workers {
        let detail = format!(
            "none of the first {} workers takes kind {kind} from lane {lane}; there are more",
            facts.workers.len()
        );
        return term(TermKind::Workers, Verdict::Passes, detail, None);
    }
    let detail = match (of_lane.len(), facts.workers.len()) {
        (0, 0) => "no worker is registered".to_owned(),
        (0, _) => {
            let lanes = first_five(facts.workers.iter().flat_map(|worker| &worker.lanes).map(LaneId::as_str));
            format!("no worker takes lane {lane}; those there are take {lanes}")
        }
        (some, _) => {
            let kinds = first_five(of_lane.iter().flat_map(|worker| &worker.kinds).map(Kind::as_str));
            let those =
                if some == 1 { format!("the one of lane {lane} takes") } else { format!("those of lane {lane} take") };
            format!("no worker takes kind {kind}; {those} {kinds}")
        }
    };
    term(TermKind::Workers, Verdict::Blocks, detail, None)
}

fn first_five<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: BTreeSet<_> = names.collect();
    names.into_iter().take(5).collect::<Vec<_>>().join(", ")
}

/// Returns the term of its requirements: whether a worker that takes its lane and kind meets them. If none does, the term names
/// the capabilities that the workers lack.
fn requirements(facts: &Facts) -> Option<Term> {
    let info = &facts.info;
    let required = &info.policy.routing_requirements.required_capabilities;
    if requires_nothing(facts) {
        return None;
    }
    let class = RequirementClass::of(required);
    let takers: Vec<_> = facts.workers.iter().filter(|worker| takes(worker, info)).collect();
    let able = takers.iter().filter(|worker| class.is_met_by(&worker.capabilities)).count();
    if able > 0 {
        let detail = if able == 1 { format!("1 of them has {class}") } else { format!("{able} of them have {class}") };
        return Some(term(TermKind::Requirements, Verdict::Passes, detail, None));
    }
    let lacks = takers.iter().take(NAMED_WORKERS).map(|worker| {
        let lacked: Vec<_> = required.difference(&worker.capabilities).map(Capability::as_str).collect();
        format!("{} lacks {}", worker.worker_instance_id, lacked.join(" and "))
    });
    let lacks = lacks.collect::<Vec<_>>().join("; ");
    let detail =
        if lacks.is_empty() { format!("it requires {class}") } else { format!("no worker has {class}: {lacks}") };
    Some(term(TermKind::Requirements, Verdict::Blocks, detail, None))
}

fn requires_nothing(facts: &Facts) -> bool {
    facts.info.policy.routing_requirements.required_capabilities.is_empty()
}

fn takes(worker: &Worker, info: &ExecutionInfo) -> bool {
    worker.lanes.contains(&info.lane_id) && (worker.kinds.is_empty() || worker.kinds.contains(&info.kind))
}

/// Returns the term of its key's turn, in a lane that serves keys in turn.
fn turn(facts: &Facts) -> Option<Term> {
    let (key, ahead) = (&facts.info.fair_key, facts.queue.keys_ahead?);
    let weight = facts.queue.settings.weight_of(key);
    let detail = match ahead {
        0 => format!("key {key} (weight {weight}) is the next to be served on its partition"),
        1 => format!("1 key is served before {key} (weight {weight}) on its partition"),
        over if over > AHEAD_MAX => {
            format!("over {AHEAD_MAX} keys are served before {key} (weight {weight}) on its partition")
        }
        ahead => format!("{ahead} keys are served before {key} (weight {weight}) on its partition"),
    };
    let verdict = if ahead == 0 { Verdict::Passes } else { Verdict::Waits };
    Some(term(TermKind::Turn, verdict, detail, None))
}

/// Returns the term of its position: the number of executions that are claimed before it. In a lane that serves keys in
/// turn, only executions of its key count. If the lane weighs age against priority, the number is unknown, because no
/// index has that order.
fn position(facts: &Facts) -> Option<Term> {
    if facts.queue.settings.ageing_ms.is_some() {
        return Some(term(TermKind::Position, Verdict::Waits, "its lane weighs age against priority", None));
    }
    let (kind, ahead) = (&facts.info.kind, facts.queue.ahead);
    let lane = match &facts.info.fair_key {
        none if none.is_empty() => facts.info.lane_id.to_string(),
        key => format!("{} under key {key}", facts.info.lane_id),
    };
    let detail = match ahead {
        0 => format!("is the next of kind {kind} in lane {lane}"),
        1 => format!("1 of kind {kind} is ahead of it in lane {lane}"),
        over if over > AHEAD_MAX => format!("over {AHEAD_MAX} of kind {kind} are ahead of it in lane {lane}"),
        ahead => format!("{ahead} of kind {kind} are ahead of it in lane {lane}"),
    };
    let verdict = if ahead == 0 { Verdict::Passes } else { Verdict::Waits };
    Some(term(TermKind::Position, verdict, detail, None))
}

/// Returns the term of its deadline.
fn deadline(facts: &Facts, now: TimestampMs) -> Option<Term> {
    let at = facts.info.deadline_at?;
    let verdict = if at <= now { Verdict::Blocks } else { Verdict::Passes };
    Some(term(TermKind::Deadline, verdict, "ends as expired then, in any state", Some(at)))
}

#[cfg(test)]
mod tests {
    use super::super::explain;
    use super::super::fixture::facts;
    use super::*;
    use crate::execution::{Blocker, Phase};
    use crate::lease::ClaimGrant;
    use crate::rule::samples::{at, waiting};

    #[test]
    fn an_assigned_execution_names_its_worker() {
        let mut execution = waiting();
        let until = Some(at(30_000));
        execution.phase = Phase::Blocked { on: Blocker::Assignment, until };
        let worker_instance_id = "w-7".parse().unwrap();
        let (granted_at, expires_at, requested_by) = (at(0), at(30_000), Some("ada".to_owned()));
        let grant = ClaimGrant { worker_instance_id, granted_at, expires_at, requested_by, reason: None };
        execution.blocked_by = Some(Box::new(BlockDetail::Assignment(grant)));
        let explained = explain(&Facts { workers: vec![], ..facts(execution) }, at(1));
        assert_eq!(explained.summary, "It is assigned to worker w-7 by ada.");
        assert_eq!(explained.next.unwrap().at, until);
        assert!(explained.actions[0].command.starts_with("ff unassign '"));
    }
}
