//! An execution expires at its deadline, in every live state; an attempt that exceeds its timeout counts as a failure.

use crate::prelude::*;

pub(crate) async fn waiting_work_expires_at_its_deadline(world: World) {
    let id = world.job("resize").deadline(ms(5_000)).submit().await;
    world.clock.advance(ms(4_999)).await;
    assert_eq!(world.state(&id).await, PublicState::Waiting);
    world.clock.advance(ms(1)).await;
    expired(&world, &id).await;
    assert!(world.attempts(&id).await.attempts.is_empty());
    assert!(world.worker("late").claim_up_to(1).await.is_empty());
}

pub(crate) async fn delayed_work_expires_at_its_deadline(world: World) {
    let id = world.job("resize").after(ms(10_000)).deadline(ms(5_000)).submit().await;
    world.clock.advance(ms(5_000)).await;
    expired(&world, &id).await;
    world.clock.advance(ms(5_000)).await;
    assert!(world.worker("late").claim_up_to(1).await.is_empty());
}

pub(crate) async fn work_in_backoff_expires_at_its_deadline(world: World) {
    let id = world.job("resize").deadline(ms(5_000)).retries(3, ms(10_000)).submit().await;
    world.worker("unlucky").claim().await.fail("network").await.unwrap();
    world.clock.advance(ms(5_000)).await;
    expired(&world, &id).await;
}

pub(crate) async fn running_work_expires_at_its_deadline(world: World) {
    let id = world.job("resize").deadline(ms(5_000)).submit().await;
    let held = world.worker("slow").claim().await;
    assert_eq!(held.task.deadline_at, Some(world.clock.now() + 5_000));
    world.clock.advance(ms(5_000)).await;

    expired(&world, &id).await;
    assert_refused!(held.complete(b"late").await, "execution_not_active", PublicState::Expired);
    assert_refused!(held.renew().await, "execution_not_active");
    let history = world.attempts(&id).await;
    assert_eq!(history.attempts[0].end.as_ref().unwrap().outcome, AttemptOutcome::DeadlinePassed);
    assert_eq!(history.leases[0].ended, LeaseEnding::DeadlinePassed);
}

pub(crate) async fn an_execution_delayed_by_its_worker_expires_at_its_deadline(world: World) {
    let id = world.job("resize").deadline(ms(5_000)).submit().await;
    world.worker("patient").claim().await.delay(ms(10_000)).await.unwrap();
    world.clock.advance(ms(5_000)).await;
    expired(&world, &id).await;
    let attempts = world.attempts(&id).await.attempts;
    assert_eq!(attempts[0].end.as_ref().unwrap().outcome, AttemptOutcome::DeadlinePassed);
}

/// An execution without time left is not handed out again.
pub(crate) async fn a_deadline_comes_before_a_lease_that_ends_with_it(world: World) {
    let id = world.job("resize").deadline(ms(30_000)).submit().await;
    world.worker("silent").claim().await;
    world.clock.advance(ms(30_000)).await;
    expired(&world, &id).await;
    assert_eq!(world.describe(&id).await.reclaims, 0);
}

pub(crate) async fn a_finished_execution_has_no_deadline(world: World) {
    let id = world.job("resize").deadline(ms(5_000)).submit().await;
    world.worker("quick").claim().await.complete(b"done").await.unwrap();
    world.writes_nothing(world.clock.advance(ms(5_000))).await;
    assert_eq!(world.result(&id).await, b"done");
}

