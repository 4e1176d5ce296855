//! Missed ticks run according to the catch-up window.

use ff_core::schedule::SkipReason;

use super::{CatchUp, MINUTE, Overlap, Plan, TickOutcome, Timing, everything, ticks};
use crate::prelude::*;

pub(crate) async fn of_missed_ticks_the_last_runs_by_default(world: World) {
    let put = Plan::new(&world, "last").put().await;
    world.clock.advance(ms(3 * MINUTE + 500)).await;
    assert_eq!(everything(&world).await.len(), 1);
    let seen = ticks(&world, "last").await;
    assert_eq!(seen.iter().map(|tick| tick.tick).collect::<Vec<_>>(), put.next_ticks[..3]);
    assert_eq!((seen[0].reason, seen[2].outcome), (Some(SkipReason::LaterTick), TickOutcome::Started));
}

pub(crate) async fn every_missed_tick_runs_with_catch_up_all(world: World) {
    let plan = Plan::new(&world, "all").overlap(Overlap::Allow).catch_up(CatchUp::All, 10 * MINUTE);
    plan.put().await;
    world.clock.advance(ms(4 * MINUTE)).await;
    assert_eq!(everything(&world).await.len(), 4);
}

pub(crate) async fn more_than_one_turn_of_missed_ticks_all_run(world: World) {
    let plan = Plan::new(&world, "many").overlap(Overlap::Allow).catch_up(CatchUp::All, 60 * MINUTE);
    plan.with(|it| it.timing = Timing::EveryMs(1_000)).put().await;
    world.clock.advance(ms(230_000)).await;
    assert_eq!(everything(&world).await.len(), 230);
    assert_eq!(ticks(&world, "many").await.len(), limits::SCHEDULE_TICKS);
}

pub(crate) async fn ticks_missed_for_longer_than_the_window_do_not_run(world: World) {
    let plan = Plan::new(&world, "missed").overlap(Overlap::Allow).catch_up(CatchUp::All, 90_000);
    plan.put().await;
    world.clock.advance(ms(10 * MINUTE)).await;
    assert_eq!(everything(&world).await.len(), 2, "the ticks of the last 90 seconds");
    assert_eq!(ticks(&world, "missed").await[0].reason, Some(SkipReason::Missed));
    let once = world.clock.now() + MINUTE;
    let plan = Plan::new(&world, "once").catch_up(CatchUp::Last, 10_000);
    plan.with(|it| it.timing = Timing::At(once)).put().await;
    world.clock.advance(ms(MINUTE + 10_001)).await;
    assert_eq!(ticks(&world, "once").await[0].reason, Some(SkipReason::Missed));
}

pub(crate) async fn a_schedule_ends_with_its_last_tick(world: World) {
    let end = world.clock.now() + 2 * MINUTE;
    Plan::new(&world, "ends").overlap(Overlap::Allow).with(|it| it.ends_at = Some(end)).put().await;
    for _ in 0..4 {
        world.clock.advance(ms(MINUTE)).await;
    }
    assert_eq!(everything(&world).await.len(), 2);
    assert_eq!(super::show(&world, "ends").await.next_ticks, []);
}

pub(crate) async fn a_schedule_begins_with_its_start(world: World) {
    let start = world.clock.now() + 5 * MINUTE + 7;
    let put = Plan::new(&world, "begins").with(|it| it.starts_at = Some(start)).put().await;
    assert_eq!(put.next_ticks[0], start, "an interval is counted from it");
    world.clock.advance(ms(5 * MINUTE)).await;
    assert_eq!(everything(&world).await.len(), 0);
    world.clock.advance(ms(7)).await;
    assert_eq!(everything(&world).await.len(), 1);
}

pub(crate) async fn jitter_puts_a_tick_off_and_keeps_its_time(world: World) {
    let put = Plan::new(&world, "jitter").with(|it| it.jitter_ms = 30_000).put().await;
    world.clock.advance(ms(MINUTE + 30_000)).await;
    assert_eq!(everything(&world).await.len(), 1);
    let tick = &ticks(&world, "jitter").await[0];
    assert_eq!(tick.tick, put.next_ticks[0]);
    let created = everything(&world).await[0].created_at;
    assert!(created >= put.schedule.start_of(tick.tick));
}
