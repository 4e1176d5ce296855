//! Schedules as callers change them: each change starts from the record that was read, and is written only over that version.

mod start;
mod tick;

use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::{
    BackfillArgs, BackfilledTicks, NextTicks, PauseScheduleArgs, PutScheduleArgs, ScheduleDeleted, ScheduleInfo,
    ScheduleRef, WriteScheduleArgs, check_tick_count,
};
use ff_core::engine_error::{Code, EngineError};
use ff_core::schedule::{Schedule, TickOutcome, TickRecord, Turn};
use ff_core::types::{ScheduleId, TimestampMs};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::AT_ONCE;
pub use tick::{TickedPartition, TickedSchedule};
pub(super) use tick::{look_at_partition, look_at_schedule};

/// Maximum number of attempts at a change when concurrent changes are written first.
const ATTEMPTS_MAX: usize = 16;

/// Creates or redefines a schedule.
pub(super) async fn put<S: EngineStore + ?Sized>(store: &S, args: PutScheduleArgs) -> Answer<ScheduleInfo> {
    let PutScheduleArgs { schedule, definition } = args;
    for _ in 0..ATTEMPTS_MAX {
        let (before, now) = (store.find_schedule(&schedule).await?, store.now().await?);
        let after = match &before {
            Some(before) => match before.redefine(definition.clone(), now)? {
                Some(after) => after,
                None => return Ok(ScheduleInfo::of(before.clone())),
            },
            None => {
                let names = (schedule.namespace.clone(), schedule.name.clone());
                Schedule::create(ScheduleId::new(), names, definition.clone(), now)?
            }
        };
        if write(store, &schedule, before.as_ref(), Some(&after), Vec::new()).await? {
            return Ok(ScheduleInfo::of(after));
        }
    }
    Err(busy())
}

/// Changes an existing schedule. If there is nothing to change, returns the schedule as it is.
async fn change<S: EngineStore + ?Sized>(
    store: &S,
    schedule: &ScheduleRef,
    make: impl Fn(&Schedule, TimestampMs) -> Option<Schedule> + Send + Sync,
) -> Answer<ScheduleInfo> {
    for _ in 0..ATTEMPTS_MAX {
        let before = found(store, schedule).await?;
        let now = store.now().await?;
        let Some(after) = make(&before, now) else { return Ok(ScheduleInfo::of(before)) };
        if write(store, schedule, Some(&before), Some(&after), Vec::new()).await? {
            return Ok(ScheduleInfo::of(after));
        }
    }
    Err(busy())
}

pub(super) async fn pause<S: EngineStore + ?Sized>(store: &S, args: PauseScheduleArgs) -> Answer<ScheduleInfo> {
    args.check()?;
    change(store, &args.schedule, |before, now| before.pause(args.reason.clone(), now)).await
}

pub(super) async fn resume<S: EngineStore + ?Sized>(store: &S, schedule: ScheduleRef) -> Answer<ScheduleInfo> {
    change(store, &schedule, Schedule::resume).await
}

/// Removes a schedule. Work it has started continues.
pub(super) async fn delete<S: EngineStore + ?Sized>(store: &S, schedule: ScheduleRef) -> Answer<ScheduleDeleted> {
    for _ in 0..ATTEMPTS_MAX {
        let Some(before) = store.find_schedule(&schedule).await? else { return Ok(ScheduleDeleted { already: true }) };
        if write(store, &schedule, Some(&before), None, Vec::new()).await? {
            return Ok(ScheduleDeleted { already: false });
        }
    }
    Err(busy())
}

pub(super) async fn describe<S: EngineStore + ?Sized>(store: &S, schedule: ScheduleRef) -> Answer<ScheduleInfo> {
    Ok(ScheduleInfo::of(found(store, &schedule).await?))
}

/// Returns the next ticks of a schedule.
pub(super) async fn next<S: EngineStore + ?Sized>(store: &S, schedule: ScheduleRef, count: usize) -> Answer<NextTicks> {
    check_tick_count(count)?;
    Ok(NextTicks { ticks: found(store, &schedule).await?.next_ticks(count) })
}

/// Starts the work of a tick now. The overlap policy applies as for any tick.
pub(super) async fn trigger<S: EngineStore + ?Sized>(store: &S, schedule: ScheduleRef) -> Answer<TickRecord> {
    // The time identifies the start, so a repeated turn starts the same work.
    let now = store.now().await?;
    for _ in 0..ATTEMPTS_MAX {
        let before = found(store, &schedule).await?;
        let mut turn = Turn::triggered(&before, now);
        tick::run(store, &before, &mut turn).await?;
        let tick_records = turn.tick_records().to_vec();
        let after = turn.finish(&before);
        let Some(record) = tick_records.last().cloned() else { return Err(busy()) };
        if write(store, &schedule, Some(&before), after.as_ref(), tick_records).await? {
            return Ok(record);
        }
    }
    Err(busy())
}

/// Starts the work of every tick in a past range, once per tick.
pub(super) async fn backfill<S: EngineStore + ?Sized>(store: &S, args: BackfillArgs) -> Answer<BackfilledTicks> {
    args.check()?;
    let schedule = found(store, &args.schedule).await?;
    let now = store.now().await?;
    let ticks = args.ticks(&schedule, now)?;
    let start = |tick| {
        let schedule = &schedule;
        async move {
            let mut record = TickRecord {
                tick,
                handled_at: now,
                outcome: TickOutcome::Started,
                execution_id: None,
                flow_id: None,
                reason: None,
                detail: None,
                triggered: true,
            };
            start::start(store, schedule, tick).await?.note_in(&mut record);
            Ok::<_, EngineError>(record)
        }
    };
    let ticks = stream::iter(ticks).map(start).buffered(AT_ONCE).try_collect().await?;
    Ok(BackfilledTicks { ticks })
}

async fn found<S: EngineStore + ?Sized>(store: &S, schedule: &ScheduleRef) -> Answer<Schedule> {
    store.find_schedule(schedule).await?.ok_or_else(|| Code::ScheduleNotFound.refusal().into())
}

/// Writes a schedule over the version it was made from. Returns false if that is gone.
async fn write<S: EngineStore + ?Sized>(
    store: &S,
    schedule: &ScheduleRef,
    before: Option<&Schedule>,
    after: Option<&Schedule>,
    tick_records: Vec<TickRecord>,
) -> Answer<bool> {
    let args = WriteScheduleArgs {
        schedule: schedule.clone(),
        expected: before.map_or(0, |before| before.version),
        record: after.cloned().map(Box::new),
        tick_records,
    };
    Ok(store.write_schedule(args).await?.written)
}

fn busy() -> EngineError {
    EngineError::Unavailable("the schedule changes all the time".into())
}