pub(crate) async fn a_moved_deadline_is_the_one_that_counts(world: World) {
    let start = world.clock.now();
    let later = world.job("resize").deadline(ms(5_000)).submit().await;
    let sooner = world.job("resize").deadline(ms(9_000)).submit().await;
    let new = world.submit("resize", b"cat.png").await;
    assert_eq!(extend(&world, &later, start + 8_000).await.unwrap().from, Some(start + 5_000));
    assert_eq!(extend(&world, &sooner, start + 4_000).await.unwrap().deadline_at, start + 4_000);
    assert_eq!(extend(&world, &new, start + 8_000).await.unwrap().from, None);
    assert_eq!(world.describe(&new).await.deadline_at, Some(start + 8_000));
    world.clock.advance(ms(4_000)).await;
    expired(&world, &sooner).await;
    world.clock.advance(ms(3_999)).await;
    for id in [&later, &new] {
        assert_eq!(world.state(id).await, PublicState::Waiting);
    }
    world.clock.advance(ms(1)).await;
    for id in [&later, &new] {
        expired(&world, id).await;
    }
    world.replay(&later).await.unwrap();
    assert_eq!(world.describe(&later).await.deadline_at, Some(world.clock.now() + 5_000), "that of the policy");
}

pub(crate) async fn a_deadline_is_moved_wherever_the_work_is(world: World) {
    let delayed = world.job("resize").after(ms(60_000)).submit().await;
    let (held, (suspended, _)) = (world.held().await, world.suspended().await);
    let flow = world.graph("a>b").submit().await;
    let (suspended, blocked) = (suspended.id(), flow.member("b"));
    let (all, at) = ([delayed, held.id(), suspended, blocked], world.clock.now() + 3_000);
    for id in &all {
        extend(&world, id, at).await.unwrap();
    }
    assert_eq!(held.renew().await.unwrap().lease_expires_at, world.clock.now() + 30_000);
    world.clock.advance(ms(2_999)).await;
    for id in &all {
        assert!(!world.state(id).await.is_terminal(), "{id}");
    }
    world.clock.advance(ms(1)).await;
    for id in &all {
        expired(&world, id).await;
    }
    assert_refused!(held.complete(b"late").await, "execution_not_active");
}

pub(crate) async fn work_that_ends_after_its_deadline_was_moved_has_none(world: World, held: LeasedExecution) {
    extend(&world, &held.id(), world.clock.now() + 5_000).await.unwrap();
    held.complete(b"done").await.unwrap();
    world.writes_nothing(world.clock.advance(ms(5_000))).await;
    assert_eq!(world.result(&held.id()).await, b"done");
}

pub(crate) async fn a_deadline_is_moved_only_of_live_work_and_into_the_future(world: World) {
    let (ended, live) = (world.submit("resize", b"a").await, world.submit("resize", b"b").await);
    world.cancel(&ended).await.unwrap();
    let (now, before) = (world.clock.now(), world.contents().await);
    assert_refused!(extend(&world, &ended, now + 1_000).await, "execution_not_eligible");
    for past in [now, TimestampMs(0), TimestampMs(-1)] {
        assert_refused!(extend(&world, &live, past).await, "invalid_input", "deadline_at");
    }
    assert_refused!(extend(&world, &live, TimestampMs(limits::TIMESTAMP_MAX_MS + 1)).await, "limit_exceeded");
    let unknown = ExecutionId::new(0, Uuid::now_v7());
    assert_refused!(extend(&world, &unknown, now + 1_000).await, "execution_not_found");
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn the_same_deadline_changes_nothing(world: World) {
    let id = world.job("resize").deadline(ms(5_000)).submit().await;
    let (at, before) = (world.clock.now() + 5_000, world.contents().await);
    let extended = extend(&world, &id, at).await.unwrap();
    assert_eq!((extended.from, extended.deadline_at, world.contents().await), (Some(at), at, before));
}

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

async fn extend(world: &World, id: &ExecutionId, deadline_at: TimestampMs) -> Answer<DeadlineExtended> {
    world.backend.extend_deadline(ExtendDeadlineArgs { execution_id: *id, deadline_at }).await
}

async fn expired(world: &World, id: &ExecutionId) {
    let ended = world.ended(id).await;
    assert_eq!((ended.outcome, ended.by, ended.at), (Outcome::Expired, FinishedBy::Deadline, world.clock.now()));
    assert_eq!(world.state(id).await, PublicState::Expired);
}
