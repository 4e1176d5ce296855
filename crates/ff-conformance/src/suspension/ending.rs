//! Every end of an execution ends its suspension and closes its waitpoints.

use crate::prelude::*;
use crate::world::conditions::{all, signal};

pub(crate) async fn suspended_work_can_be_cancelled(world: World, held: LeasedExecution) {
    let waitpoints = held.wait_for(all([signal("a"), signal("b")]), ["a", "b"]).await;
    waitpoints[0].send("half").await.unwrap();
    world.cancel(&held.id()).await.unwrap();
    let read = world.describe(&held.id()).await;
    assert_eq!((read.public_state, read.suspension), (PublicState::Cancelled, None));
    let attempts = world.attempts(&held.id()).await.attempts;
    assert_eq!(attempts[0].end.as_ref().unwrap().outcome, AttemptOutcome::Cancelled);
    for waitpoint in &waitpoints {
        assert_refused!(waitpoint.send("late").await, "target_not_signalable", PublicState::Cancelled);
    }
    assert!(world.backend.waitpoints(&held.id()).await.unwrap().is_empty());
    assert_refused!(world.decide(&held.id(), OperatorDecision::Resume).await, "execution_not_suspended");
}

pub(crate) async fn the_deadline_of_suspended_work_closes_its_waitpoints(world: World) {
    let id = world.job("resize").deadline(ms(5_000)).submit().await;
    let held = world.worker("holder").claim().await;
    let ahead = held.ahead("later").await;
    let waitpoint = held.wait_on("approval").await;
    world.clock.advance(ms(4_999)).await;
    assert_eq!(world.state(&id).await, PublicState::Suspended);
    world.clock.advance(ms(1)).await;
    let ended = world.ended(&id).await;
    assert_eq!((ended.outcome, ended.by, ended.at), (Outcome::Expired, FinishedBy::Deadline, world.clock.now()));
    for closed in [&ahead, &waitpoint] {
        assert_refused!(closed.send("late").await, "target_not_signalable", PublicState::Expired);
    }
    assert!(world.backend.waitpoints(&id).await.unwrap().is_empty());
    let before = world.contents().await;
    world.clock.advance(ms(6 * 24 * 3_600_000)).await;
    assert_eq!(world.contents().await, before, "nothing is left to wait for");
}

pub(crate) async fn a_deadline_comes_before_a_wait_that_times_out_with_it(world: World) {
    let id = world.job("resize").deadline(ms(5_000)).submit().await;
    let held = world.worker("holder").claim().await;
    let timeout = Some(Timeout::After(5_000));
    let wish = SuspendArgs { timeout, timeout_behavior: TimeoutBehavior::AutoResume, ..held.wish("approval") };
    let [_] = held.wait(wish).await;
    world.clock.advance(ms(5_000)).await;
    assert_eq!(world.ended(&id).await.by, FinishedBy::Deadline);
}

/// A replayed execution keeps nothing of an earlier suspension.
pub(crate) async fn a_replay_starts_without_what_was_waited_for(world: World) {
    let (held, waitpoint) = world.suspended().await;
    waitpoint.send("approved").await.unwrap();
    let resumed = world.worker("second").claim().await;
    resumed.complete(b"done").await.unwrap();
    world.replay(&held.id()).await.unwrap();
    assert_refused!(waitpoint.send("late").await, "waitpoint_closed");
    let replayed = world.worker("third").claim().await;
    assert!(matches!(replayed.task.attempt, Origin::Replay { of: Some(AttemptIndex(0)), .. }));
    assert_eq!((replayed.signal_names(), &replayed.task.resumption), (Vec::<&str>::new(), &None));
    assert_refused!(waitpoint.send("late").await, "waitpoint_closed");
    let again = replayed.wait_on("approval").await;
    assert_refused!(waitpoint.send("late").await, "waitpoint_closed");
    again.send("again").await.unwrap();
    assert_eq!(world.worker("fourth").claim().await.signal_names(), ["again"]);
    assert_eq!(world.signals(&held.id()).await.len(), 2, "what was received is kept");
}

pub(crate) async fn every_end_of_a_suspension_can_be_replayed(world: World) {
    let (cancelled, _) = world.suspended().await;
    world.cancel(&cancelled.id()).await.unwrap();
    let timed_out = world.held().await;
    let [_] = timed_out.wait(SuspendArgs { timeout: Some(Timeout::After(1)), ..timed_out.wish("approval") }).await;
    let expired = world.job("resize").deadline(ms(1)).submit().await;
    world.worker("holder").claim().await.wait_on("approval").await;
    world.clock.advance(ms(1)).await;
    for id in [cancelled.id(), timed_out.id(), expired] {
        assert_eq!(world.replay(&id).await.unwrap().public_state, PublicState::Waiting);
        let read = world.describe(&id).await;
        assert_eq!((read.suspension, read.failure), (None, None));
    }
    let replayed = world.worker("next").claim_up_to(9).await;
    assert_eq!(replayed.len(), 3);
    assert!(replayed.iter().all(|held| held.signals.is_empty() && held.task.resumption.is_none()));
}

/// The reply was lost before the execution ended. It is still the answer to a repeated call.
pub(crate) async fn a_repeated_suspend_is_answered_after_the_execution_ended(world: World, held: LeasedExecution) {
    let first = world.suspend(held.wish("approval")).await.unwrap();
    world.cancel(&held.id()).await.unwrap();
    assert_eq!(world.writes_nothing(world.suspend(held.wish("approval"))).await.unwrap(), first);
    assert_refused!(held.complete(b"late").await, "execution_not_active");
}

pub(crate) async fn a_long_poll_on_an_end_returns_a_suspension_timeout(world: World, held: LeasedExecution) {
    let [_] = held.wait(SuspendArgs { timeout: Some(Timeout::After(1_000)), ..held.wish("approval") }).await;
    assert_eq!(world.long_poll.ended(&held.id(), 20).await.unwrap(), None);
    world.clock.advance(ms(1_000)).await;
    let end = world.long_poll.ended(&held.id(), 60_000).await.unwrap().unwrap();
    assert_eq!((end.outcome, end.by), (Outcome::Failed, FinishedBy::SuspensionTimeout));
}
