//! Labels and the priority of an execution may be changed.

use crate::prelude::*;

pub(crate) async fn tags_are_added_replaced_and_removed(world: World) {
    let id = world.job("resize").tag("team", "blue").tag("region", "eu").submit().await;
    let tagged = set(&world, id, &[("team", "red"), ("size", "large")], &["region", "absent"]).await.unwrap();
    assert_eq!(tagged.tags, labels(&[("team", "red"), ("size", "large")]));
    assert_eq!(world.describe(&id).await.tags, tagged.tags);
    let held = world.worker("holder").claim().await;
    assert_eq!(held.task.tags, tagged.tags, "the worker gets them");
}

pub(crate) async fn a_finished_execution_can_be_tagged(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    world.cancel(&id).await.unwrap();
    set(&world, id, &[("seen", "yes")], &[]).await.unwrap();
    assert_eq!(world.describe(&id).await.tags, labels(&[("seen", "yes")]));
}

pub(crate) async fn more_than_thirty_two_tags_are_refused(world: World) {
    let pairs: Vec<_> = (0..31).map(|nth| format!("k{nth}")).collect();
    let first: Vec<_> = pairs.iter().map(|key| (key.as_str(), "v")).collect();
    let id = world.submit("resize", b"cat.png").await;
    set(&world, id, &first, &[]).await.unwrap();
    set(&world, id, &[("one", "more")], &[]).await.unwrap();
    let answer = world.writes_nothing(set(&world, id, &[("too", "many")], &[])).await;
    assert_refused!(answer, "limit_exceeded", "tags", 32, 33);
    set(&world, id, &[("instead", "of")], &["one"]).await.unwrap();
}

pub(crate) async fn a_tag_cannot_be_set_and_removed_in_one_call(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    assert_refused!(set(&world, id, &[("team", "blue")], &["team"]).await, "invalid_input", "remove");
}

pub(crate) async fn an_unknown_execution_cannot_be_tagged(world: World) {
    let id = ExecutionId::new(0, Uuid::now_v7());
    assert_refused!(set(&world, id, &[("team", "blue")], &[]).await, "execution_not_found");
}

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

pub(crate) async fn running_work_keeps_its_new_priority_for_later(world: World, held: LeasedExecution) {
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

async fn set(world: &World, id: ExecutionId, pairs: &[(&str, &str)], gone: &[&str]) -> Answer<TaggedExecution> {
    let remove = gone.iter().map(|key| TagKey::parse(key).unwrap()).collect();
    world.backend.set_tags(SetTagsArgs { execution_id: id, set: labels(pairs), remove }).await
}

async fn change(world: &World, id: &ExecutionId, to: i64) -> Answer<PriorityChanged> {
    let priority = Priority::new(to).unwrap();
    world.backend.change_priority(ChangePriorityArgs { execution_id: *id, priority }).await
}
