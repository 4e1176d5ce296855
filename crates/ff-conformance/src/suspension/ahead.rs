//! A waitpoint may be created ahead of the suspension, so that its token can be sent out. Early signals are kept.

use crate::prelude::*;
use crate::world::conditions::{all, any, count, key, named, signal};

pub(crate) async fn an_early_signal_is_kept_and_satisfies(world: World, held: LeasedExecution) {
    let ahead = held.ahead("approval").await;
    let early = ahead.send("approved").await.unwrap();
    assert_eq!(early.effect, Effect::Buffered);
    let satisfied = world.suspend(on(&held, &ahead)).await.unwrap();
    assert_eq!(satisfied.outcome, SuspendOutcome::AlreadySatisfied { signals: vec![early.signal_id] });
    assert_eq!(satisfied.waitpoints, std::slice::from_ref(&ahead.granted), "the token is the one that was handed out");
    assert_eq!(world.state(&held.id()).await, PublicState::Active);
    held.renew().await.unwrap();
    let read = world.backend.signal(&held.id(), &early.signal_id).await.unwrap();
    assert_eq!(read.payload, ahead.signal("approved").payload);
    assert_refused!(ahead.send("again").await, "waitpoint_closed");
    held.complete(b"done").await.unwrap();
}

pub(crate) async fn early_signals_count_towards_a_tree_as_well(world: World, held: LeasedExecution) {
    let ahead = held.ahead("votes").await;
    ahead.send("first").await.unwrap();
    let tree = all([count(2, Distinct::Signals, &["votes"]), signal("other")]);
    let mut wish = held.wish_for(tree, &["votes", "other"]);
    wish.waitpoints[0] = ahead.binding();
    let [votes, other] = held.wait(wish).await;
    assert_eq!(world.describe(&held.id()).await.suspension.unwrap().signals_counted, 1);
    assert_eq!(other.effect("other").await, Effect::Appended);
    assert_eq!(votes.effect("second").await, Effect::Satisfied);
    assert_eq!(world.worker("next").claim().await.signal_names(), ["first", "second", "other"]);
}

/// Early signals of several waitpoints count in the order in which the holder names the waitpoints, and within a waitpoint in the
/// order of arrival.
pub(crate) async fn early_signals_of_several_waitpoints_may_satisfy_together(world: World, held: LeasedExecution) {
    let (a, b) = (held.ahead("a").await, held.ahead("b").await);
    for (waitpoint, name) in [(&b, "b1"), (&a, "a1"), (&b, "b2"), (&a, "a2")] {
        waitpoint.send(name).await.unwrap();
    }
    let wish = SuspendArgs {
        waitpoints: vec![a.binding(), b.binding()],
        condition: count(3, Distinct::Signals, &["a", "b"]),
        ..held.wish("a")
    };
    let SuspendOutcome::AlreadySatisfied { signals } = world.suspend(wish).await.unwrap().outcome else {
        panic!("it waits")
    };
    let mut names = Vec::new();
    for id in &signals {
        names.push(world.backend.signal(&held.id(), id).await.unwrap().signal.name.to_string());
    }
    assert_eq!(names, ["a1", "a2", "b1"]);
}

pub(crate) async fn early_signals_that_do_not_count_satisfy_nothing(world: World, held: LeasedExecution) {
    let ahead = held.ahead("approval").await;
    assert_eq!(ahead.effect("other").await, Effect::Buffered);
    let wish = SuspendArgs { condition: named("approval", "approved"), ..on(&held, &ahead) };
    let [waitpoint] = held.wait(wish).await;
    assert_eq!(waitpoint.effect("approved").await, Effect::Satisfied);
    assert_eq!(world.worker("next").claim().await.signal_names(), ["approved"]);
}

