//! Submissions with one debounce key become one execution, which starts after a delay without further submissions.

use super::nothing_to_claim;
use crate::prelude::*;

pub(crate) async fn the_last_submission_is_what_runs(world: World) {
    let first = debounced(&world, "1").try_submit().await.unwrap();
    assert_eq!((first.conflict, first.public_state), (None, PublicState::Delayed));
    world.clock.advance(ms(900)).await;
    let second = debounced(&world, "22").try_submit().await.unwrap();
    assert_eq!((second.execution_id, second.duplicate), (first.execution_id, false));
    assert_eq!(second.conflict, Some(KeyConflict::Replaced));

    world.clock.advance(ms(999)).await;
    assert!(nothing_to_claim(&world).await, "its start was moved");
    world.clock.advance(ms(1)).await;
    let held = world.worker("w").claim().await;
    assert_eq!((held.id(), held.payload.clone()), (first.execution_id, Payload::json("22")));
    let info = world.describe(&held.id()).await;
    assert_eq!((info.payload_bytes, info.submission_key.unwrap().as_str()), (2, "debounce:index"));
    assert_eq!(world.backend.payload(&held.id()).await.unwrap(), Payload::json("22"));
}

pub(crate) async fn a_debounced_submission_does_not_move_a_started_execution(world: World) {
    let first = debounced(&world, "1").submit().await;
    world.clock.advance(ms(1_000)).await;
    let held = world.worker("w").claim().await;
    let second = debounced(&world, "2").try_submit().await.unwrap();
    assert_eq!((second.duplicate, second.conflict), (false, None));
    assert_ne!(second.execution_id, first);
    assert_eq!(world.backend.payload(&first).await.unwrap(), Payload::json("1"));
    held.complete(b"done").await.unwrap();
    let third = debounced(&world, "3").try_submit().await.unwrap();
    assert_eq!(third.execution_id, second.execution_id, "the end of the one before does not matter");
    world.clock.advance(ms(1_000)).await;
    assert_eq!(world.worker("w").claim().await.payload, Payload::json("3"));
}

/// An execution that waits for a worker has not started, so a new submission still moves it.
pub(crate) async fn a_debounced_submission_moves_a_waiting_execution(world: World) {
    let first = debounced(&world, "1").submit().await;
    world.clock.advance(ms(1_000)).await;
    assert_eq!(world.state(&first).await, PublicState::Waiting);
    let again = debounced(&world, "2").try_submit().await.unwrap();
    assert_eq!((again.execution_id, again.public_state), (first, PublicState::Delayed));
    assert!(nothing_to_claim(&world).await);
    world.clock.advance(ms(1_000)).await;
    assert_eq!(world.worker("w").claim().await.payload, Payload::json("2"));
}

pub(crate) async fn it_starts_at_the_latest_ten_delays_after_the_first_submission(world: World) {
    let first = debounced(&world, "0").submit().await;
    for nth in 1..=11 {
        world.clock.advance(ms(900)).await;
        assert_eq!(debounced(&world, &nth.to_string()).submit().await, first);
    }
    let until = world.describe(&first).await.delayed_until.unwrap();
    assert_eq!(until.since(world.clock.now()), 100, "9 900 ms have passed");
    world.clock.advance(ms(100)).await;
    let late = debounced(&world, "12").try_submit().await.unwrap();
    assert_eq!((late.execution_id, late.public_state), (first, PublicState::Waiting), "it is not moved any more");
    assert_eq!(world.worker("w").claim().await.payload, Payload::json("12"));
}

pub(crate) async fn a_submission_sent_again_moves_nothing(world: World) {
    debounced(&world, "1").submit().await;
    let work = debounced(&world, "2").uuid(Uuid::now_v7());
    let first = work.clone().try_submit().await.unwrap();
    world.clock.advance(ms(500)).await;
    let again = world.writes_nothing(work.clone().try_submit()).await.unwrap();
    assert_eq!((again.execution_id, again.duplicate), (first.execution_id, true));
    world.clock.advance(ms(500)).await;
    let held = world.worker("w").claim().await;
    assert_eq!((held.id(), held.payload.clone()), (first.execution_id, Payload::json("2")));
    assert!(work.try_submit().await.unwrap().duplicate, "also when it has started");
}

pub(crate) async fn a_key_is_of_one_kind_and_lane_while_its_execution_has_not_started(world: World) {
    debounced(&world, "1").submit().await;
    let before = world.contents().await;
    let other_kind = world.job("other").debounce("index", ms(1_000));
    for other in [other_kind, debounced(&world, "1").lane("other")] {
        assert_refused!(other.try_submit().await, "idempotency_conflict", "debounce.key");
    }
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn a_debounce_is_refused_that_cannot_be(world: World) {
    let before = world.contents().await;
    for (work, field) in [
        (debounced(&world, "1").debounce("index", ms(0)), "debounce.delay_ms"),
        (debounced(&world, "1").debounce("index", ms(limits::DEBOUNCE_MAX_MS + 1)), "debounce.delay_ms"),
        (debounced(&world, "1").after(ms(5)), "debounce"),
        (debounced(&world, "1").key("once"), "idempotency_key"),
    ] {
        assert_refused!(work.try_submit().await, "invalid_input", field);
    }
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn held_work_is_debounced_and_stays_held(world: World) {
    let id = debounced(&world, "1").submit().await;
    world.backend.hold(HoldArgs { execution_id: id, reason: None, requested_by: None }).await.unwrap();
    world.clock.advance(ms(1_000)).await;
    assert_eq!(debounced(&world, "2").submit().await, id);
    world.clock.advance(ms(1_000)).await;
    assert!(nothing_to_claim(&world).await);
    world.backend.release_hold(ReleaseHoldArgs { execution_id: id }).await.unwrap();
    assert_eq!(world.worker("w").claim().await.payload, Payload::json("2"));
}

fn debounced(world: &World, payload: &str) -> Submission {
    world.job("index").payload(Payload::json(payload.to_owned())).debounce("index", ms(1_000))
}
