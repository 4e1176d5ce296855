//! The holder completes the execution, or reports a failure and the policy decides the next step.

use std::collections::BTreeSet;

use crate::prelude::*;

pub(crate) async fn finished_work_has_its_result(world: World, held: LeasedExecution) {
    world.clock.advance(ms(250)).await;
    assert_eq!(held.complete(b"done").await.unwrap().public_state, PublicState::Completed);

    let ended = world.ended(&held.id()).await;
    assert_eq!(ended.execution_id, held.id());
    assert_eq!((ended.outcome, ended.by), (Outcome::Success, FinishedBy::Holder));
    assert_eq!((ended.at, ended.failure), (world.clock.now(), None));
    assert_eq!(ended.result, Some(Payload::bytes("done")));
    let read = world.describe(&held.id()).await;
    assert_eq!((read.public_state, read.finished_at), (PublicState::Completed, Some(world.clock.now())));
    let attempts = world.attempts(&held.id()).await.attempts;
    assert_eq!(attempts[0].end.as_ref().unwrap().outcome, AttemptOutcome::Success);
}

pub(crate) async fn work_may_finish_without_a_result(world: World, held: LeasedExecution) {
    held.complete_with(None).await.unwrap();
    let ended = world.ended(&held.id()).await;
    assert_eq!((ended.outcome, ended.result), (Outcome::Success, None));
}

pub(crate) async fn an_empty_result_is_a_result(world: World, held: LeasedExecution) {
    held.complete(b"").await.unwrap();
    assert_eq!(world.ended(&held.id()).await.result, Some(Payload::default()));
}

pub(crate) async fn a_result_comes_back_byte_for_byte(world: World) {
    let every_byte: Vec<u8> = (0..=255).rev().collect();
    for result in [Payload::bytes(every_byte), Payload::json(" {\"a\" : 1.00 }\n"), Payload::json("\"\\u0041\"")] {
        let held = world.held().await;
        held.complete_with(Some(result.clone())).await.unwrap();
        assert_eq!(world.ended(&held.id()).await.result, Some(result));
    }
}

pub(crate) async fn success_leaves_no_failure_behind(world: World) {
    let id = world.job("resize").retries(1, ms(0)).submit().await;
    world.worker("unlucky").claim().await.fail("network").await.unwrap();
    assert!(world.describe(&id).await.failure.is_some());
    world.worker("lucky").claim().await.complete(b"done").await.unwrap();
    assert_eq!((world.describe(&id).await.failure, world.ended(&id).await.failure), (None, None));
}

pub(crate) async fn finished_work_is_not_handed_out_again(world: World, held: LeasedExecution) {
    held.complete(b"done").await.unwrap();
    world.clock.advance(ms(6 * 24 * 60 * 60 * 1_000)).await;
    assert!(world.worker("worker").claim_up_to(1).await.is_empty());
    assert_eq!(world.result(&held.id()).await, b"done");
}

pub(crate) async fn failed_work_is_tried_again_after_its_backoff(world: World) {
    let id = world.job("resize").retries(3, ms(500)).submit().await;
    let first = world.worker("unlucky").claim().await;
    assert_eq!(first.task.attempt, Origin::Initial);
    let failed = first.fail_with("network", "connection reset", false).await.unwrap();
    assert_eq!(failed, FailedAttempt::RetryScheduled { retry_at: world.clock.now() + 500 });
    let read = world.describe(&id).await;
    assert_eq!((read.public_state, read.retries), (PublicState::Delayed, 1));
    assert_eq!(read.failure, Some(failure("network", "connection reset", false)));

    world.clock.advance(ms(499)).await;
    assert!(world.worker("early").claim_up_to(1).await.is_empty());
    world.clock.advance(ms(1)).await;
    let second = world.worker("punctual").claim().await;
    assert_eq!((second.task.attempt_index, second.task.resumed), (AttemptIndex(1), false));
    assert_eq!(second.task.attempt, Origin::Retry { of: AttemptIndex(0) });
}

pub(crate) async fn a_backoff_grows_up_to_its_ceiling(world: World) {
    let backoff = Backoff::Exponential { initial_delay_ms: 100, max_delay_ms: 500, multiplier: 2.0, jitter: false };
    let retry_policy = RetryPolicy { max_retries: 5, backoff, ..RetryPolicy::default() };
    world.job("resize").policy(Policy { retry_policy, ..Policy::default() }).submit().await;
    for expected in [100, 200, 400, 500, 500] {
        let failed = world.worker("unlucky").claim().await.fail("network").await.unwrap();
        assert_eq!(failed, FailedAttempt::RetryScheduled { retry_at: world.clock.now() + expected });
        world.clock.advance(ms(expected)).await;
    }
}

