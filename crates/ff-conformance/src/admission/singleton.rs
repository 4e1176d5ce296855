//! At most one execution of a singleton key runs at a time.

use super::{nothing_to_claim, words};
use crate::event::{follow, read};
use crate::prelude::*;

const QUEUED: [&str; 3] = ["rate_limited", "blocked_by_quota", "waiting_for_quota"];

pub(crate) async fn a_skipped_submission_is_answered_with_the_one_that_lives(world: World) {
    let live = only(&world, OnConflict::Skip).submit().await;
    let skipped = world.writes_nothing(only(&world, OnConflict::Skip).try_submit()).await.unwrap();
    assert_eq!((skipped.execution_id, skipped.duplicate), (live, true));
    assert_eq!(skipped.conflict, Some(KeyConflict::Skipped));

    let held = world.worker("w").claim().await;
    assert_eq!(only(&world, OnConflict::Skip).try_submit().await.unwrap().public_state, PublicState::Active);
    held.complete(b"done").await.unwrap();
    let next = only(&world, OnConflict::Skip).try_submit().await.unwrap();
    assert_ne!(next.execution_id, live);
    assert_eq!((next.duplicate, next.conflict, next.public_state), (false, None, PublicState::Waiting));
}

pub(crate) async fn queued_work_runs_one_after_the_other_in_order(world: World) {
    let first = only(&world, OnConflict::Queue).submit().await;
    let mut queued = Vec::new();
    for nth in 0..3 {
        let one = only(&world, OnConflict::Queue).priority(nth).try_submit().await.unwrap();
        assert_eq!((one.conflict, one.public_state), (Some(KeyConflict::Queued), PublicState::RateLimited));
        assert_eq!(words(&world, &one.execution_id).await, QUEUED);
        queued.push(one.execution_id);
    }
    let info = world.describe(&queued[0]).await;
    assert_eq!(info.submission_key.unwrap().as_str(), "singleton:report");
    let detail = BlockDetail::Singleton { key: "report".into(), behind: first };
    assert_eq!(info.blocking_detail.as_deref(), Some(&detail));
    for expected in [first].iter().chain(&queued) {
        let held = world.worker("w").claim().await;
        assert_eq!(held.id(), *expected);
        assert!(nothing_to_claim(&world).await, "one at a time");
        held.complete(b"done").await.unwrap();
    }
    assert!(nothing_to_claim(&world).await);
}

/// Every kind of end lets the next execution start. While the running one lives, no other starts.
pub(crate) async fn every_end_lets_the_next_go_on(world: World) {
    let first = only(&world, OnConflict::Queue).retries(1, ms(100)).submit().await;
    let second = only(&world, OnConflict::Queue).submit().await;
    let third = only(&world, OnConflict::Queue).deadline(ms(50_000)).submit().await;
    let fourth = only(&world, OnConflict::Queue).submit().await;

    world.worker("w").claim().await.fail("network").await.unwrap();
    assert!(nothing_to_claim(&world).await, "a failure that is retried is no end");
    world.clock.advance(ms(100)).await;
    let again = world.worker("w").claim().await;
    assert_eq!(again.id(), first);
    again.fail("network").await.unwrap();
    let held = world.worker("w").claim().await;
    assert_eq!(held.id(), second);
    world.cancel(&second).await.unwrap();
    assert_eq!(words(&world, &third).await[0], "waiting");
    world.clock.advance(ms(50_000)).await;
    assert_eq!(world.state(&third).await, PublicState::Expired);
    assert_eq!(world.worker("w").claim().await.id(), fourth);
}

pub(crate) async fn a_queued_execution_that_ends_is_passed_over(world: World) {
    let first = only(&world, OnConflict::Queue).submit().await;
    let second = only(&world, OnConflict::Queue).submit().await;
    let third = only(&world, OnConflict::Queue).submit().await;
    world.cancel(&second).await.unwrap();
    let detail = BlockDetail::Singleton { key: "report".into(), behind: first };
    assert_eq!(world.describe(&third).await.blocking_detail.as_deref(), Some(&detail));
    world.worker("w").claim().await.complete(b"done").await.unwrap();
    assert_eq!(world.worker("w").claim().await.id(), third);
}

pub(crate) async fn a_replacement_takes_the_place_of_work_that_has_not_started(world: World) {
    let first = only(&world, OnConflict::Replace).submit().await;
    let second = only(&world, OnConflict::Replace).try_submit().await.unwrap();
    assert_eq!((second.conflict, second.public_state), (Some(KeyConflict::Replaced), PublicState::Waiting));
    let replaced = world.describe(&first).await;
    assert_eq!(replaced.public_state, PublicState::Cancelled);
    let reason = Some(format!("replaced by {}", second.execution_id));
    assert_eq!(replaced.finished_by, Some(FinishedBy::Cancel { reason, requested_by: None }));

    let held = world.worker("w").claim().await;
    assert_eq!(held.id(), second.execution_id);
    let third = only(&world, OnConflict::Replace).try_submit().await.unwrap();
    assert_eq!(third.conflict, Some(KeyConflict::Queued), "one that runs goes on to its end");
    let fourth = only(&world, OnConflict::Replace).try_submit().await.unwrap();
    assert_eq!(fourth.conflict, Some(KeyConflict::Replaced));
    assert_eq!(world.state(&third.execution_id).await, PublicState::Cancelled);
    held.complete(b"done").await.unwrap();
    assert_eq!(world.worker("w").claim().await.id(), fourth.execution_id);
}

