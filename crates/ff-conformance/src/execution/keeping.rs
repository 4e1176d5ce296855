//! A finished execution is kept for its retention, and then deleted completely.

use std::time::Duration;

use crate::prelude::*;

const WEEK: Duration = Duration::from_millis(limits::RETENTION_MS);

pub(crate) async fn finished_work_is_kept_for_seven_days(world: World, held: LeasedExecution) {
    held.complete(b"done").await.unwrap();
    world.clock.advance(WEEK - ms(1)).await;
    assert_eq!(world.result(&held.id()).await, b"done");
    world.clock.advance(ms(1)).await;
    assert_forgotten(&world, &held.id()).await;
}

pub(crate) async fn work_may_say_how_long_it_is_kept(world: World) {
    let short = world.job("resize").retention(ms(1_000)).submit().await;
    let long = world.job("resize").retention(WEEK * 2).submit().await;
    world.cancel(&short).await.unwrap();
    world.cancel(&long).await.unwrap();
    world.clock.advance(ms(1_000)).await;
    assert_forgotten(&world, &short).await;
    world.clock.advance(WEEK * 2 - ms(1_001)).await;
    world.describe(&long).await;
    world.clock.advance(ms(1)).await;
    assert_forgotten(&world, &long).await;
}

pub(crate) async fn nothing_of_forgotten_work_is_left(world: World) {
    let before = world.contents().await;
    let id = world.job("resize").retention(ms(1_000)).tag("team", "blue").retries(1, ms(0)).submit().await;
    world.worker("first").claim().await.fail("network").await.unwrap();
    let held = world.worker("second").claim().await;
    held.ahead("unused").await;
    let waitpoint = held.wait_on("approval").await;
    waitpoint.send("go").await.unwrap();
    world.worker("third").claim().await.complete(b"done").await.unwrap();
    world.clock.advance(ms(1_000)).await;
    assert_forgotten(&world, &id).await;
    let after = world.contents().await.into_iter().map(|left| Snapshot { deliveries: vec![], ..left });
    assert_eq!(after.collect::<Vec<_>>(), before, "but the entries of feeds");
}

/// An idempotency key must find its execution for as long as the key is remembered.
pub(crate) async fn work_is_kept_while_its_key_is_remembered(world: World) {
    let job = || world.job("resize").key("order 1").retention(ms(0));
    let id = job().submit().await;
    world.cancel(&id).await.unwrap();
    world.clock.advance(ms(limits::DEDUP_WINDOW_MS - 1)).await;
    assert_eq!(job().submit().await, id);
    world.clock.advance(ms(1)).await;
    assert_forgotten(&world, &id).await;
    assert!(!job().try_submit().await.unwrap().duplicate);
}

pub(crate) async fn replayed_work_is_kept_until_it_has_ended_again(world: World) {
    let id = world.job("resize").retention(ms(1_000)).submit().await;
    world.cancel(&id).await.unwrap();
    world.clock.advance(ms(999)).await;
    world.replay(&id).await.unwrap();
    world.clock.advance(ms(5_000)).await;
    world.worker("holder").claim().await.complete(b"done").await.unwrap();
    world.clock.advance(ms(999)).await;
    assert_eq!(world.result(&id).await, b"done");
    world.clock.advance(ms(1)).await;
    assert_forgotten(&world, &id).await;
}

pub(crate) async fn a_flow_goes_with_its_members_once_it_has_ended(world: World) {
    let before = world.contents().await;
    let flow = world.graph("a>b>c").submit().await;
    flow.start_one().await.complete(b"1").await.unwrap();
    world.clock.advance(WEEK).await;
    let first = flow.member("a");
    world.describe(&first).await;
    flow.run().await;
    world.clock.advance(WEEK - ms(1)).await;
    world.describe(&first).await;
    world.clock.advance(ms(1)).await;
    assert_forgotten(&world, &first).await;
    assert_refused!(world.backend.describe_flow(&flow.id).await, "flow_not_found");
    assert_eq!(world.contents().await, before);
}

/// Checks that reads answer not found and that no list shows the execution.
async fn assert_forgotten(world: &World, id: &ExecutionId) {
    assert_refused!(world.backend.describe(id).await, "execution_not_found");
    assert_refused!(world.backend.result(id).await, "execution_not_found");
    assert_refused!(world.backend.payload(id).await, "execution_not_found");
    for tags in [labels(&[]), labels(&[("team", "blue")])] {
        let filter = Filter { tags, ..Filter::everything(Namespace::default_name()) };
        let listed = world.backend.list(ListArgs { filter, after: None, limit: 100 }).await.unwrap();
        assert!(listed.executions.iter().all(|row| row.execution_id != *id));
    }
}
