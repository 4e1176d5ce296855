//! A tick starts at its time, once, whichever engine handles it.

use ff_core::partition::schedule_partition;
use ff_engine::{Engine, Orchestration};

use super::{MINUTE, Overlap, Plan, TickOutcome, Timing, everything, named, show, ticks};
use crate::prelude::*;

pub(crate) async fn a_tick_starts_at_its_time_and_says_what_it_started(world: World) {
    let put = Plan::new(&world, "hourly").put().await;
    world.clock.advance(ms(MINUTE - 1)).await;
    assert_eq!(everything(&world).await.len(), 0);
    world.clock.advance(ms(1)).await;
    let started = everything(&world).await;
    assert_eq!(started.len(), 1);
    let shown = show(&world, "hourly").await;
    let [tick] = &shown.schedule.ticks[..] else { panic!("{shown:?}") };
    assert_eq!((tick.tick, tick.outcome), (put.next_ticks[0], TickOutcome::Started));
    assert_eq!(tick.execution_id, Some(started[0].execution_id));
    assert_eq!(shown.next_ticks[0], put.next_ticks[1]);
}

pub(crate) async fn many_engines_start_a_tick_once(world: World) {
    let schedule = named("shared");
    Plan::new(&world, "shared").overlap(Overlap::Allow).put().await;
    for _ in 0..5 {
        world.clock.slip(ms(MINUTE));
        let now = world.clock.now();
        let looks = (0..4).map(|_| {
            let (store, schedule) = (world.engine_store.clone(), schedule.clone());
            tokio::spawn(async move { store.look_at_schedule(&schedule, now).await })
        });
        for look in looks.collect::<Vec<_>>() {
            look.await.unwrap().unwrap();
        }
    }
    assert_eq!(everything(&world).await.len(), 5);
    assert_eq!(ticks(&world, "shared").await.len(), 5);
}

/// An engine that crashes after the submission has not recorded the tick.
pub(crate) async fn a_tick_that_was_submitted_but_not_noted_is_the_same_execution(world: World) {
    let put = Plan::new(&world, "crash").put().await;
    world.clock.slip(ms(MINUTE));
    let target = put.schedule.definition.target.at_tick(&put.schedule.tick(put.next_ticks[0])).unwrap();
    let ff_core::schedule::ScheduleTarget::Execution(args) = target else { panic!("it starts an execution") };
    let submitted = world.backend.submit(*args).await.unwrap();
    world.clock.fire_due().await;
    assert_eq!(everything(&world).await.len(), 1);
    assert_eq!(ticks(&world, "crash").await[0].execution_id, Some(submitted.execution_id));
}

/// The definition may change between the submission and the record of the tick.
pub(crate) async fn a_tick_that_was_submitted_as_something_else_stays_what_it_was(world: World) {
    let put = Plan::new(&world, "crash").put().await;
    world.clock.slip(ms(MINUTE));
    let target = put.schedule.definition.target.at_tick(&put.schedule.tick(put.next_ticks[0])).unwrap();
    let ff_core::schedule::ScheduleTarget::Execution(args) = target else { panic!("it starts an execution") };
    let submitted = world.backend.submit(*args).await.unwrap();
    Plan::new(&world, "crash").starts(world.job("another").payload(Payload::json("1")).args()).put().await;
    world.clock.fire_due().await;
    assert_eq!(everything(&world).await.len(), 1);
    assert_eq!(ticks(&world, "crash").await[0].execution_id, Some(submitted.execution_id));
}

pub(crate) async fn only_one_writer_of_a_schedule_version_succeeds(world: World) {
    let put = Plan::new(&world, "cas").put().await;
    let write = |expected, version| WriteScheduleArgs {
        schedule: named("cas"),
        expected,
        record: Some(Box::new(ff_core::schedule::Schedule { version, ..put.schedule.clone() })),
        tick_records: Vec::new(),
    };
    let written = async |args| world.engine_store.write_schedule(args).await.unwrap().written;
    assert!(written(write(1, 2)).await);
    assert!(written(write(1, 2)).await, "the same again is answered as the first time");
    assert!(!written(write(1, 3)).await);
    assert!(!written(write(0, 1)).await);
    assert!(written(write(2, 3)).await);
    let gone = WriteScheduleArgs { record: None, ..write(3, 0) };
    assert!(!written(WriteScheduleArgs { expected: 2, ..gone.clone() }).await);
    assert!(written(gone.clone()).await);
    assert!(written(gone).await);
}

pub(crate) async fn due_schedules_are_found_by_their_partition(world: World) {
    for nth in 0..12 {
        Plan::new(&world, &format!("s{nth}")).with(|it| it.timing = Timing::EveryMs(MINUTE + nth)).put().await;
    }
    let agenda = world.engine_store.schedule_agenda().await.unwrap();
    let mut found = 0;
    for partition in world.partitions() {
        let due = world.engine_store.due_schedules(DueSchedulesArgs { partition, limit: 100 }).await.unwrap();
        assert!(due.windows(2).all(|pair| pair[0].look_at <= pair[1].look_at));
        let config = world.engine_store.partitions();
        assert!(due.iter().all(|one| schedule_partition(&one.schedule, &config) == partition));
        let first = agenda.iter().find(|tick| tick.partition == partition).map(|tick| tick.look_at);
        assert_eq!(first, due.first().map(|one| one.look_at));
        found += due.len();
    }
    assert_eq!(found, 12);
    world.backend.pause_schedule(PauseScheduleArgs { schedule: named("s0"), reason: None }).await.unwrap();
    let mut left = 0;
    for partition in world.partitions() {
        left += world.engine_store.due_schedules(DueSchedulesArgs { partition, limit: 100 }).await.unwrap().len();
    }
    assert_eq!(left, 11, "a paused one is not due");
}

pub(crate) async fn schedules_due_at_the_same_time_all_start(world: World) {
    for nth in 0..150 {
        Plan::new(&world, &format!("s{nth}")).put().await;
    }
    world.clock.advance(ms(MINUTE)).await;
    assert_eq!(everything(&world).await.len(), 150);
}

/// An engine notices a new schedule and its due time without any call.
pub(crate) async fn an_engine_starts_ticks_by_itself(world: World) {
    let engine = Engine::start(world.engine_store.clone());
    world.at_its_end(engine.stop());
    Plan::new(&world, "alone").with(|it| it.timing = Timing::EveryMs(1_000)).put().await;
    world.clock.slip(ms(1_000));
    let started = world.worker("waiting").next(1, ms(50_000)).await;
    assert_eq!(started.len(), 1);
}

/// An engine that starts later finds the due ticks.
pub(crate) async fn an_engine_that_starts_late_finds_what_is_due(world: World) {
    Plan::new(&world, "late").put().await;
    world.clock.slip(ms(MINUTE));
    let engine = Engine::start(world.engine_store.clone());
    world.at_its_end(engine.stop());
    assert_eq!(world.worker("waiting").next(1, ms(50_000)).await.len(), 1);
}
