//! An execution that has lived as long as it may ends, wherever it is.

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
    let refusal = assert_refused!(held.complete(b"late").await, "execution_not_active");
    assert_eq!(refusal.state, Some(PublicState::Expired));
    assert_refused!(held.renew().await, "execution_not_active");
    let history = world.attempts(&id).await;
    assert_eq!(history.attempts[0].end.as_ref().unwrap().outcome, AttemptOutcome::DeadlinePassed);
    assert_eq!(history.leases[0].ended, LeaseEnding::DeadlinePassed);
}

pub(crate) async fn work_put_off_expires_at_its_deadline(world: World) {
    let id = world.job("resize").deadline(ms(5_000)).submit().await;
    world.worker("patient").claim().await.delay(ms(10_000)).await.unwrap();
    world.clock.advance(ms(5_000)).await;
    expired(&world, &id).await;
    let attempts = world.attempts(&id).await.attempts;
    assert_eq!(attempts[0].end.as_ref().unwrap().outcome, AttemptOutcome::DeadlinePassed);
}

/// Nothing is gained by handing out again what has no time left.
pub(crate) async fn a_deadline_comes_before_a_lease_that_ends_with_it(world: World) {
    let id = world.job("resize").deadline(ms(30_000)).submit().await;
    world.worker("silent").claim().await;
    world.clock.advance(ms(30_000)).await;
    expired(&world, &id).await;
    assert_eq!(world.describe(&id).await.reclaims, 0);
}

pub(crate) async fn what_is_finished_has_no_deadline(world: World) {
    let id = world.job("resize").deadline(ms(5_000)).submit().await;
    world.worker("quick").claim().await.complete(b"done").await.unwrap();
    let before = world.contents().await;
    world.clock.advance(ms(5_000)).await;
    assert_eq!(world.contents().await, before);
    assert_eq!(world.result(&id).await, b"done");
}

async fn expired(world: &World, id: &ExecutionId) {
    let ended = world.ended(id).await;
    assert_eq!((ended.outcome, ended.by, ended.at), (Outcome::Expired, FinishedBy::Deadline, world.clock.now()));
    assert_eq!(world.state(id).await, PublicState::Expired);
}