pub(crate) async fn the_same_key_is_the_same_waitpoint_while_it_pends(world: World, held: LeasedExecution) {
    let args = CreateWaitpointArgs { expires_in_ms: 1_000, ..held.ahead_args("approval") };
    let first = world.backend.create_waitpoint(args.clone()).await.unwrap();
    let before = world.contents().await;
    world.clock.advance(ms(999)).await;
    assert_eq!(world.backend.create_waitpoint(args.clone()).await.unwrap(), first);
    assert_eq!(world.contents().await, before);
    world.clock.advance(ms(1)).await;
    let second = world.backend.create_waitpoint(args).await.unwrap();
    assert_ne!(second.waitpoint_id, first.waitpoint_id, "the first one ran out");
    assert_ne!(second.waitpoint_token, first.waitpoint_token);
}

pub(crate) async fn an_expired_pending_waitpoint_takes_no_more_signals(world: World, held: LeasedExecution) {
    let args = CreateWaitpointArgs { expires_in_ms: 1_000, ..held.ahead_args("approval") };
    world.backend.create_waitpoint(args).await.unwrap();
    let ahead = held.ahead("approval").await;
    world.clock.slip(ms(999));
    assert_eq!(ahead.effect("early").await, Effect::Buffered);
    world.clock.slip(ms(1));
    assert_refused!(ahead.send("late").await, "pending_waitpoint_expired");
    assert_refused!(world.suspend(on(&held, &ahead)).await, "pending_waitpoint_expired", "waitpoints[0].id");
    world.clock.fire_due().await;
    assert!(world.backend.waitpoints(&held.id()).await.unwrap().is_empty());
    assert_refused!(ahead.send("late").await, "pending_waitpoint_expired");
    assert_eq!(world.state(&held.id()).await, PublicState::Active);
    let [_] = held.wait(held.wish("approval")).await;
}

pub(crate) async fn a_waitpoint_made_ahead_can_be_closed_once(world: World, held: LeasedExecution) {
    let ahead = held.ahead("approval").await;
    ahead.send("early").await.unwrap();
    assert!(!world.backend.close_waitpoint(close(&ahead)).await.unwrap().already);
    let before = world.contents().await;
    assert!(world.backend.close_waitpoint(close(&ahead)).await.unwrap().already);
    assert_refused!(ahead.send("late").await, "waitpoint_closed");
    assert_refused!(world.suspend(on(&held, &ahead)).await, "waitpoint_not_pending", "waitpoints[0].id");
    assert_eq!(world.contents().await, before);
    assert_ne!(held.ahead("approval").await.id(), ahead.id(), "its key is free again");
}

pub(crate) async fn the_waitpoint_of_a_suspension_cannot_be_closed(world: World) {
    let (held, waitpoint) = world.suspended().await;
    let before = world.contents().await;
    assert_refused!(world.backend.close_waitpoint(close(&waitpoint)).await, "waitpoint_not_pending");
    let unknown = CloseWaitpointArgs { waitpoint_id: WaitpointId::new(), ..close(&waitpoint) };
    assert_refused!(world.backend.close_waitpoint(unknown).await, "waitpoint_not_found");
    let elsewhere = CloseWaitpointArgs { execution_id: world.held().await.id(), ..close(&waitpoint) };
    assert_refused!(world.backend.close_waitpoint(elsewhere).await, "waitpoint_not_found");
    let mine = usize::from(held.id().partition());
    assert_eq!(world.contents().await[mine].waitpoints, before[mine].waitpoints);
    waitpoint.send("approved").await.unwrap();
    assert!(world.backend.close_waitpoint(close(&waitpoint)).await.unwrap().already, "its suspension is over");
}

