//! A paused lane accepts work and hands out none.

use crate::prelude::*;

pub(crate) async fn a_paused_lane_takes_work_and_hands_out_none(world: World) {
    let before = world.submit("resize", b"cat.png").await;
    world.lane("default").pause().await;
    let after = world.submit("resize", b"dog.png").await;
    assert_eq!(world.worker("holder").claim_up_to(10).await.len(), 0);
    assert_eq!((world.state(&before).await, world.state(&after).await), (PublicState::Waiting, PublicState::Waiting));
    assert_eq!(world.lane("default").depth(LanePlace::Waiting).await.count, 2);
    world.lane("default").resume().await;
    assert_eq!(world.worker("holder").claim_up_to(10).await.len(), 2);
}

pub(crate) async fn a_leased_execution_continues_while_its_lane_is_paused(world: World, held: LeasedExecution) {
    world.lane("default").pause().await;
    held.renew().await.unwrap();
    held.complete(b"done").await.unwrap();
    assert_eq!(world.result(&held.id()).await, b"done");
}

pub(crate) async fn pausing_twice_is_one_pause(world: World) {
    let first = world.lane("default").pause().await;
    assert_eq!(world.writes_nothing(world.lane("default").pause()).await, first);
}

pub(crate) async fn another_tenants_lane_stays_active(world: World) {
    world.lane("default").pause().await;
    world.lane("mail").pause().await;
    world.job("resize").namespace("acme").submit().await;
    assert_eq!(world.worker("holder").namespace("acme").claim_up_to(10).await.len(), 1);
}

pub(crate) async fn a_waiting_worker_gets_what_a_lane_hands_out_again(world: World) {
    world.lane("default").pause().await;
    let id = world.submit("resize", b"cat.png").await;
    let worker = world.worker("waiting");
    let waiting = tokio::spawn(async move { worker.next(1, ms(50_000)).await });
    assert_eq!(world.worker("other").next(1, ms(0)).await.len(), 0);
    world.lane("default").resume().await;
    let got: Vec<_> = waiting.await.unwrap().iter().map(|held| held.id()).collect();
    assert_eq!(got, [id]);
}
