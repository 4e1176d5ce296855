//! The holder reports its progress.

use crate::prelude::*;

pub(crate) async fn progress_can_be_read_while_the_work_runs(world: World, held: LeasedExecution) {
    assert_eq!(world.describe(&held.id()).await.progress, None);
    world.clock.advance(ms(10)).await;
    let recorded = held.progress(Some(40), Some("reading — 2 of 5")).await.unwrap();
    assert_eq!(recorded.at, world.clock.now());
    let expected = Progress { percent: Some(40), message: Some("reading — 2 of 5".into()), at: world.clock.now() };
    assert_eq!(world.describe(&held.id()).await.progress, Some(expected));
}

pub(crate) async fn omitted_progress_fields_keep_their_value(world: World, held: LeasedExecution) {
    held.progress(Some(40), Some("reading")).await.unwrap();
    held.progress(Some(100), None).await.unwrap();
    let progress = world.describe(&held.id()).await.progress.unwrap();
    assert_eq!((progress.percent, progress.message.as_deref()), (Some(100), Some("reading")));
    held.progress(None, Some("writing")).await.unwrap();
    let progress = world.describe(&held.id()).await.progress.unwrap();
    assert_eq!((progress.percent, progress.message.as_deref()), (Some(100), Some("writing")));
}

pub(crate) async fn progress_stays_when_the_work_ends(world: World, held: LeasedExecution) {
    held.progress(Some(40), None).await.unwrap();
    held.complete(b"done").await.unwrap();
    assert_eq!(world.describe(&held.id()).await.progress.unwrap().percent, Some(40));
}

pub(crate) async fn a_new_attempt_starts_without_progress(world: World) {
    let id = world.job("resize").retries(1, ms(0)).submit().await;
    let first = world.worker("first").claim().await;
    first.progress(Some(40), Some("reading")).await.unwrap();
    first.fail("network").await.unwrap();
    world.worker("second").claim().await;
    assert_eq!(world.describe(&id).await.progress, None);
}

pub(crate) async fn a_resumed_attempt_keeps_its_progress(world: World) {
    let first = world.held().await;
    first.progress(Some(40), Some("reading")).await.unwrap();
    first.delay(ms(100)).await.unwrap();
    world.clock.advance(ms(100)).await;
    world.worker("second").claim().await;
    assert_eq!(world.describe(&first.id()).await.progress.unwrap().percent, Some(40));
}

pub(crate) async fn more_than_everything_is_refused(world: World, held: LeasedExecution) {
    held.progress(Some(100), None).await.unwrap();
    assert_refused!(held.progress(Some(101), None).await, "limit_exceeded", "percent", 100, 101);
    assert_eq!(world.describe(&held.id()).await.progress.unwrap().percent, Some(100));
}

/// Progress does not keep a lease alive: only a renewal does.
pub(crate) async fn progress_is_no_renewal(world: World, held: LeasedExecution) {
    world.clock.advance(held.lease_ttl() - ms(1)).await;
    held.progress(Some(40), None).await.unwrap();
    world.clock.advance(ms(1)).await;
    assert_refused!(held.progress(Some(50), None).await, "lease_expired");
}