pub(crate) async fn a_waitpoint_that_does_not_pend_cannot_be_waited_on(world: World, held: LeasedExecution) {
    let ahead = held.ahead("approval").await;
    let before = world.contents().await;
    let refused = async |wish: SuspendArgs, code: &str, field: &str| {
        assert_refused!(world.suspend(wish).await, code, field);
    };
    let unknown = WaitpointBinding::Pending { id: WaitpointId::new(), key: key("approval") };
    let wish = SuspendArgs { waitpoints: vec![unknown], ..held.wish("approval") };
    refused(wish, "waitpoint_not_found", "waitpoints[0].id").await;
    let misnamed = WaitpointBinding::Pending { id: ahead.id(), key: key("other") };
    let wish = SuspendArgs { waitpoints: vec![misnamed], ..held.wish("other") };
    refused(wish, "invalid_waitpoint_key", "waitpoints[0].key").await;
    refused(held.wish("approval"), "waitpoint_already_exists", "waitpoints[0].key").await;
    let either = held.wish_for(any([signal("new"), signal("approval")]), &["new", "approval"]);
    refused(either, "waitpoint_already_exists", "waitpoints[1].key").await;
    assert_eq!(world.contents().await, before);

    let [used] = held.wait(on(&held, &ahead)).await;
    used.send("go").await.unwrap();
    let again = world.worker("again").claim().await;
    refused(on(&again, &ahead), "waitpoint_not_pending", "waitpoints[0].id").await;
}

pub(crate) async fn only_the_holder_makes_waitpoints(world: World, held: LeasedExecution) {
    let before = world.contents().await;
    let stale = held.with_fence(|fence| fence.lease_epoch = fence.lease_epoch.next());
    assert_refused!(world.backend.create_waitpoint(stale.ahead_args("approval")).await, "stale_lease");
    world.clock.slip(held.lease_ttl());
    assert_refused!(world.backend.create_waitpoint(held.ahead_args("approval")).await, "lease_expired");
    assert_eq!(world.contents().await, before);
}

/// The token has been sent out, so the next holder gets the signals that have arrived.
pub(crate) async fn a_waitpoint_made_ahead_outlives_its_makers_lease(world: World) {
    let silent = world.held().await;
    let ahead = silent.ahead("approval").await;
    world.clock.advance(silent.lease_ttl()).await;
    assert_eq!(ahead.effect("approved").await, Effect::Buffered);
    let second = world.worker("second").claim().await;
    assert_eq!(second.ahead("approval").await.granted, ahead.granted);
    let outcome = world.suspend(on(&second, &ahead)).await.unwrap().outcome;
    assert!(matches!(outcome, SuspendOutcome::AlreadySatisfied { .. }));
}

/// A suspension on other waitpoints leaves a pending waitpoint as it is.
pub(crate) async fn a_pending_waitpoint_stays_pending_during_another_suspension(world: World, held: LeasedExecution) {
    let ahead = held.ahead("later").await;
    let waitpoint = held.wait_on("now").await;
    assert_eq!(ahead.effect("early").await, Effect::Buffered);
    assert_eq!(world.state(&held.id()).await, PublicState::Suspended);
    assert_eq!(waitpoint.effect("go").await, Effect::Satisfied);
    let again = world.worker("again").claim().await;
    assert_eq!(again.signal_names(), ["go"]);
    let outcome = world.suspend(on(&again, &ahead)).await.unwrap().outcome;
    assert!(matches!(outcome, SuspendOutcome::AlreadySatisfied { .. }));
}

pub(crate) async fn a_pending_waitpoint_is_closed_when_the_execution_ends(world: World, held: LeasedExecution) {
    let ahead = held.ahead("approval").await;
    held.complete(b"done").await.unwrap();
    assert_refused!(ahead.send("late").await, "target_not_signalable", PublicState::Completed);
    assert!(world.backend.waitpoints(&held.id()).await.unwrap().is_empty());
    assert!(world.backend.close_waitpoint(close(&ahead)).await.unwrap().already);
    let before = world.contents().await;
    world.clock.advance(ms(limits::PENDING_WAITPOINT_MS)).await;
    assert_eq!(world.contents().await, before, "and nothing is left to run out");
}

/// Returns the arguments that suspend on a waitpoint created ahead.
fn on(held: &LeasedExecution, ahead: &Waitpoint) -> SuspendArgs {
    SuspendArgs { waitpoints: vec![ahead.binding()], ..held.wish(ahead.granted.waitpoint_key.as_str()) }
}

fn close(waitpoint: &Waitpoint) -> CloseWaitpointArgs {
    CloseWaitpointArgs { execution_id: waitpoint.execution_id, waitpoint_id: waitpoint.id(), reason: None }
}
