//! Labels can be changed for as long as an execution is kept.

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
    let before = world.contents().await;
    let refusal = assert_refused!(set(&world, id, &[("too", "many")], &[]).await, "limit_exceeded");
    assert_eq!((refusal.field.as_deref(), refusal.limit), (Some("tags"), Some((32, 33))));
    assert_eq!(world.contents().await, before);
    set(&world, id, &[("instead", "of")], &["one"]).await.unwrap();
}

pub(crate) async fn a_tag_cannot_be_set_and_removed_in_one_call(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let refusal = assert_refused!(set(&world, id, &[("team", "blue")], &["team"]).await, "invalid_input");
    assert_eq!(refusal.field.as_deref(), Some("remove"));
}

pub(crate) async fn an_unknown_execution_cannot_be_tagged(world: World) {
    let id = ExecutionId::new(0, Uuid::now_v7());
    assert_refused!(set(&world, id, &[("team", "blue")], &[]).await, "execution_not_found");
}

async fn set(world: &World, id: ExecutionId, pairs: &[(&str, &str)], gone: &[&str]) -> Answer<TaggedExecution> {
    let remove = gone.iter().map(|key| TagKey::parse(key).unwrap()).collect();
    world.backend.set_tags(SetTagsArgs { execution_id: id, set: labels(pairs), remove }).await
}