pub(crate) async fn a_submission_sent_again_is_the_same(world: World) {
    only(&world, OnConflict::Queue).submit().await;
    for on_conflict in [OnConflict::Queue, OnConflict::Replace] {
        let work = only(&world, on_conflict).uuid(Uuid::now_v7());
        let first = work.clone().try_submit().await.unwrap();
        let again = world.writes_nothing(work.try_submit()).await.unwrap();
        assert_eq!((again.execution_id, again.duplicate), (first.execution_id, true));
    }
}

pub(crate) async fn a_key_belongs_to_its_namespace(world: World) {
    let ours = only(&world, OnConflict::Skip).submit().await;
    let theirs = only(&world, OnConflict::Skip).namespace("acme").try_submit().await.unwrap();
    assert_eq!((theirs.duplicate, theirs.conflict), (false, None));
    assert_ne!(theirs.execution_id, ours);
    let other = world.job("report").singleton("other", OnConflict::Skip).try_submit().await.unwrap();
    assert_eq!((other.duplicate, other.conflict), (false, None));
}

pub(crate) async fn queued_work_is_held_delayed_and_prioritised_like_any_other(world: World) {
    let first = only(&world, OnConflict::Queue).submit().await;
    let held = only(&world, OnConflict::Queue).submit().await;
    let delayed = only(&world, OnConflict::Queue).after(ms(1_000)).submit().await;
    let args = HoldArgs { execution_id: held, reason: None, requested_by: None };
    world.backend.hold(args).await.unwrap();
    assert_eq!(words(&world, &held).await[2], "paused_by_operator");
    world.backend.release_hold(ReleaseHoldArgs { execution_id: held }).await.unwrap();
    assert_eq!(words(&world, &held).await, QUEUED, "its turn has not come");
    let priority = Priority::new(9_000).unwrap();
    world.backend.change_priority(ChangePriorityArgs { execution_id: held, priority }).await.unwrap();
    assert_eq!(words(&world, &delayed).await[0], "delayed");
    world.clock.advance(ms(1_000)).await;
    assert_eq!(words(&world, &delayed).await, QUEUED, "its delay is over, its turn has not come");
    let unblock = UnblockArgs { partition: held.partition(), executions: vec![held, delayed], from: Blocker::Quota };
    assert_eq!(world.engine_store.unblock(unblock).await.unwrap().count(), 0, "no quota keeps it back");
    world.cancel(&first).await.unwrap();
    assert_eq!(world.worker("w").claim().await.id(), held);
}

pub(crate) async fn a_replayed_execution_waits_for_its_turn(world: World) {
    let first = only(&world, OnConflict::Queue).submit().await;
    world.worker("w").claim().await.complete(b"done").await.unwrap();
    let second = only(&world, OnConflict::Queue).submit().await;
    let replayed = world.replay(&first).await.unwrap();
    assert_eq!(replayed.public_state, PublicState::RateLimited);
    assert_eq!(words(&world, &first).await, QUEUED);
    let held = world.worker("w").claim().await;
    assert_eq!(held.id(), second);
    held.complete(b"done").await.unwrap();
    assert_eq!(world.worker("w").claim().await.id(), first);
}

pub(crate) async fn the_queue_of_a_key_is_bounded(world: World) {
    for _ in 0..limits::KEY_QUEUE {
        only(&world, OnConflict::Queue).submit().await;
    }
    let answer = world.writes_nothing(only(&world, OnConflict::Queue).try_submit()).await;
    let refusal = assert_refused!(answer, "limit_exceeded", "singleton");
    assert_eq!(refusal.limit, Some((limits::KEY_QUEUE as u64, limits::KEY_QUEUE as u64 + 1)));
}

pub(crate) async fn a_singleton_has_no_idempotency_key(world: World) {
    let answer = world.writes_nothing(only(&world, OnConflict::Skip).key("once").try_submit()).await;
    assert_refused!(answer, "invalid_input");
}

pub(crate) async fn a_queued_execution_has_a_blocked_and_an_unblocked_event(world: World) {
    let reader = follow(&world).await;
    only(&world, OnConflict::Queue).submit().await;
    let second = only(&world, OnConflict::Queue).submit().await;
    world.worker("w").claim().await.complete(b"done").await.unwrap();
    let log = read(&world, &reader).await.events;
    let kinds: Vec<_> = log.into_iter().filter(|event| event.execution_id == second).map(|event| event.what).collect();
    let reason = BlockingReason::WaitingForQuota;
    assert_eq!(kinds, [EventKind::Submitted, EventKind::Blocked { reason }, EventKind::Unblocked { reason }]);
}

fn only(world: &World, on_conflict: OnConflict) -> Submission {
    world.job("report").singleton("report", on_conflict)
}
