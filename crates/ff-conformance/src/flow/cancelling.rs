//! Once a flow's cancellation is acknowledged, members start only if the policy allows it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::future::join_all;

use crate::lease::control::{control_when, lost};
use crate::prelude::*;

pub(crate) async fn cancel_all_cancels_every_member_wherever_it_stands(world: World) {
    let (flow, started) = busy(&world).await;
    let answer = flow.cancel(CancelPolicy::CancelAll).await.unwrap();
    let expected = FlowCancelled { policy: CancelPolicy::CancelAll, already: false, cancelled: 6, scheduled: 0 };
    assert_eq!(answer, expected);
    assert_eq!(flow.counts().await, [("cancelled", 6), ("completed", 1)]);
    assert_eq!((flow.stands().await, flow.info().await.ended_at), ("cancelled", Some(world.clock.now())));
    assert_eq!(world.ended(&flow.member("running")).await.by, FinishedBy::FlowCancel);
    assert_refused!(started["running"].complete(b"late").await, "execution_not_active");
    world.clock.advance(ms(60_000)).await;
    assert!(flow.start().await.is_empty());
    let events = flow.flow_events().await;
    let ended = FlowEventKind::Ended { state: FlowState::Cancelled };
    assert_eq!(events[1..], [FlowEventKind::Cancelled { policy: CancelPolicy::CancelAll }, ended]);
}

pub(crate) async fn holders_in_a_cancelled_flow_are_notified(world: World) {
    let flow = world.graph("a").submit().await;
    let worker = world.worker("hand");
    let held = flow.start_one().await;
    let control = control_when(&worker, async || flow.cancel(CancelPolicy::CancelAll).await.unwrap()).await;
    assert_eq!(control.lost, [lost(&held, LeaseEnding::Cancelled)]);
}

pub(crate) async fn cancel_pending_lets_go_on_what_has_started(world: World) {
    let (flow, started) = busy(&world).await;
    flow.cancel(CancelPolicy::CancelPending).await.unwrap();
    let all = "done running suspended retried delayed blocked below";
    let states = ["completed", "active", "suspended", "delayed", "cancelled", "cancelled", "cancelled"];
    assert_eq!(flow.states(all).await, states);
    assert_eq!((flow.stands().await, flow.info().await.ended_at), ("cancelled", None));
    started["running"].complete(b"done").await.unwrap();
    world.clock.advance(ms(1_000)).await;
    flow.start_one().await.complete(b"at the second try").await.unwrap();
    assert_eq!(flow.info().await.ended_at, None, "one is still suspended");
    world.cancel(&flow.member("suspended")).await.unwrap();
    assert_eq!((flow.stands().await, flow.info().await.ended_at), ("cancelled", Some(world.clock.now())));
}

pub(crate) async fn let_active_finish_lets_attempts_end_and_nothing_else_start(world: World) {
    let (flow, started) = busy(&world).await;
    flow.cancel(CancelPolicy::LetActiveFinish).await.unwrap();
    let all = "done running suspended retried delayed blocked below";
    let states = ["completed", "active", "suspended", "cancelled", "cancelled", "cancelled", "cancelled"];
    assert_eq!(flow.states(all).await, states);
    started["running"].fail("network").await.unwrap();
    assert_eq!(flow.state("running").await, "cancelled", "there is no other try");
    world.decide(&flow.member("suspended"), OperatorDecision::Approve).await.unwrap();
    let resumed = flow.start_one().await;
    assert_eq!(resumed.node(), "suspended", "its attempt is under way");
    resumed.complete(b"done").await.unwrap();
    assert_eq!(flow.info().await.ended_at, Some(world.clock.now()));
}

pub(crate) async fn flow_only_stops_growth_and_nothing_else(world: World) {
    let flow = world.graph("a>b").submit().await;
    flow.cancel(CancelPolicy::FlowOnly).await.unwrap();
    assert_eq!((flow.stands().await, flow.info().await.ended_at), ("cancelled", Some(world.clock.now())));
    assert_refused!(world.backend.grow_flow(flow.growth(&["c"], &[])).await, "flow_already_terminal");
    assert_eq!(flow.run().await, [["a"], ["b"]]);
    assert_eq!((flow.stands().await, flow.counts().await), ("cancelled", vec![("completed", 2)]));
}