/// Executions that failed together must not be retried together.
pub(crate) async fn jitter_spreads_retries_within_their_backoff(world: World) {
    let backoff = Backoff::Fixed { delay_ms: 10_000, jitter: true };
    let retry_policy = RetryPolicy { backoff, ..RetryPolicy::default() };
    let policy = Policy { retry_policy, ..Policy::default() };
    for _ in 0..40 {
        world.job("resize").policy(policy.clone()).submit().await;
    }
    let mut delays = BTreeSet::new();
    for held in world.worker("unlucky").claim_up_to(40).await {
        let FailedAttempt::RetryScheduled { retry_at } = held.fail("network").await.unwrap() else {
            panic!("no retry")
        };
        assert!(retry_at >= world.clock.now(), "before now");
        delays.insert(retry_at.since(world.clock.now()));
    }
    assert!(delays.last() <= Some(&10_000), "{delays:?}");
    assert!(delays.len() > 20 && delays.first() < Some(&5_000) && delays.last() > Some(&5_000), "{delays:?}");
}

pub(crate) async fn a_retry_without_backoff_waits_at_once(world: World) {
    let id = world.job("resize").retries(1, ms(0)).submit().await;
    let failed = world.worker("unlucky").claim().await.fail("network").await.unwrap();
    assert_eq!(failed, FailedAttempt::RetryScheduled { retry_at: world.clock.now() });
    assert_eq!(world.worker("next").claim().await.id(), id);
}

pub(crate) async fn the_last_retry_is_the_last(world: World) {
    let id = world.job("resize").retries(2, ms(0)).submit().await;
    for _ in 0..2 {
        let failed = world.worker("unlucky").claim().await.fail("network").await.unwrap();
        assert!(matches!(failed, FailedAttempt::RetryScheduled { .. }));
    }
    let last = world.worker("unlucky").claim().await;
    assert_eq!(last.fail_with("network", "for the last time", false).await.unwrap(), FailedAttempt::Failed);

    let ended = world.ended(&id).await;
    assert_eq!((ended.outcome, ended.by), (Outcome::Failed, FinishedBy::Holder));
    assert_eq!(ended.failure, Some(failure("network", "for the last time", false)));
    let attempts = world.attempts(&id).await.attempts;
    assert_eq!(attempts.len(), 3);
    assert!(attempts.iter().all(|attempt| attempt.end.as_ref().unwrap().outcome == AttemptOutcome::Failure));
}

pub(crate) async fn work_without_retries_fails_at_once(world: World) {
    world.job("resize").retries(0, ms(0)).submit().await;
    assert_eq!(world.worker("unlucky").claim().await.fail("network").await.unwrap(), FailedAttempt::Failed);
}

pub(crate) async fn three_retries_are_the_default(world: World) {
    let id = world.submit("resize", b"").await;
    let mut attempts = 0;
    while world.state(&id).await != PublicState::Failed {
        world.worker("unlucky").claim().await.fail("network").await.unwrap();
        world.clock.advance(ms(60_000)).await;
        attempts += 1;
    }
    assert_eq!(attempts, 4);
}

pub(crate) async fn a_permanent_failure_is_not_retried(world: World, held: LeasedExecution) {
    assert_eq!(held.fail_with("input", "not a picture", true).await.unwrap(), FailedAttempt::Failed);
    assert_eq!(world.ended(&held.id()).await.failure, Some(failure("input", "not a picture", true)));
}

pub(crate) async fn categories_decide_what_is_retried(world: World) {
    let retryable_categories = vec!["network".to_owned(), "busy".to_owned()];
    let retry_policy = RetryPolicy { retryable_categories, ..RetryPolicy::default() };
    let policy = Policy { retry_policy, ..Policy::default() };
    for (category, retried) in [("network", true), ("busy", true), ("input", false), ("networks", false)] {
        world.job("resize").policy(policy.clone()).submit().await;
        let failed = world.worker("unlucky").claim().await.fail(category).await.unwrap();
        assert_eq!(matches!(failed, FailedAttempt::RetryScheduled { .. }), retried, "{category}");
    }
}

fn failure(category: &str, message: &str, permanent: bool) -> Failure {
    Failure { category: Kind::parse(category).unwrap(), message: message.to_owned(), permanent }
}
