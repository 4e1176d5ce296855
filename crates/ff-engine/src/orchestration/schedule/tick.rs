//! Looking at schedules that are due.

use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::{DueSchedulesArgs, ScheduleRef};
use ff_core::engine_error::EngineError;
use ff_core::limits;
use ff_core::schedule::{OverlapVerdict, Schedule, StartedWork, TickStep, Turn};
use ff_core::types::TimestampMs;
use futures_util::{StreamExt, stream};

use super::{ATTEMPTS_MAX, busy, start, write};

/// The outcome for the schedules of a partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TickedPartition {
    /// Number of schedules looked at.
    pub looked: usize,
    /// Time of the next look; in the past when there is more to do.
    pub next: Option<TimestampMs>,
    /// Schedules with a waiting tick, and the work whose end the tick waits for.
    pub awaited: Vec<(StartedWork, ScheduleRef)>,
    /// Error of a schedule that could not be looked at. The others were.
    pub failure: Option<EngineError>,
}

/// The outcome for a schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TickedSchedule {
    pub look_at: Option<TimestampMs>,
    /// Work whose end a tick waits for.
    pub awaits: Option<StartedWork>,
}

/// Looks at one batch of the due schedules of a partition.
pub(in crate::orchestration) async fn look_at_partition<S: EngineStore + ?Sized>(
    store: &S,
    partition: u16,
) -> Answer<TickedPartition> {
    let limit = limits::SCHEDULES_AT_ONCE + 1;
    let first = store.due_schedules(DueSchedulesArgs { partition, limit }).await?;
    let now = store.now().await?;
    let looked = first.iter().take(limits::SCHEDULES_AT_ONCE).take_while(|one| one.look_at <= now).count();
    let next = first.get(looked).map(|one| one.look_at);
    let look = |schedule: ScheduleRef| async move { (look_at_schedule(store, &schedule, now).await, schedule) };
    let due: Vec<_> = first.into_iter().take(looked).map(|one| one.schedule).collect();
    let looks: Vec<_> = stream::iter(due).map(look).buffer_unordered(looked.max(1)).collect().await;
    let mut ticked = TickedPartition { looked, next, ..TickedPartition::default() };
    for (answer, schedule) in looks {
        match answer {
            Ok(TickedSchedule { look_at, awaits }) => {
                ticked.next = ticked.next.into_iter().chain(look_at).min();
                ticked.awaited.extend(awaits.map(|work| (work, schedule)));
            }
            Err(error) => ticked.failure = Some(error),
        }
    }
    Ok(ticked)
}

/// Looks at a schedule: starts due ticks, and writes the outcome. If a start could not be recorded, the next look finds its work
/// again.
pub(in crate::orchestration) async fn look_at_schedule<S: EngineStore + ?Sized>(
    store: &S,
    schedule: &ScheduleRef,
    now: TimestampMs,
) -> Answer<TickedSchedule> {
    for _ in 0..ATTEMPTS_MAX {
        let Some(before) = store.find_schedule(schedule).await? else { return Ok(TickedSchedule::default()) };
        let mut turn = Turn::of(&before, now);
        run(store, &before, &mut turn).await?;
        let (tick_records, awaits) = (turn.tick_records().to_vec(), turn.awaits());
        let Some(after) = turn.finish(&before) else {
            return Ok(TickedSchedule { look_at: before.look_at(), awaits });
        };
        if write(store, schedule, Some(&before), Some(&after), tick_records).await? {
            return Ok(TickedSchedule { look_at: after.look_at(), awaits });
        }
    }
    Err(busy())
}

/// Starts the work of a turn.
pub(super) async fn run<S: EngineStore + ?Sized>(store: &S, schedule: &Schedule, turn: &mut Turn) -> Answer<()> {
    loop {
        let tick = match turn.step() {
            TickStep::Done => return Ok(()),
            TickStep::Start(tick) => tick,
            TickStep::Ask(tick, last) => {
                let lives = start::lives(store, last).await?;
                match turn.overlap(tick, last, lives) {
                    OverlapVerdict::Settled => continue,
                    OverlapVerdict::Start => tick,
                    OverlapVerdict::CancelAndStart(last) => {
                        start::cancel(store, schedule, last).await?;
                        tick
                    }
                }
            }
        };
        start::start(store, schedule, tick).await?.note(turn, tick);
    }
}
