//! The holder completes the execution.

use crate::prelude::*;

pub(crate) async fn finished_work_has_its_result(world: World) {
    let held = world.held().await;
    world.clock.advance(ms(250)).await;
    assert_eq!(held.complete(b"done").await.unwrap().public_state, PublicState::Completed);

    let ended = world.ended(&held.id()).await;
    assert_eq!(ended.execution_id, held.id());
    assert_eq!((ended.outcome, ended.by), (Outcome::Success, FinishedBy::Holder));
    assert_eq!((ended.at, ended.failure), (world.clock.now(), None));
    assert_eq!(ended.result, Some(Payload::bytes("done")));
    let read = world.describe(&held.id()).await;
    assert_eq!((read.public_state, read.finished_at), (PublicState::Completed, Some(world.clock.now())));
    let attempts = world.attempts(&held.id()).await.attempts;
    assert_eq!(attempts[0].end.as_ref().unwrap().outcome, AttemptOutcome::Success);
}

pub(crate) async fn work_may_finish_without_a_result(world: World) {
    let held = world.held().await;
    held.complete_with(None).await.unwrap();
    let ended = world.ended(&held.id()).await;
    assert_eq!((ended.outcome, ended.result), (Outcome::Success, None));
}

pub(crate) async fn an_empty_result_is_a_result(world: World) {
    let held = world.held().await;
    held.complete(b"").await.unwrap();
    assert_eq!(world.ended(&held.id()).await.result, Some(Payload::default()));
}

pub(crate) async fn a_result_comes_back_byte_for_byte(world: World) {
    let every_byte: Vec<u8> = (0..=255).rev().collect();
    for result in [Payload::bytes(every_byte), Payload::json(" {\"a\" : 1.00 }\n"), Payload::json("\"\\u0041\"")] {
        let held = world.held().await;
        held.complete_with(Some(result.clone())).await.unwrap();
        assert_eq!(world.ended(&held.id()).await.result, Some(result));
    }
}

pub(crate) async fn success_leaves_no_failure_behind(world: World) {
    let id = world.job("resize").retries(1, ms(0)).submit().await;
    world.worker("unlucky").claim().await.fail("network").await.unwrap();
    assert!(world.describe(&id).await.failure.is_some());
    world.worker("lucky").claim().await.complete(b"done").await.unwrap();
    assert_eq!((world.describe(&id).await.failure, world.ended(&id).await.failure), (None, None));
}

pub(crate) async fn finished_work_is_not_handed_out_again(world: World) {
    let held = world.held().await;
    held.complete(b"done").await.unwrap();
    world.clock.advance(ms(6 * 24 * 60 * 60 * 1_000)).await;
    assert!(world.worker("worker").claim_up_to(1).await.is_empty());
    assert_eq!(world.result(&held.id()).await, b"done");
}
