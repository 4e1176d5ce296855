//! A draining lane accepts no new work, and hands out the work it has.

use crate::prelude::*;

pub(crate) async fn a_draining_lane_takes_no_new_work(world: World) {
    world.lane("mail").drain().await;
    let answer = world.writes_nothing(world.job("send").lane("mail").try_submit()).await;
    let refusal = assert_refused!(answer, "not_runnable", "lane");
    assert!(refusal.to_string().contains("draining"), "{refusal}");
    world.job("send").submit().await;
    world.job("send").lane("mail").namespace("acme").submit().await;
    world.lane("mail").resume().await;
    world.job("send").lane("mail").submit().await;
}

pub(crate) async fn a_draining_lane_hands_out_what_is_there(world: World) {
    let id = world.job("send").lane("mail").retries(1, ms(0)).submit().await;
    world.lane("mail").drain().await;
    let worker = world.worker("holder").lanes(&["mail"]);
    worker.claim().await.fail("network").await.unwrap();
    worker.claim().await.complete(b"sent").await.unwrap();
    assert_eq!(world.result(&id).await, b"sent");
}

/// The execution exists already, so a repeated submission must return it.
pub(crate) async fn a_repeat_is_answered_while_a_lane_drains(world: World) {
    let job = world.job("send").lane("mail").key("order 1");
    let id = job.clone().submit().await;
    world.lane("mail").drain().await;
    let again = job.try_submit().await.unwrap();
    assert_eq!((again.execution_id, again.duplicate), (id, true));
}

pub(crate) async fn finished_work_of_a_draining_lane_cannot_be_replayed(world: World) {
    let id = world.job("send").lane("mail").submit().await;
    world.cancel(&id).await.unwrap();
    world.lane("mail").drain().await;
    assert_refused!(world.replay(&id).await, "not_runnable");
    world.lane("mail").resume().await;
    world.replay(&id).await.unwrap();
}

pub(crate) async fn a_flow_with_work_for_a_draining_lane_is_refused_whole(world: World) {
    world.lane("mail").drain().await;
    let graph = world.graph("a>b").with("b", |node| node.lane = LaneId::parse("mail").unwrap());
    assert_refused!(world.writes_nothing(graph.try_submit()).await, "not_runnable");
}
