//! An attempt that exceeds its timeout counts as a failure.

use crate::prelude::*;

pub(crate) async fn an_attempt_that_runs_too_long_is_retried(world: World) {
    let id = world.job("resize").attempt_timeout(ms(5_000)).retries(1, ms(100)).submit().await;
    let slow = world.worker("slow").claim().await;
    world.clock.advance(ms(4_999)).await;
    slow.renew().await.unwrap();
    world.clock.advance(ms(1)).await;

    assert_refused!(slow.complete(b"late").await, "lease_expired");
    let read = world.describe(&id).await;
    assert_eq!((read.public_state, read.retries), (PublicState::Delayed, 1));
    assert_eq!(read.failure.unwrap().category.as_str(), Failure::TIMEOUT);
    world.clock.advance(ms(100)).await;
    let second = world.worker("second").claim().await;
    assert_eq!(second.task.attempt, Origin::Retry { of: AttemptIndex(0) });
    assert_refused!(slow.complete(b"late").await, "stale_lease");
    let ended = world.attempts(&id).await.attempts[0].end.clone().unwrap();
    assert_eq!((ended.outcome, ended.at), (AttemptOutcome::TimedOut, world.clock.now() - 100));
}

pub(crate) async fn a_renewal_does_not_move_the_timeout(world: World) {
    let id = world.job("resize").attempt_timeout(ms(45_000)).retries(1, ms(1_000)).submit().await;
    let held = world.worker("busy").claim().await;
    for _ in 0..4 {
        world.clock.advance(ms(10_000)).await;
        held.renew().await.unwrap();
    }
    world.clock.advance(ms(5_000)).await;
    assert_eq!(world.state(&id).await, PublicState::Delayed);
    assert_refused!(held.renew().await, "lease_expired");
}

/// A delayed attempt is not running; only the time it ran counts.
pub(crate) async fn a_timeout_counts_only_the_time_it_ran(world: World) {
    let id = world.job("resize").attempt_timeout(ms(5_000)).retries(1, ms(0)).submit().await;
    let first = world.worker("first").claim().await;
    world.clock.advance(ms(3_000)).await;
    first.delay(ms(60_000)).await.unwrap();
    world.clock.advance(ms(60_000)).await;

    let second = world.worker("second").claim().await;
    assert!(second.task.resumed);
    world.clock.advance(ms(1_999)).await;
    second.renew().await.unwrap();
    world.clock.advance(ms(1)).await;
    assert_refused!(second.renew().await, "lease_expired");
    assert_eq!(world.attempts(&id).await.attempts[0].ran_ms, 5_000);
}

pub(crate) async fn every_attempt_has_the_whole_timeout(world: World) {
    world.job("resize").attempt_timeout(ms(5_000)).retries(3, ms(0)).submit().await;
    for _ in 0..3 {
        let held = world.worker("slow").claim().await;
        world.clock.advance(ms(4_999)).await;
        held.renew().await.unwrap();
        world.clock.advance(ms(1)).await;
        assert_refused!(held.renew().await, "lease_expired");
    }
}

pub(crate) async fn timeouts_use_up_the_retries(world: World) {
    let id = world.job("resize").attempt_timeout(ms(5_000)).retries(1, ms(0)).submit().await;
    for _ in 0..2 {
        world.worker("slow").claim().await;
        world.clock.advance(ms(5_000)).await;
    }
    let ended = world.ended(&id).await;
    assert_eq!((ended.outcome, ended.by), (Outcome::Failed, FinishedBy::AttemptTimeout));
    assert_eq!(ended.failure.unwrap().category.as_str(), Failure::TIMEOUT);
    assert_eq!(ended.at, world.clock.now());
}

pub(crate) async fn categories_decide_about_timeouts_too(world: World) {
    for (category, state) in [("network", PublicState::Failed), (Failure::TIMEOUT, PublicState::Delayed)] {
        let policy = Policy {
            retry_policy: RetryPolicy { retryable_categories: vec![category.to_owned()], ..RetryPolicy::default() },
            timeout_policy: TimeoutPolicy { attempt_timeout_ms: Some(2_000), ..TimeoutPolicy::default() },
            ..Policy::default()
        };
        let id = world.job("resize").policy(policy).retries(1, ms(90_000)).submit().await;
        world.worker("slow").claim().await;
        world.clock.advance(ms(2_000)).await;
        assert_eq!(world.state(&id).await, state, "{category}");
    }
}
