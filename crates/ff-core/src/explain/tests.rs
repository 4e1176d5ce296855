//! One case for each reason an execution does not run, and for their combinations.

use super::*;
use crate::execution::contracts::{CancelArgs, ExecutionInfo};
use crate::execution::{
    AttemptSlot, BlockDetail, Blocker, DelayReason, Execution, Failure, Hold, Origin, Phase, cancel, complete,
};
use crate::fixture::ExecutionFixture;
use crate::lane::contracts::{Depth, LaneInfo, LaneStanding};
use crate::lane::{LaneSettings, LaneState};
use crate::samples::{at, held, running, waiting, work};
use crate::state::PublicState;
use crate::types::{Kind, LaneId, Namespace, QuotaPolicyId, WorkerId, WorkerInstanceId};
use crate::worker::Worker;

/// What is said of one situation: how it begins, what changes it and when, the terms that keep it back, and a command that helps.
struct Said {
    summary: &'static str,
    next: Option<(&'static str, Option<u64>)>,
    keeps: &'static [(&'static str, &'static str)],
    helps: &'static str,
}

#[test]
fn every_reason_is_explained() {
    let cases: Vec<(&str, Facts, Said)> = vec![
        ("ready", facts(waiting()), said("It is ready", ("a worker claims it", None), &[], "ff cancel")),
        (
            "not the first",
            Facts { queue: QueueFacts { ahead: 3, ..QueueFacts::default() }, ..facts(waiting()) },
            said(
                "It waits for its turn: 3 of kind resize",
                ("those ahead", None),
                &[("position", "waits")],
                "ff priority",
            ),
        ),
        (
            "far behind",
            Facts { queue: QueueFacts { ahead: AHEAD_MAX + 1, ..QueueFacts::default() }, ..facts(waiting()) },
            said("It waits for its turn: over 1000", ("those ahead", None), &[("position", "waits")], "ff priority"),
        ),
        (
            "in a lane that weighs age",
            Facts { queue: queue(|lane| lane.ageing_ms = Some(1)), ..facts(waiting()) },
            said(
                "It waits for its turn: its lane weighs",
                ("those ahead", None),
                &[("position", "waits")],
                "ff priority",
            ),
        ),
        (
            "no worker",
            Facts { workers: vec![], ..facts(waiting()) },
            said(
                "No worker takes it: no worker is registered",
                ("a worker that takes it", None),
                &[("workers", "blocks")],
                "ff worker --lane default --kind resize",
            ),
        ),
        (
            "no worker of its lane",
            Facts { workers: vec![worker("mail", "resize")], ..facts(waiting()) },
            said(
                "No worker takes it: no worker takes lane default; those there are take mail",
                ("a worker that takes it", None),
                &[("workers", "blocks")],
                "ff worker",
            ),
        ),
        (
            "no worker of its kind",
            Facts { workers: vec![worker("default", "send")], ..facts(waiting()) },
            said(
                "No worker takes it: no worker takes kind resize; the one of lane default takes send",
                ("a worker that takes it", None),
                &[("workers", "blocks")],
                "ff worker",
            ),
        ),
        (
            "its lane is paused",
            Facts { queue: queue(|lane| lane.state = LaneState::Paused), ..facts(waiting()) },
            said(
                "Its lane is paused",
                ("an operator resumes the lane", None),
                &[("lane", "blocks")],
                "ff lanes resume default",
            ),
        ),
        (
            "its lane is full",
            full(facts(waiting())),
            said(
                "It waits for a slot: lane default runs 2 of at most 2",
                ("an execution of its lane ends", None),
                &[("lane_limit", "waits")],
                "ff lanes set default --concurrency 3",
            ),
        ),
        (
            "its lane is paused and no worker takes its kind",
            Facts { queue: queue(|lane| lane.state = LaneState::Paused), workers: vec![], ..facts(waiting()) },
            said(
                "Its lane is paused; resize waits in it. Besides: no worker is registered.",
                ("an operator resumes", None),
                &[("lane", "blocks"), ("workers", "blocks")],
                "ff worker",
            ),
        ),
        (
            "delayed",
            facts(phase(waiting(), Phase::Delayed { until: at(500), why: DelayReason::Submitted })),
            said(
                "It is delayed: was submitted to start later.",
                ("the delay ends", Some(500)),
                &[("delay", "waits")],
                "ff cancel",
            ),
        ),
        (
            "delayed past its deadline",
            facts(Execution {
                deadline_at: Some(at(400)),
                ..phase(waiting(), Phase::Delayed { until: at(500), why: DelayReason::Submitted })
            }),
            said("It is delayed", ("its deadline", Some(400)), &[("delay", "waits")], "ff cancel"),
        ),
        (
            "retried",
            facts(retried()),
            said(
                "It is delayed: attempt 1 failed (network: no); retry 1 of 3.",
                ("the delay ends", Some(900)),
                &[("delay", "waits")],
                "ff cancel",
            ),
        ),
        (
            "put off by its worker",
            facts(Execution {
                attempts_made: 1,
                ..phase(waiting(), Phase::Delayed { until: at(500), why: DelayReason::Holder })
            }),
            said(
                "It is delayed: its worker put it off.",
                ("the delay ends", Some(500)),
                &[("delay", "waits")],
                "ff cancel",
            ),
        ),
        (
            "resumed later",
            facts(phase(waiting(), Phase::Delayed { until: at(500), why: DelayReason::Resume })),
            said(
                "It is delayed: goes on a while after",
                ("the delay ends", Some(500)),
                &[("delay", "waits")],
                "ff cancel",
            ),
        ),
        (
            "held",
            facts(with_hold(phase(waiting(), Phase::Blocked { on: Blocker::Operator, until: None }))),
            said(
                "An operator holds it (held by ada: bad images).",
                ("an operator releases it", None),
                &[("hold", "blocks")],
                "ff release '",
            ),
        ),
        (
            "delayed and held",
            facts(with_hold(phase(waiting(), Phase::Delayed { until: at(500), why: DelayReason::Submitted }))),
            said(
                "It is delayed: was submitted to start later. Besides: held by ada: bad images.",
                ("the delay ends", Some(500)),
                &[("delay", "waits"), ("hold", "blocks")],
                "ff release '",
            ),
        ),
        (
            "no capable worker",
            facts(blocked(BlockDetail::Route { class: "gpu".into() })),
            said(
                "No worker can run it: no connected worker has gpu.",
                ("a worker with what it requires", None),
                &[("requirements", "blocks")],
                "ff cancel",
            ),
        ),
        (
            "over a quota",
            facts(blocked(quota())),
            said(
                "It is over a limit: quota api for acme: 2 of 2 used.",
                ("the quota has room", Some(700)),
                &[("quota", "waits")],
                "ff cancel",
            ),
        ),
        (
            "over a budget",
            facts(blocked(BlockDetail::Budget { name: "b".into(), dimension: "tokens".into(), retry_at: None })),
            said(
                "It is over a limit: budget b: no tokens left.",
                ("the budget is raised", None),
                &[("budget", "blocks")],
                "ff cancel",
            ),
        ),
        (
            "over a quota in a paused lane",
            Facts { queue: queue(|lane| lane.state = LaneState::Paused), ..facts(blocked(quota())) },
            said(
                "It is over a limit: quota api for acme: 2 of 2 used. Besides: lane default is paused.",
                ("the quota has room", Some(700)),
                &[("quota", "waits"), ("lane", "blocks")],
                "ff lanes resume",
            ),
        ),
        (
            "in a flow",
            Facts {
                upstreams: vec![upstream(PublicState::Active)],
                ..facts(phase(waiting(), Phase::Blocked { on: Blocker::Dependencies, until: None }))
            },
            said(
                "It waits for its upstreams: ",
                ("one of them ends", None),
                &[("dependencies", "waits")],
                "ff explain '",
            ),
        ),
        (
            "suspended",
            facts(suspended()),
            said(
                "It is suspended: waiting for signal at waitpoint a; no signal has counted yet",
                ("a signal, a decision", None),
                &[("suspension", "waits")],
                "ff resume '",
            ),
        ),
        (
            "running",
            facts(running()),
            said("It is running: w-1 works on attempt 1.", ("its worker completes", Some(30_000)), &[], "ff revoke '"),
        ),
        (
            "running and held",
            facts(with_hold(running())),
            said(
                "It is running: w-1 works on attempt 1. An operator holds it",
                ("its worker completes", Some(30_000)),
                &[("hold", "blocks")],
                "ff release '",
            ),
        ),
        (
            "completed",
            facts(completed()),
            Said { summary: "It has ended: it is completed.", next: None, keeps: &[], helps: "ff result '" },
        ),
        (
            "cancelled",
            facts(cancelled()),
            Said { summary: "It has ended: it is cancelled.", next: None, keeps: &[], helps: "ff replay '" },
        ),
    ];
    for (case, facts, said) in cases {
        let explained = explain(&facts, at(100));
        assert!(explained.summary.starts_with(said.summary), "{case}: {}", explained.summary);
        let next = explained.next.as_ref().map(|next| (next.event.as_str(), next.at));
        match (next, said.next) {
            (Some((event, moment)), Some((expected, ms))) => {
                assert!(event.starts_with(expected), "{case}: {event}");
                assert_eq!(moment, ms.map(at), "{case}");
            }
            (next, expected) => assert_eq!(next.is_some(), expected.is_some(), "{case}: {next:?}"),
        }
        let keeps = explained.terms.iter().filter(|term| term.verdict != Verdict::Passes);
        let keeps: Vec<_> = keeps.map(|term| (term.term.as_str(), term.verdict.as_str())).collect();
        assert_eq!(keeps, said.keeps, "{case}");
        assert!(
            explained.actions.iter().any(|action| action.command.starts_with(said.helps)),
            "{case}: {:?}",
            explained.actions
        );
    }
}

#[test]
fn a_command_names_the_namespace_where_it_must() {
    let mut facts = facts(waiting());
    facts.info.namespace = Namespace::parse("acme").unwrap();
    let actions = explain(&facts, at(1)).actions;
    assert!(actions.iter().all(|action| action.command.ends_with(" --namespace acme")), "{actions:?}");
}

#[test]
fn a_lane_is_explained_by_what_keeps_most_of_it_back() {
    let explained = |settings: LaneSettings, depths: &[(LaneStanding, u64)], workers: &[Worker]| {
        let depths =
            depths.iter().map(|(standing, count)| (*standing, Depth { count: *count, first_at: None })).collect();
        let (namespace, lane_id) = (Namespace::default_name(), LaneId::default_name());
        explain_lane(LaneInfo { namespace, lane_id, settings, depths }, workers)
    };
    let (paused, one) =
        (LaneSettings { state: LaneState::Paused, ..LaneSettings::default() }, [worker("default", "resize")]);
    let limited = LaneSettings { concurrency: Some(2), ..LaneSettings::default() };
    let (waiting, active, held) = (LaneStanding::Waiting, LaneStanding::Active, LaneStanding::BlockedByOperator);
    for (lane, summary, cause, helps) in [
        (explained(LaneSettings::default(), &[], &one), "Nothing waits in lane default, and nothing", None, None),
        (explained(LaneSettings::default(), &[(active, 2)], &one), "Nothing waits in lane default; 2 run", None, None),
        (
            explained(paused, &[(waiting, 5)], &one),
            "5 of lane default do not run, because the lane is paused",
            Some("lane"),
            Some("ff lanes resume default"),
        ),
        (
            explained(limited, &[(waiting, 5), (active, 2)], &one),
            "5 of lane default do not run, because the lane runs 2",
            Some("lane_limit"),
            Some("ff lanes set default --concurrency 3"),
        ),
        (
            explained(LaneSettings::default(), &[(waiting, 5)], &[]),
            "5 of lane default do not run, because no registered",
            Some("workers"),
            Some("ff worker"),
        ),
        (
            explained(LaneSettings::default(), &[(waiting, 5)], &one),
            "5 of lane default do not run, because they wait for one of 1",
            Some("position"),
            None,
        ),
        (
            explained(paused, &[(waiting, 5), (held, 7)], &one),
            "7 of lane default do not run, because operators hold them",
            Some("hold"),
            Some("ff release --filter lane=default"),
        ),
    ] {
        assert!(lane.summary.starts_with(summary), "{}", lane.summary);
        assert_eq!(lane.causes.first().map(|cause| cause.term.as_str()), cause, "{summary}");
        let first = lane.actions.first().map(|action| action.command.as_str());
        assert!(helps.is_none_or(|helps| first.is_some_and(|command| command.starts_with(helps))), "{first:?}");
    }
}

fn said(
    summary: &'static str,
    next: (&'static str, Option<u64>),
    keeps: &'static [(&'static str, &'static str)],
    helps: &'static str,
) -> Said {
    Said { summary, next: Some(next), keeps, helps }
}

/// An execution with one worker that takes it and nothing else in its way.
fn facts(execution: Execution) -> Facts {
    let info: ExecutionInfo = execution.info();
    let workers = vec![worker("default", "resize")];
    Facts { info, queue: QueueFacts::default(), workers, more_workers: false, upstreams: vec![], holders: vec![] }
}

fn queue(change: impl FnOnce(&mut LaneSettings)) -> QueueFacts {
    let mut facts = QueueFacts::default();
    change(&mut facts.settings);
    facts
}

fn full(facts: Facts) -> Facts {
    Facts { queue: QueueFacts { active: 2, ..queue(|lane| lane.concurrency = Some(2)) }, ..facts }
}

fn worker(lane: &str, kind: &str) -> Worker {
    Worker {
        worker_instance_id: WorkerInstanceId::parse("w-1").unwrap(),
        worker_id: WorkerId::parse("w").unwrap(),
        namespace: Namespace::default_name(),
        lanes: [LaneId::parse(lane).unwrap()].into(),
        kinds: [Kind::parse(kind).unwrap()].into(),
        capabilities: [].into(),
        registered_at: at(0),
        seen_at: at(0),
        ttl_ms: 30_000,
        partition: 0,
    }
}

fn upstream(public_state: PublicState) -> Upstream {
    Upstream { node: None, execution_id: running().id, public_state }
}

fn phase(execution: Execution, phase: Phase) -> Execution {
    Execution { phase, ..execution }
}

fn with_hold(execution: Execution) -> Execution {
    let hold = Hold { at: at(5), requested_by: Some("ada".into()), reason: Some("bad images".into()) };
    Execution { hold: Some(Box::new(hold)), ..execution }
}

fn quota() -> BlockDetail {
    let policy_id = QuotaPolicyId::from_uuid(uuid::Uuid::nil());
    BlockDetail::Quota { policy_id, name: "api".into(), key: "acme".into(), used: 2, limit: 2, retry_at: Some(at(700)) }
}

fn blocked(detail: BlockDetail) -> Execution {
    let phase = Phase::Blocked { on: detail.blocker(), until: detail.retry_at() };
    Execution { phase, blocked_by: Some(Box::new(detail)), ..waiting() }
}

fn retried() -> Execution {
    let failure = Failure { category: Kind::parse("network").unwrap(), message: "no".into(), permanent: false };
    let phase = Phase::Delayed { until: at(900), why: DelayReason::Backoff };
    let attempt = AttemptSlot::Next(Origin::Retry { of: crate::types::AttemptIndex(0) });
    Execution { phase, attempt, attempts_made: 1, retries: 1, failure: Some(failure), ..waiting() }
}

fn suspended() -> Execution {
    let mut fixture = ExecutionFixture::with(&work(), at(0));
    fixture.suspend("a", at(1));
    fixture.execution().clone()
}

fn completed() -> Execution {
    let args =
        crate::execution::contracts::CompleteArgs { execution_id: running().id, fence: held(&running()), result: None };
    complete(&running(), &args, at(5)).unwrap().after
}

fn cancelled() -> Execution {
    let args = CancelArgs { execution_id: waiting().id, reason: None, requested_by: None };
    cancel(&waiting(), &args, at(5)).unwrap().after
}
