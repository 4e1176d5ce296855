//! A backfill starts the ticks of a past range, each once.

use super::{MINUTE, Overlap, Plan, TickOutcome, everything, named};
use crate::prelude::*;

pub(crate) async fn every_tick_of_a_range_is_started_once(world: World) {
    let put = Plan::new(&world, "back").put().await;
    let ticks = put.next_ticks.clone();
    world.clock.slip(ms(10 * MINUTE));
    let args = BackfillArgs { schedule: named("back"), from: ticks[0], to: ticks[3] };
    let done = world.backend.backfill_schedule(args.clone()).await.unwrap().ticks;
    assert_eq!(done.iter().map(|tick| tick.tick).collect::<Vec<_>>(), ticks[..4]);
    assert!(done.iter().all(|tick| tick.outcome == TickOutcome::Started), "whatever the overlap policy says");
    let again = world.backend.backfill_schedule(args).await.unwrap().ticks;
    assert_eq!(again, done);
    assert_eq!(everything(&world).await.len(), 4);
}

pub(crate) async fn a_tick_that_has_run_is_not_run_again_by_a_backfill(world: World) {
    let put = Plan::new(&world, "back").overlap(Overlap::Allow).put().await;
    world.clock.advance(ms(MINUTE)).await;
    let ran = everything(&world).await[0].execution_id;
    let tick = put.next_ticks[0];
    let args = BackfillArgs { schedule: named("back"), from: tick, to: tick };
    let done = world.backend.backfill_schedule(args).await.unwrap().ticks;
    assert_eq!(done[0].execution_id, Some(ran));
    assert_eq!(everything(&world).await.len(), 1);
}

pub(crate) async fn a_range_that_makes_no_sense_is_refused(world: World) {
    Plan::new(&world, "back").put().await;
    let now = world.clock.now();
    let args = |from, to| BackfillArgs { schedule: named("back"), from, to };
    assert_refused!(world.backend.backfill_schedule(args(now, now - 1)).await, "invalid_input");
    assert_refused!(world.backend.backfill_schedule(args(now, now + 1)).await, "invalid_input");
    assert_refused!(world.backend.backfill_schedule(args(TimestampMs(-5), now)).await, "invalid_input");
    world.clock.slip(ms(2_000 * MINUTE));
    assert_refused!(world.backend.backfill_schedule(args(now, now + 1_500 * MINUTE)).await, "limit_exceeded");
    assert_eq!(everything(&world).await.len(), 0);
    let gone = BackfillArgs { schedule: named("none"), ..args(now, now) };
    assert_refused!(world.backend.backfill_schedule(gone).await, "schedule_not_found");
}
