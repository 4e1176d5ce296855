//! A suspension that times out follows the timeout behavior its holder chose.

use crate::prelude::*;
use crate::world::conditions::count;

/// A suspension timeout is not a failed attempt, so nothing is retried.
pub(crate) async fn work_whose_wait_times_out_may_fail(world: World) {
    let (held, waitpoint) = waiting(&world, TimeoutBehavior::Fail).await;
    world.clock.advance(ms(1)).await;
    let failure = has_ended(&world, &held, &waitpoint, Outcome::Failed).await.unwrap();
    assert_eq!(failure.category.as_str(), Failure::SUSPENSION_TIMEOUT);
    assert_eq!(world.describe(&held.id()).await.retries, 0);
}

pub(crate) async fn work_whose_wait_times_out_may_be_cancelled(world: World) {
    let (held, waitpoint) = waiting(&world, TimeoutBehavior::Cancel).await;
    world.clock.advance(ms(1)).await;
    assert_eq!(has_ended(&world, &held, &waitpoint, Outcome::Cancelled).await, None);
}

pub(crate) async fn work_whose_wait_times_out_may_expire(world: World) {
    let (held, waitpoint) = waiting(&world, TimeoutBehavior::Expire).await;
    world.clock.advance(ms(1)).await;
    assert_eq!(has_ended(&world, &held, &waitpoint, Outcome::Expired).await, None);
}

pub(crate) async fn work_whose_wait_times_out_may_go_on_and_hear_so(world: World) {
    let (held, waitpoint) = waiting(&world, TimeoutBehavior::AutoResume).await;
    world.clock.advance(ms(1)).await;
    assert_eq!(world.state(&held.id()).await, PublicState::Waiting);
    assert_refused!(waitpoint.send("late").await, "waitpoint_closed");
    let resumed = world.worker("next").claim().await;
    assert!(resumed.task.resumed);
    assert_eq!(resumed.task.resumption.as_ref().unwrap().by, ResumedBy::Timeout);
    let [received] = &resumed.signals[..] else { panic!("not one signal") };
    assert_eq!(
        (received.signal.name.as_str(), received.signal.source.to_string().as_str()),
        (Signal::TIMEOUT, "engine")
    );
    assert_eq!((received.signal.effect, &received.payload), (Effect::Satisfied, &None));
    assert_eq!(world.signals(&held.id()).await, std::slice::from_ref(&received.signal));
}

pub(crate) async fn work_whose_wait_times_out_may_be_handed_to_an_operator(world: World) {
    let (held, waitpoint) = waiting(&world, TimeoutBehavior::Escalate).await;
    world.clock.advance(ms(1)).await;
    let read = world.describe(&held.id()).await;
    assert_eq!(
        (read.public_state, read.state.blocking_reason),
        (PublicState::Suspended, BlockingReason::PausedByOperator)
    );
    let suspension = read.suspension.unwrap();
    assert_eq!((suspension.escalated_at, suspension.timeout_at), (Some(world.clock.now()), None));
    let before = world.contents().await;
    world.clock.advance(ms(365 * 24 * 3_600_000)).await;
    assert_eq!(world.contents().await, before, "it times out once");
    assert_eq!(waitpoint.effect("better-late").await, Effect::Satisfied, "its waitpoints stay open");
    assert_eq!(world.worker("next").claim().await.signal_names(), ["better-late"]);
}

pub(crate) async fn an_operator_ends_what_was_handed_to_one(world: World) {
    let (held, _) = waiting(&world, TimeoutBehavior::Escalate).await;
    world.clock.advance(ms(1)).await;
    world.decide(&held.id(), OperatorDecision::Approve).await.unwrap();
    assert_eq!(world.worker("next").claim().await.signal_names(), ["approved"]);
}

pub(crate) async fn a_timeout_hands_on_what_had_counted(world: World, held: LeasedExecution) {
    let wish = SuspendArgs {
        timeout: Some(Timeout::After(1_000)),
        timeout_behavior: TimeoutBehavior::AutoResume,
        resume_policy: ResumePolicy { resume_delay_ms: 500, ..ResumePolicy::default() },
        ..held.wish_for(count(3, Distinct::Signals, &["votes"]), &["votes"])
    };
    let [votes] = held.wait(wish).await;
    votes.send("yes").await.unwrap();
    world.clock.advance(ms(1_000)).await;
    assert_eq!(world.state(&held.id()).await, PublicState::Delayed, "its delay is waited as ever");
    world.clock.advance(ms(500)).await;
    assert_eq!(world.worker("next").claim().await.signal_names(), ["yes", "timeout"]);
}

