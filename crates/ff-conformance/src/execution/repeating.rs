//! A reply may be lost after the call was applied. A repeated call finds what the first one did, and changes nothing.

use crate::prelude::*;

pub(crate) async fn the_same_key_is_the_same_execution(world: World) {
    let first = keyed(&world).try_submit().await.unwrap();
    let again = world.writes_nothing(keyed(&world).try_submit()).await.unwrap();
    assert_eq!((first.duplicate, again.duplicate), (false, true));
    assert_eq!(again.execution_id, first.execution_id);
}

/// The first submission decides: the settings of a second one are ignored.
pub(crate) async fn a_repeat_does_not_change_what_is_there(world: World) {
    let id = keyed(&world).priority(5).submit().await;
    let again = keyed(&world).priority(9).lane("other").tag("a", "b").try_submit().await.unwrap();
    assert_eq!((again.execution_id, again.duplicate), (id, true));
    let read = world.describe(&id).await;
    assert_eq!((read.priority.get(), read.lane_id.as_str(), read.tags.len()), (5, "default", 0));
}

pub(crate) async fn the_same_uuid_is_the_same_execution(world: World) {
    let job = world.job("resize").uuid(Uuid::now_v7());
    let first = job.clone().try_submit().await.unwrap();
    let again = world.writes_nothing(job.try_submit()).await.unwrap();
    assert_eq!((again.execution_id, again.duplicate), (first.execution_id, true));
}

pub(crate) async fn a_repeated_submission_returns_the_current_state(world: World) {
    let id = keyed(&world).submit().await;
    let held = world.worker("worker").claim().await;
    assert_eq!(keyed(&world).try_submit().await.unwrap().public_state, PublicState::Active);
    held.complete(b"done").await.unwrap();
    let again = keyed(&world).try_submit().await.unwrap();
    assert_eq!((again.execution_id, again.public_state), (id, PublicState::Completed));
    assert!(world.worker("worker").claim_up_to(1).await.is_empty());
}

pub(crate) async fn a_key_is_forgotten_after_its_window(world: World) {
    let policy = Policy { dedup_window_ms: 60_000, ..Policy::default() };
    let first = keyed(&world).policy(policy).submit().await;

    world.clock.advance(ms(59_999)).await;
    assert_eq!(keyed(&world).submit().await, first);
    world.clock.advance(ms(1)).await;
    let second = keyed(&world).try_submit().await.unwrap();
    assert!(!second.duplicate);
    assert_ne!(second.execution_id, first);
    assert_eq!(keyed(&world).submit().await, second.execution_id);
}

pub(crate) async fn a_window_lasts_a_day_by_default(world: World) {
    let first = keyed(&world).submit().await;
    world.clock.advance(ms(24 * 60 * 60 * 1_000 - 1)).await;
    assert_eq!(keyed(&world).submit().await, first);
    world.clock.advance(ms(1)).await;
    assert_ne!(keyed(&world).submit().await, first);
}

pub(crate) async fn a_key_used_for_another_kind_is_a_conflict(world: World) {
    keyed(&world).submit().await;
    let answer = world.writes_nothing(world.job("shrink").key("order-17").try_submit()).await;
    assert_refused!(answer, "idempotency_conflict", "idempotency_key");
}

pub(crate) async fn a_key_used_with_another_payload_is_a_conflict(world: World) {
    keyed(&world).submit().await;
    let other = keyed(&world).payload(Payload::json("\"other\""));
    assert_refused!(world.writes_nothing(other.try_submit()).await, "idempotency_conflict");
}

