//! A repeated submission under the same key finds the existing execution.

use crate::prelude::*;

pub(crate) async fn the_same_key_is_the_same_execution(world: World) {
    let first = keyed(&world).try_submit().await.unwrap();
    let before = world.contents().await;
    let again = keyed(&world).try_submit().await.unwrap();
    assert_eq!((first.duplicate, again.duplicate), (false, true));
    assert_eq!(again.execution_id, first.execution_id);
    assert_eq!(world.contents().await, before);
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
    let before = world.contents().await;
    let again = job.try_submit().await.unwrap();
    assert_eq!((again.execution_id, again.duplicate), (first.execution_id, true));
    assert_eq!(world.contents().await, before);
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
    let before = world.contents().await;
    let refusal = assert_refused!(world.job("shrink").key("order-17").try_submit().await, "idempotency_conflict");
    assert_eq!(refusal.field.as_deref(), Some("idempotency_key"));
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn a_key_used_with_another_payload_is_a_conflict(world: World) {
    keyed(&world).submit().await;
    let before = world.contents().await;
    let other = keyed(&world).payload(Payload::json("\"other\""));
    assert_refused!(other.try_submit().await, "idempotency_conflict");
    assert_eq!(world.contents().await, before);
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

fn keyed(world: &World) -> Submission {
    world.job("resize").key("order-17").payload(Payload::json("17"))
}