pub(crate) async fn a_suspension_timeout_can_be_a_timestamp(world: World, held: LeasedExecution) {
    let moment = world.clock.now() + 2_000;
    let timeout = Some(Timeout::At(moment));
    let [_] = held.wait(SuspendArgs { timeout, ..held.wish("approval") }).await;
    assert_eq!(world.describe(&held.id()).await.suspension.unwrap().timeout_at, Some(moment));
    world.clock.advance(ms(1_999)).await;
    assert_eq!(world.state(&held.id()).await, PublicState::Suspended);
    world.clock.advance(ms(1)).await;
    assert_eq!(world.state(&held.id()).await, PublicState::Failed);
}

/// Work may sleep for a day without a lease.
pub(crate) async fn work_may_wait_for_nothing_but_its_timeout(world: World, held: LeasedExecution) {
    let wish = SuspendArgs {
        timeout: Some(Timeout::After(86_400_000)),
        timeout_behavior: TimeoutBehavior::AutoResume,
        ..held.wish_for(Condition::TimeoutOnly, &["nap"])
    };
    let [nap] = held.wait(wish).await;
    assert_eq!(nap.effect("wake-up").await, Effect::NotInCondition);
    world.clock.advance(ms(86_399_999)).await;
    assert_eq!(world.state(&held.id()).await, PublicState::Suspended);
    world.clock.advance(ms(1)).await;
    assert_eq!(world.worker("next").claim().await.signal_names(), ["timeout"]);
}

pub(crate) async fn a_signal_in_time_disarms_the_timeout(world: World) {
    for behavior in TimeoutBehavior::ALL {
        let (_, waitpoint) = waiting(&world, *behavior).await;
        assert_eq!(waitpoint.effect("just-in-time").await, Effect::Satisfied);
        let resumed = world.worker("next").claim().await;
        world.clock.advance(ms(1)).await;
        resumed.complete(b"done").await.unwrap();
        assert_eq!(world.result(&resumed.id()).await, b"done", "{behavior}");
    }
}

/// Until the engine fires it, a suspension past its timeout is still open: a signal and the timeout cannot both win.
pub(crate) async fn a_signal_that_beats_the_pump_wins(world: World) {
    let (held, waitpoint) = waiting(&world, TimeoutBehavior::Fail).await;
    world.clock.slip(ms(1));
    assert_eq!(waitpoint.effect("late").await, Effect::Satisfied);
    world.clock.fire_due().await;
    assert_eq!(world.state(&held.id()).await, PublicState::Waiting);
    assert_eq!(world.worker("next").claim().await.signal_names(), ["late"]);
}

pub(crate) async fn many_waits_may_time_out_at_once(world: World) {
    let mut ids = Vec::new();
    for _ in 0..120 {
        ids.push(world.job("resize").on_partition(1).submit().await);
    }
    for held in world.worker("holder").claim_on(1, 120).await {
        let [_] = held.wait(SuspendArgs { timeout: Some(Timeout::After(1_000)), ..held.wish("approval") }).await;
    }
    world.clock.advance(ms(1_000)).await;
    for id in ids {
        assert_eq!(world.state(&id).await, PublicState::Failed);
    }
}

/// Returns work whose suspension times out in a millisecond.
async fn waiting(world: &World, timeout_behavior: TimeoutBehavior) -> (LeasedExecution, Waitpoint) {
    let held = world.held().await;
    let wish = SuspendArgs { timeout: Some(Timeout::After(1_000)), timeout_behavior, ..held.wish("approval") };
    let [waitpoint] = held.wait(wish).await;
    world.clock.advance(ms(999)).await;
    assert_eq!(world.state(&held.id()).await, PublicState::Suspended);
    (held, waitpoint)
}

/// Checks that the timeout ended the execution and its attempt, and closed the waitpoint. Returns the failure.
async fn has_ended(world: &World, held: &LeasedExecution, waitpoint: &Waitpoint, outcome: Outcome) -> Option<Failure> {
    let ended = world.ended(&held.id()).await;
    assert_eq!((ended.outcome, ended.by, ended.at), (outcome, FinishedBy::SuspensionTimeout, world.clock.now()));
    let attempts = world.attempts(&held.id()).await.attempts;
    assert_eq!(attempts[0].end.as_ref().unwrap().outcome, AttemptOutcome::SuspensionTimedOut);
    assert_refused!(waitpoint.send("late").await, "target_not_signalable", PublicState::from(outcome));
    assert!(world.backend.waitpoints(&held.id()).await.unwrap().is_empty());
    assert!(world.worker("next").claim_up_to(1).await.is_empty());
    ended.failure
}