pub(crate) async fn a_uuid_used_for_other_work_is_a_conflict(world: World) {
    let uuid = Uuid::now_v7();
    world.job("resize").uuid(uuid).submit().await;
    let before = world.contents().await;
    assert_refused!(world.job("shrink").uuid(uuid).try_submit().await, "idempotency_conflict");
    let other = world.job("resize").uuid(uuid).payload(Payload::json("1"));
    assert_refused!(other.try_submit().await, "idempotency_conflict");
    assert_refused!(world.job("resize").uuid(uuid).namespace("acme").try_submit().await, "idempotency_conflict");
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn a_key_belongs_to_its_namespace(world: World) {
    let ours = keyed(&world).submit().await;
    let theirs = keyed(&world).namespace("acme").try_submit().await.unwrap();
    assert!(!theirs.duplicate);
    assert_ne!(theirs.execution_id, ours);
}

/// Exactly one of many concurrent submissions creates the execution.
pub(crate) async fn concurrent_submissions_with_one_key_create_one_execution(world: World) {
    let calls = (0..16).map(|_| keyed(&world).try_submit());
    let answers: Vec<_> = futures_util::future::join_all(calls).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(answers.iter().filter(|answer| !answer.duplicate).count(), 1);
    assert!(answers.iter().all(|answer| answer.execution_id == answers[0].execution_id));
    assert_eq!(world.worker("worker").claim_up_to(16).await.len(), 1);
}

pub(crate) async fn finishing_twice_is_one_finish(world: World, held: LeasedExecution) {
    let first = held.complete(b"first").await.unwrap();
    let before = world.contents().await;
    world.clock.advance(ms(100)).await;
    assert_eq!(held.complete(b"second").await.unwrap(), first);
    assert_eq!(world.contents().await, before);
    assert_eq!(world.result(&held.id()).await, b"first");
}

pub(crate) async fn failing_twice_is_one_failure(world: World) {
    world.job("resize").retries(3, ms(500)).submit().await;
    let held = world.worker("worker").claim().await;
    let first = held.fail("network").await.unwrap();
    let before = world.contents().await;
    world.clock.advance(ms(100)).await;
    assert_eq!(held.fail("network").await.unwrap(), first);
    assert_eq!(world.contents().await, before);

    world.clock.advance(ms(400)).await;
    assert_eq!(
        held.fail("network").await.unwrap(),
        first,
        "the retry waits for a worker, and it has had no lease since"
    );
    world.worker("other").claim().await;
    assert_refused!(held.fail("network").await, "stale_lease");
}

/// With jitter a second decision would differ, so the first must be remembered.
pub(crate) async fn a_repeated_failure_returns_the_same_retry_time(world: World) {
    let held = world.held().await;
    let FailedAttempt::RetryScheduled { retry_at } = held.fail("network").await.unwrap() else { panic!("no retry") };
    for _ in 0..20 {
        assert_eq!(held.fail("network").await.unwrap(), FailedAttempt::RetryScheduled { retry_at });
    }
}

pub(crate) async fn failing_for_good_twice_is_one_end(world: World, held: LeasedExecution) {
    assert_eq!(held.fail_with("input", "unreadable", true).await.unwrap(), FailedAttempt::Failed);
    assert_eq!(
        world.writes_nothing(held.fail_with("other", "something else", true)).await.unwrap(),
        FailedAttempt::Failed
    );
}

pub(crate) async fn putting_off_twice_is_one_delay(world: World, held: LeasedExecution) {
    let first = held.delay(ms(5_000)).await.unwrap();
    let before = world.contents().await;
    world.clock.advance(ms(1_000)).await;
    assert_eq!(held.delay(ms(5_000)).await.unwrap(), first);
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn cancelling_twice_is_one_cancellation(world: World, held: LeasedExecution) {
    let first = world.cancel(&held.id()).await.unwrap();
    assert_eq!((first.public_state, first.already), (PublicState::Cancelled, false));
    let before = world.contents().await;
    world.clock.advance(ms(100)).await;
    let again = world.cancel(&held.id()).await.unwrap();
    assert_eq!((again.public_state, again.already), (PublicState::Cancelled, true));
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn revoking_twice_is_one_revocation(world: World, held: LeasedExecution) {
    let first = world.revoke(&held.id()).await.unwrap();
    assert_eq!((first.lease_epoch, first.already), (held.fence().lease_epoch, false));
    let again = world.writes_nothing(world.revoke(&held.id())).await.unwrap();
    assert_eq!((again.lease_epoch, again.already), (held.fence().lease_epoch, true));
}

/// The second request finds a live execution and is refused.
pub(crate) async fn replaying_twice_is_one_replay(world: World, held: LeasedExecution) {
    held.complete(b"done").await.unwrap();
    let args = ReplayArgs { reason: Some("again".into()), ..ReplayArgs::new(held.id()) };
    assert_eq!(world.backend.replay(args.clone()).await.unwrap().replays, 1);
    assert_refused!(world.writes_nothing(world.backend.replay(args)).await, "execution_not_terminal");
}

pub(crate) async fn one_call_is_not_answered_with_the_end_of_another(world: World) {
    let completed = world.held().await;
    completed.complete(b"done").await.unwrap();
    assert_refused!(completed.fail("network").await, "execution_not_active", PublicState::Completed);
    assert_refused!(completed.delay(ms(1)).await, "execution_not_active");

    let put_off = world.held().await;
    put_off.delay(ms(1_000)).await.unwrap();
    assert_refused!(put_off.complete(b"done").await, "execution_not_active", PublicState::Delayed);
    assert_refused!(put_off.renew().await, "execution_not_active");
    assert_refused!(put_off.progress(Some(1), None).await, "execution_not_active");
}

fn keyed(world: &World) -> Submission {
    world.job("resize").key("order-17").payload(Payload::json("17"))
}