pub(crate) async fn a_cancellation_keeps_its_reason(world: World) {
    let flow = world.graph("a").submit().await;
    let args = CancelFlowArgs {
        flow_id: flow.id,
        policy: CancelPolicy::CancelAll,
        reason: Some("too late".into()),
        requested_by: Some("ada".into()),
    };
    world.backend.cancel_flow(args.clone()).await.unwrap();
    let record = flow.info().await.cancel.unwrap();
    assert_eq!(
        (record.policy, record.at, record.reason, record.requested_by),
        (args.policy, world.clock.now(), args.reason.clone(), args.requested_by.clone())
    );
    let long = CancelFlowArgs { reason: Some("r".repeat(8 * 1024 + 1)), ..args };
    assert_refused!(world.backend.cancel_flow(long).await, "limit_exceeded", "reason", 8_192, 8_193);
}

pub(crate) async fn cancelling_twice_is_cancelling_once(world: World) {
    let flow = world.graph("a>b c").submit().await;
    flow.start().await;
    let first = flow.cancel(CancelPolicy::LetActiveFinish).await.unwrap();
    assert_eq!((first.already, first.cancelled), (false, 1));
    let before = world.contents().await;
    for policy in [CancelPolicy::LetActiveFinish, CancelPolicy::CancelPending, CancelPolicy::FlowOnly] {
        let again = flow.cancel(policy).await.unwrap();
        let expected =
            FlowCancelled { policy: CancelPolicy::LetActiveFinish, already: true, cancelled: 0, scheduled: 0 };
        assert_eq!(again, expected, "the first policy stands");
    }
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn cancel_all_after_cancel_pending_cancels_the_active_members(world: World) {
    let flow = world.graph("a b>c").submit().await;
    let started = flow.start().await;
    flow.cancel(CancelPolicy::CancelPending).await.unwrap();
    assert_eq!(flow.states("a b c").await, ["active", "active", "cancelled"]);
    let harder = flow.cancel(CancelPolicy::CancelAll).await.unwrap();
    assert_eq!((harder.policy, harder.cancelled), (CancelPolicy::CancelAll, 2));
    assert_eq!(flow.states("a b c").await, ["cancelled"; 3]);
    assert_refused!(started["a"].renew().await, "execution_not_active");
    assert!(flow.cancel(CancelPolicy::CancelAll).await.unwrap().already);
}

pub(crate) async fn a_flow_that_has_ended_or_never_was_cannot_be_cancelled(world: World) {
    let flow = world.graph("a").submit().await;
    flow.run().await;
    assert_refused!(world.writes_nothing(flow.cancel(CancelPolicy::CancelAll)).await, "flow_already_terminal");
    let unknown =
        CancelFlowArgs { flow_id: FlowId::new(), policy: CancelPolicy::CancelAll, reason: None, requested_by: None };
    assert_refused!(world.backend.cancel_flow(unknown).await, "flow_not_found");
}

pub(crate) async fn a_flow_that_is_held_open_ends_by_being_cancelled(world: World) {
    let flow = world.held_open().await;
    flow.grow(&["a"], &[]).await;
    flow.run().await;
    flow.cancel(CancelPolicy::CancelPending).await.unwrap();
    assert_eq!((flow.stands().await, flow.info().await.ended_at), ("cancelled", Some(world.clock.now())));
    assert_eq!(flow.close().await.state, FlowState::Cancelled);
}

pub(crate) async fn nothing_of_a_large_cancelled_flow_starts_before_it_was_come_to(world: World) {
    let names: Vec<_> = (0..400).map(|nth| format!("n{nth}")).collect();
    let flow = world.graph(&names.join(" ")).submit().await;
    let answer = flow.cancel(CancelPolicy::CancelAll).await.unwrap();
    assert_eq!(answer.cancelled + answer.scheduled, 400);
    assert!(answer.scheduled > 0, "a step is bounded");
    let worker = world.worker("hand");
    for _ in 0..10 {
        assert!(worker.claim_on(flow.partition(), 50).await.is_empty());
    }
    flow.settle().await;
    assert_eq!((flow.counts().await, flow.stands().await), (vec![("cancelled", 400)], "cancelled"));
    assert_eq!(flow.cancel(CancelPolicy::CancelAll).await.unwrap().scheduled, 0);
    assert_eq!(flow.moves_of("n7").await, ["waiting", "cancelled"]);
}

pub(crate) async fn a_large_flow_can_be_cancelled_before_it_is_opened(world: World) {
    let names: Vec<_> = (0..450).map(|nth| format!("n{nth}")).collect();
    let graph = world.graph(&names.join(" "));
    let id = graph.clone().args().header.flow_id;
    graph.try_submit().await.unwrap();
    let args = CancelFlowArgs { flow_id: id, policy: CancelPolicy::CancelPending, reason: None, requested_by: None };
    world.backend.cancel_flow(args).await.unwrap();
    assert!(world.worker("hand").claim_up_to(1_000).await.is_empty());
    world.clock.fire_due().await;
    assert!(world.worker("hand").claim_up_to(1_000).await.is_empty());
    let info = world.backend.describe_flow(&id).await.unwrap();
    assert_eq!((info.state, info.counts.live()), (FlowState::Cancelled, 0));
}

pub(crate) async fn a_claim_that_is_full_leaves_the_next_member_alone(world: World) {
    let names: Vec<_> = (0..limits::FLOW_STEP + 10).map(|nth| format!("n{nth}")).collect();
    let flow = world.graph(&names.join(" ")).submit().await;
    let first = world.job("hand").on_partition(flow.partition()).priority(9).submit().await;
    flow.cancel(CancelPolicy::CancelAll).await.unwrap();
    let cancelled = flow.counts().await;
    let held = world.worker("hand").claim_on(flow.partition(), 1).await;
    assert_eq!(held[0].task.execution_id, first);
    assert_eq!(flow.counts().await, cancelled, "a claim ends the members it meets, and it is full before the first");
}

pub(crate) async fn no_member_starts_after_the_acknowledgement_however_many_ask(world: World) {
    let names: Vec<_> = (0..300).map(|nth| format!("n{nth}>m{nth}")).collect();
    let flow = world.graph(&names.join(" ")).submit().await;
    let (acknowledged, claimed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let hammering: Vec<_> = (0..4)
        .map(|nth| tokio::spawn(hammer(world.clone(), flow.clone(), nth, acknowledged.clone(), claimed.clone())))
        .collect();
    while claimed.load(Ordering::SeqCst) < 20 {
        tokio::task::yield_now().await;
    }
    flow.cancel(CancelPolicy::CancelAll).await.unwrap();
    acknowledged.store(true, Ordering::SeqCst);
    join_all(hammering).await.into_iter().for_each(|done| done.unwrap());
    flow.settle().await;
    let info = flow.info().await;
    assert_eq!((info.state, info.counts.live()), (FlowState::Cancelled, 0));
    assert_eq!(info.counts.all(), 600);
    assert!(flow.start().await.is_empty());
}

/// Claims members and completes only the first ones, so that the flow cannot end before it is cancelled. Checks that a claim gets
/// nothing once the cancellation is acknowledged.
async fn hammer(world: World, flow: Flow, nth: usize, acknowledged: Arc<AtomicBool>, claimed: Arc<AtomicUsize>) {
    let worker = world.worker(&format!("hammer-{nth}"));
    let mut late = 0;
    while late < 5 {
        let too_late = acknowledged.load(Ordering::SeqCst);
        let held = worker.claim_on(flow.partition(), 3).await;
        assert!(!too_late || held.is_empty(), "something started after the acknowledgement");
        let before = claimed.fetch_add(held.len(), Ordering::SeqCst);
        // A store in memory answers without waiting, and the other tasks must get their turn.
        tokio::task::yield_now().await;
        for held in held.into_iter().filter(|_| before < 300) {
            if held.complete_with(None).await.is_err() {
                assert!(flow.info().await.cancel.is_some(), "only a cancellation comes in between");
            }
        }
        late += usize::from(too_late);
    }
}

/// Returns a flow with one completed member and a member in every live state, and the leases of the members that started.
async fn busy(world: &World) -> (Flow, BTreeMap<String, LeasedExecution>) {
    let retried = |node: &mut NodeSpec| {
        node.policy.retry_policy.max_retries = 1;
        node.policy.retry_policy.backoff = Backoff::Fixed { delay_ms: 1_000, jitter: false };
    };
    let graph: Graph = world.graph("done running suspended retried delayed running>blocked>below");
    let graph = graph.with("retried", retried).with("running", retried);
    let flow = graph.with("delayed", |node| node.start = Start::After(30_000)).submit().await;
    let started = flow.start().await;
    started["done"].complete(b"done").await.unwrap();
    started["suspended"].wait_on("approval").await;
    started["retried"].fail("network").await.unwrap();
    (flow, started)
}
