//! One case for each reason an execution does not run, and for their combinations.

use super::fixture::*;
use super::*;
use crate::execution::{BlockDetail, Blocker, DelayReason, Execution, Phase};
use crate::lane::contracts::{Depth, LaneInfo, LanePlace};
use crate::lane::{LaneSettings, LaneState};
use crate::rule::samples::{at, running, waiting};
use crate::state::PublicState;
use crate::types::{LaneId, Namespace};
use crate::worker::Worker;

/// Each case expects the beginning of the summary, the beginning of the next event with its time, the terms that do not
/// pass, and the beginning of a suggested command. A `-` stands for none.
#[test]
fn every_reason_is_explained() {
    let delayed = |why| phase(waiting(), Phase::Delayed { until: at(500), why });
    let paused = || queue(|lane| lane.state = LaneState::Paused);
    let cases: Vec<(&str, Facts, &str)> = vec![
        ("ready", facts(waiting()), "It is ready | a worker claims it | - | ff cancel"),
        (
            "not the first",
            Facts { queue: QueueFacts { ahead: 3, ..QueueFacts::default() }, ..facts(waiting()) },
            "It waits for its turn: 3 of kind resize | those ahead | position waits | ff priority",
        ),
        (
            "far behind",
            Facts { queue: QueueFacts { ahead: AHEAD_MAX + 1, ..QueueFacts::default() }, ..facts(waiting()) },
            "It waits for its turn: over 1000 | those ahead | position waits | ff priority",
        ),
        (
            "in a lane that weighs age",
            Facts { queue: queue(|lane| lane.ageing_ms = Some(1)), ..facts(waiting()) },
            "It waits for its turn: its lane weighs | those ahead | position waits | ff priority",
        ),
        (
            "no worker",
            Facts { workers: vec![], ..facts(waiting()) },
            "No worker takes it: no worker is registered | a worker that takes it | workers blocks | ff worker --lane default --kind resize",
        ),
        (
            "no worker of its lane",
            Facts { workers: vec![worker("mail", "resize")], ..facts(waiting()) },
            "No worker takes it: no worker takes lane default; those there are take mail | a worker that takes it | workers blocks | ff worker",
        ),
        (
            "no worker of its kind",
            Facts { workers: vec![worker("default", "send")], ..facts(waiting()) },
            "No worker takes it: no worker takes kind resize; the one of lane default takes send | a worker that takes it | workers blocks | ff worker",
        ),
        (
            "no worker among those that were read",
            Facts { workers: vec![worker("default", "send")], more_workers: true, ..facts(waiting()) },
            "It is ready | a worker claims it | - | ff cancel",
        ),
        (
            "its lane is paused",
            Facts { queue: paused(), ..facts(waiting()) },
            "Its lane is paused | an operator resumes the lane | lane blocks | ff lanes resume default",
        ),
        (
            "behind another of its singleton key",
            facts(blocked(BlockDetail::Singleton { key: "report".into(), behind: waiting().id })),
            "It is queued: {fp: | the execution before it ends | singleton waits | ff explain '{fp:",
        ),
        (
            "its lane is full",
            full(facts(waiting())),
            "It waits for a slot: lane default runs 2 of at most 2 | an execution of its lane ends | lane_limit waits | ff lanes set default --concurrency 3",
        ),
        (
            "its lane is paused and no worker takes its kind",
            Facts { queue: paused(), workers: vec![], ..facts(waiting()) },
            "Its lane is paused; resize waits in it. Also: no worker is registered. | an operator resumes | lane blocks, workers blocks | ff worker",
        ),
        (
            "delayed",
            facts(delayed(DelayReason::Submitted)),
            "It is delayed: was submitted to start later. | the delay ends @500 | delay waits | ff cancel",
        ),
        (
            "delayed past its deadline",
            facts(with_deadline(delayed(DelayReason::Submitted), at(400))),
            "It is delayed | its deadline @400 | delay waits | ff cancel",
        ),
        (
            "retried",
            facts(retried()),
            "It is delayed: attempt 1 failed (network: no); retry 1 of 3. | the delay ends @900 | delay waits | ff cancel",
        ),
        (
            "put off by its worker",
            facts(Execution { attempts_made: 1, ..delayed(DelayReason::Holder) }),
            "It is delayed: its worker delayed it. | the delay ends @500 | delay waits | ff cancel",
        ),
        (
            "resumed later",
            facts(delayed(DelayReason::Resume)),
            "It is delayed: its resume delay has not passed | the delay ends @500 | delay waits | ff cancel",
        ),
        (
            "held",
            facts(with_hold(phase(waiting(), Phase::Blocked { on: Blocker::Operator, until: None }))),
            "An operator holds it (held by ada: bad images). | an operator releases it | hold blocks | ff release '",
        ),
        (
            "delayed and held",
            facts(with_hold(delayed(DelayReason::Submitted))),
            "It is delayed: was submitted to start later. Also: held by ada: bad images. | the delay ends @500 | delay waits, hold blocks | ff release '",
        ),
        (
            "no capable worker",
            requiring(blocked(BlockDetail::Route { class: "gpu".into() })),
            "No worker can run it: no worker has gpu: w-1 lacks gpu. | a worker with what it requires | requirements blocks | ff worker --lane default --kind resize --capability gpu",
        ),
        (
            "no capable worker, and not blocked yet",
            requiring(waiting()),
            "No worker can run it: no worker has gpu | a worker with what it requires | requirements blocks | ff worker --lane default --kind resize --capability gpu",
        ),
        (
            "a capable worker",
            Facts { workers: vec![capable()], ..requiring(waiting()) },
            "It is ready | a worker claims it | - | ff cancel",
        ),
        (
            "over a quota",
            facts(blocked(quota())),
            "It is over a limit: quota api for acme: 2 of 2 used. | the quota has room @700 | quota waits | ff quotas show api",
        ),
        (
            "over a budget",
            facts(blocked(BlockDetail::Budget { name: "b".into(), dimension: "tokens".into(), retry_at: None })),
            "It is over a limit: budget b: no tokens left. | the budget is raised | budget blocks | ff budgets show b",
        ),
        (
            "over a quota in a paused lane",
            Facts { queue: paused(), ..facts(blocked(quota())) },
            "It is over a limit: quota api for acme: 2 of 2 used. Also: lane default is paused. | the quota has room @700 | quota waits, lane blocks | ff lanes resume",
        ),
        (
            "in a flow",
            Facts {
                upstreams: vec![upstream(PublicState::Active)],
                ..facts(phase(waiting(), Phase::Blocked { on: Blocker::Dependencies, until: None }))
            },
            "It waits for its upstreams:  | one of them ends | dependencies waits | ff explain '",
        ),
        (
            "suspended",
            facts(suspended()),
            "It is suspended: waiting for signal at waitpoint a; no signal has counted yet | a signal, a decision | suspension waits | ff resume '",
        ),
        (
            "running",
            facts(running()),
            "It is running: w-1 works on attempt 1. | its worker completes @30000 | - | ff revoke '",
        ),
        (
            "running and held",
            facts(with_hold(running())),
            "It is running: w-1 works on attempt 1. An operator holds it | its worker completes @30000 | hold blocks | ff release '",
        ),
        ("completed", facts(completed()), "It has ended: it is completed. | - | - | ff result '"),
        ("cancelled", facts(cancelled()), "It has ended: it is cancelled. | - | - | ff replay '"),
    ];
    for (case, facts, expected) in cases {
        let explained = explain(&facts, at(100));
        let [summary, event, keeps, helps] = expected.split(" | ").collect::<Vec<_>>()[..] else { panic!("{case}") };
        assert!(explained.summary.starts_with(summary), "{case}: {}", explained.summary);
        let next = explained.next.map_or(("-".to_owned(), None), |next| (next.event, next.at));
        let (start, ms) = event.split_once(" @").map_or((event, None), |(start, ms)| (start, ms.parse().ok()));
        assert!(next.0.starts_with(start) && next.1 == ms.map(at), "{case}: {next:?}");
        let kept = explained.terms.iter().filter(|term| term.verdict != Verdict::Passes);
        let kept: Vec<_> = kept.map(|term| format!("{} {}", term.term, term.verdict)).collect();
        assert_eq!(if kept.is_empty() { "-".to_owned() } else { kept.join(", ") }, keeps, "{case}");
        let commands: Vec<_> = explained.actions.iter().map(|action| action.command.as_str()).collect();
        assert!(commands.iter().any(|command| command.starts_with(helps)), "{case}: {commands:?}");
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
    let explained = |settings: LaneSettings, depths: &[(LanePlace, u64)], workers: &[Worker]| {
        let depths = depths.iter().map(|(place, count)| (*place, Depth { count: *count, first_at: None })).collect();
        let (namespace, lane_id) = (Namespace::default_name(), LaneId::default_name());
        explain_lane(LaneInfo { namespace, lane_id, settings, depths }, workers)
    };
    let (paused, one) =
        (LaneSettings { state: LaneState::Paused, ..LaneSettings::default() }, [worker("default", "resize")]);
    let limited = LaneSettings { concurrency: Some(2), ..LaneSettings::default() };
    let (waiting, active, held) = (LanePlace::Waiting, LanePlace::Active, LanePlace::BlockedByOperator);
    for (lane, summary, cause, helps) in [
        (explained(LaneSettings::default(), &[], &one), "Nothing waits in lane default, and nothing", None, None),
        (explained(LaneSettings::default(), &[(active, 2)], &one), "Nothing waits in lane default; 2 run", None, None),
        (
            explained(paused.clone(), &[(waiting, 2_501)], &one),
            "Over 2500 of lane default do not run, because the lane is paused",
            Some("lane"),
            Some("ff lanes resume default"),
        ),
        (
            explained(paused.clone(), &[(waiting, 5)], &one),
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
