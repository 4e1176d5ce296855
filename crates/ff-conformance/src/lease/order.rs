//! Within a lane on a partition the highest priority goes first, then the oldest execution.

use crate::prelude::*;

pub(crate) async fn the_most_important_goes_first(world: World) {
    let mut expected = Vec::new();
    for priority in [0, 9_000, 1, 8_999, 4_500] {
        expected.push((priority, world.job("resize").on_partition(0).priority(priority).submit().await));
        world.clock.advance(ms(1)).await;
    }
    expected.sort_by_key(|(priority, _)| std::cmp::Reverse(*priority));
    assert_eq!(taken_one_by_one(&world).await, expected.into_iter().map(|(_, id)| id).collect::<Vec<_>>());
}

pub(crate) async fn of_equals_the_oldest_goes_first(world: World) {
    let mut expected = Vec::new();
    for _ in 0..10 {
        expected.push(world.job("resize").on_partition(0).priority(5).submit().await);
        world.clock.advance(ms(1)).await;
    }
    assert_eq!(taken_one_by_one(&world).await, expected);
}

pub(crate) async fn the_smaller_id_goes_first_among_executions_of_the_same_time(world: World) {
    let mut expected = Vec::new();
    for _ in 0..10 {
        expected.push(world.job("resize").on_partition(0).submit().await);
    }
    expected.sort();
    assert_eq!(taken_one_by_one(&world).await, expected);
}

/// A year of waiting does not make up for a single step of priority.
pub(crate) async fn age_does_not_outweigh_priority(world: World) {
    let old = world.job("resize").on_partition(0).priority(0).submit().await;
    world.clock.advance(ms(365 * 24 * 60 * 60 * 1_000)).await;
    let new = world.job("resize").on_partition(0).priority(1).submit().await;
    assert_eq!(taken_one_by_one(&world).await, [new, old]);
}

pub(crate) async fn one_claim_keeps_the_order_across_kinds(world: World) {
    let mut expected = Vec::new();
    for (kind, priority) in [("resize", 1), ("shrink", 3), ("resize", 2), ("shrink", 0)] {
        expected.push((priority, world.job(kind).on_partition(0).priority(priority).submit().await));
    }
    expected.sort_by_key(|(priority, _)| std::cmp::Reverse(*priority));
    let taken = world.worker("worker").kinds(&["shrink", "resize"]).claim_on(0, 9).await;
    let taken: Vec<_> = taken.iter().map(LeasedExecution::id).collect();
    assert_eq!(taken, expected.into_iter().map(|(_, id)| id).collect::<Vec<_>>());
}

/// An execution that comes back after a failure or a delay keeps its age.
pub(crate) async fn work_that_comes_back_keeps_its_place(world: World) {
    let old = world.job("resize").on_partition(0).retries(1, ms(0)).submit().await;
    world.clock.advance(ms(10)).await;
    let new = world.job("resize").on_partition(0).submit().await;
    world.worker("unlucky").claim_on(0, 1).await[0].fail("network").await.unwrap();
    assert_eq!(taken_one_by_one(&world).await, [old, new]);
}

pub(crate) async fn a_priority_out_of_range_is_refused(world: World) {
    assert_eq!(Priority::new(9_001).unwrap_err().to_string(), "must be from 0 to 9000, got 9001");
    assert!(Priority::new(-1).is_err());
    let id = world.job("resize").priority(9_000).submit().await;
    assert_eq!(world.describe(&id).await.priority.get(), 9_000);
}

async fn taken_one_by_one(world: &World) -> Vec<ExecutionId> {
    let worker = world.worker("worker");
    let mut taken = Vec::new();
    while let Some(held) = worker.claim_on(0, 1).await.pop() {
        taken.push(held.id());
    }
    taken
}
