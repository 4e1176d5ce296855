//! A tick comes due while the execution of the previous tick is still live.

use ff_core::schedule::SkipReason;
use ff_engine::Engine;

use super::{MINUTE, Overlap, Plan, TickOutcome, everything, outcomes, show, ticks};
use crate::prelude::*;

pub(crate) async fn a_tick_is_skipped_while_the_previous_one_lives(world: World) {
    Plan::new(&world, "skip").put().await;
    world.clock.advance(ms(MINUTE)).await;
    let held = world.worker("w").claim().await;
    world.clock.advance(ms(MINUTE)).await;
    assert_eq!(everything(&world).await.len(), 1);
    assert_eq!(ticks(&world, "skip").await[1].reason, Some(SkipReason::PreviousLives));
    drop(held);
    let id = everything(&world).await[0].execution_id;
    world.cancel(&id).await.unwrap();
    world.clock.advance(ms(MINUTE)).await;
    assert_eq!(everything(&world).await.len(), 2);
}

pub(crate) async fn one_tick_waits_for_the_end_of_the_previous_one(world: World) {
    Plan::new(&world, "queue").overlap(Overlap::QueueOne).put().await;
    world.clock.advance(ms(MINUTE)).await;
    let first = everything(&world).await[0].execution_id;
    world.clock.advance(ms(MINUTE)).await;
    world.clock.advance(ms(MINUTE)).await;
    let seen = ticks(&world, "queue").await;
    assert_eq!((seen[1].outcome, seen[2].reason), (TickOutcome::Queued, Some(SkipReason::AnotherQueued)));
    assert_eq!(everything(&world).await.len(), 1);
    world.cancel(&first).await.unwrap();
    world.clock.advance(ms(limits::QUEUED_TICK_CHECK_MS)).await;
    assert_eq!(everything(&world).await.len(), 2);
    let shown = show(&world, "queue").await.schedule;
    assert_eq!((shown.ticks[1].outcome, shown.queued), (TickOutcome::Started, None));
    assert_eq!(shown.ticks[1].tick, seen[1].tick, "its time stays the one it waited since");
}

/// The end of the previous execution wakes the engine. The clock does not move.
pub(crate) async fn a_waiting_tick_starts_when_the_previous_one_ends(world: World) {
    Plan::new(&world, "queue").overlap(Overlap::QueueOne).put().await;
    world.clock.advance(ms(MINUTE)).await;
    let first = everything(&world).await[0].execution_id;
    world.clock.slip(ms(MINUTE));
    let engine = Engine::start(world.engine_store.clone());
    world.at_its_end(engine.stop());
    while outcomes(&world, "queue").await.len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(outcomes(&world, "queue").await[1], TickOutcome::Queued);
    world.cancel(&first).await.unwrap();
    assert_eq!(world.worker("w").next(1, ms(15_000)).await.len(), 1, "well before it is looked at again");
}

pub(crate) async fn ticks_start_beside_each_other_where_allowed(world: World) {
    Plan::new(&world, "allow").overlap(Overlap::Allow).put().await;
    for _ in 0..3 {
        world.clock.advance(ms(MINUTE)).await;
    }
    assert_eq!(everything(&world).await.len(), 3);
    assert!(outcomes(&world, "allow").await.iter().all(|outcome| *outcome == TickOutcome::Started));
}

pub(crate) async fn cancel_previous_cancels_the_execution_of_the_previous_tick(world: World) {
    Plan::new(&world, "cancel").overlap(Overlap::CancelPrevious).put().await;
    world.clock.advance(ms(MINUTE)).await;
    let first = everything(&world).await[0].execution_id;
    world.clock.advance(ms(MINUTE)).await;
    assert_eq!(world.state(&first).await, PublicState::Cancelled);
    assert_eq!(everything(&world).await.len(), 2);
    let second = ticks(&world, "cancel").await[1].execution_id.unwrap();
    assert_eq!(world.state(&second).await, PublicState::Waiting);
}

pub(crate) async fn a_forgotten_execution_does_not_count_as_running(world: World) {
    let mut target = world.job("report").args();
    (target.policy.retention_ms, target.policy.dedup_window_ms) = (Some(1_000), 1_000);
    Plan::new(&world, "short").starts(target).put().await;
    world.clock.advance(ms(MINUTE)).await;
    world.worker("w").claim().await.complete(b"done").await.unwrap();
    world.clock.advance(ms(MINUTE)).await;
    assert_eq!(everything(&world).await.len(), 1, "the first is forgotten, and the second has started");
    assert_eq!(outcomes(&world, "short").await, [TickOutcome::Started; 2]);
}
