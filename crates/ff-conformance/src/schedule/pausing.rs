//! A paused schedule does not tick. An operator may start a tick by hand.

use super::{MINUTE, Overlap, Plan, TickOutcome, everything, named, outcomes, show};
use crate::prelude::*;

pub(crate) async fn a_paused_schedule_does_not_tick_until_it_is_resumed(world: World) {
    Plan::new(&world, "paused").put().await;
    let pause = PauseScheduleArgs { schedule: named("paused"), reason: Some("maintenance".into()) };
    let paused = world.backend.pause_schedule(pause.clone()).await.unwrap();
    let why = paused.schedule.paused.clone().unwrap();
    assert_eq!((why.reason.as_deref(), why.at), (Some("maintenance"), world.clock.now()));
    assert_eq!(paused.next_ticks, []);
    world.clock.advance(ms(3 * MINUTE + 1)).await;
    assert_eq!(everything(&world).await.len(), 0);
    let again = world.backend.pause_schedule(pause).await.unwrap();
    assert_eq!(again, paused, "the same again changes nothing");
    let resumed = world.backend.resume_schedule(named("paused")).await.unwrap();
    assert_eq!(resumed.schedule.paused, None);
    world.clock.fire_due().await;
    assert_eq!(everything(&world).await.len(), 0, "ticks that came meanwhile are not made up for");
    world.clock.advance(ms(MINUTE)).await;
    assert_eq!(everything(&world).await.len(), 1);
    assert_refused!(world.backend.resume_schedule(named("none")).await, "schedule_not_found");
    let reason = Some("x".repeat(limits::MESSAGE_BYTES + 1));
    let long = PauseScheduleArgs { schedule: named("paused"), reason };
    assert_refused!(world.backend.pause_schedule(long).await, "limit_exceeded");
}

pub(crate) async fn a_start_by_hand_does_not_move_the_ticks(world: World) {
    let put = Plan::new(&world, "hand").overlap(Overlap::Allow).put().await;
    world.clock.slip(ms(10));
    let started = world.backend.trigger_schedule(named("hand")).await.unwrap();
    assert_eq!((started.outcome, started.triggered), (TickOutcome::Started, true));
    assert_eq!(world.state(&started.execution_id.unwrap()).await, PublicState::Waiting);
    assert_eq!(show(&world, "hand").await.next_ticks, put.next_ticks);
    world.clock.slip(ms(1));
    world.backend.trigger_schedule(named("hand")).await.unwrap();
    assert_eq!(everything(&world).await.len(), 2, "asked again it starts again");
    assert_refused!(world.backend.trigger_schedule(named("none")).await, "schedule_not_found");
}

pub(crate) async fn a_start_by_hand_follows_the_overlap_policy(world: World) {
    Plan::new(&world, "hand").put().await;
    world.backend.trigger_schedule(named("hand")).await.unwrap();
    world.clock.slip(ms(1));
    let skipped = world.backend.trigger_schedule(named("hand")).await.unwrap();
    assert_eq!((skipped.outcome, skipped.execution_id), (TickOutcome::Skipped, None));
    assert_eq!(everything(&world).await.len(), 1);
}

pub(crate) async fn a_paused_schedule_may_be_started_by_hand(world: World) {
    Plan::new(&world, "hand").put().await;
    let pause = PauseScheduleArgs { schedule: named("hand"), reason: None };
    world.backend.pause_schedule(pause).await.unwrap();
    world.backend.trigger_schedule(named("hand")).await.unwrap();
    assert_eq!(outcomes(&world, "hand").await, [TickOutcome::Started]);
    assert!(show(&world, "hand").await.schedule.paused.is_some());
}
