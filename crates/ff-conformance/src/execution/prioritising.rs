//! An operator may change the priority of an execution.

use crate::prelude::*;

pub(crate) async fn work_that_is_raised_goes_before_others(world: World) {
    let on_one = || world.job("resize").on_partition(1).priority(3);
    let (first, second) = (on_one().submit().await, on_one().submit().await);
    world.clock.advance(ms(1)).await;
    let last = on_one().submit().await;
    let changed = change(&world, &last, 4).await.unwrap();
    assert_eq!((changed.from.get(), changed.priority.get()), (3, 4));
    assert_eq!(world.describe(&last).await.priority.get(), 4);
    let order: Vec<_> = world.worker("holder").claim_on(1, 3).await.iter().map(|held| held.id()).collect();
    assert_eq!(order[0], last);
    assert!(order[1..].contains(&first) && order[1..].contains(&second));
}

pub(crate) async fn work_that_is_lowered_goes_after_others(world: World) {
    let on_one = || world.job("resize").on_partition(1).priority(3);
    let first = on_one().submit().await;
    world.clock.advance(ms(1)).await;
    let second = on_one().submit().await;
    change(&world, &first, 2).await.unwrap();
    let order: Vec<_> = world.worker("holder").claim_on(1, 2).await.iter().map(|held| held.id()).collect();
    assert_eq!(order, [second, first]);
}

pub(crate) async fn running_work_keeps_its_new_priority_for_later(world: World) {
    let held = world.held().await;
    change(&world, &held.id(), 7).await.unwrap();
    held.delay(ms(0)).await.unwrap();
    assert_eq!(world.worker("next").claim().await.task.priority.get(), 7);
}

pub(crate) async fn finished_work_cannot_be_prioritised(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    world.cancel(&id).await.unwrap();
    let before = world.contents().await;
    assert_refused!(change(&world, &id, 7).await, "execution_not_eligible");
    assert_refused!(change(&world, &ExecutionId::new(0, Uuid::now_v7()), 7).await, "execution_not_found");
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn the_same_priority_changes_nothing(world: World) {
    let id = world.job("resize").priority(3).submit().await;
    let before = world.contents().await;
    let changed = change(&world, &id, 3).await.unwrap();
    assert_eq!((changed.from, world.contents().await), (changed.priority, before));
}

async fn change(world: &World, id: &ExecutionId, to: i64) -> Answer<PriorityChanged> {
    let priority = Priority::new(to).unwrap();
    world.backend.change_priority(ChangePriorityArgs { execution_id: *id, priority }).await
}
