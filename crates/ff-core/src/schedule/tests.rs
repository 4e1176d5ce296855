//! Turns of schedules.

use uuid::Uuid;

use super::*;
use crate::engine_error::Refusal;
use crate::execution::contracts::SubmitArgs;
use crate::limits;
use crate::payload::Payload;
use crate::types::{ExecutionId, Kind, Namespace, ScheduleId, ScheduleName};

const MINUTE: u64 = 60_000;
/// Midnight, UTC.
const T0: TimestampMs = TimestampMs(1_767_225_600_000);

fn target() -> ScheduleTarget {
    ScheduleTarget::Execution(Box::new(SubmitArgs::new(Kind::parse("report").unwrap(), Payload::default())))
}

fn every_minute() -> ScheduleDefinition {
    ScheduleDefinition::new(Timing::Cron("* * * * *".parse().unwrap()), target())
}

fn create(definition: ScheduleDefinition) -> Result<Schedule, Refusal> {
    let names = (Namespace::default_name(), ScheduleName::parse("nightly").unwrap());
    Schedule::create(ScheduleId::from_uuid(Uuid::from_u128(7)), names, definition, T0)
}

fn schedule(change: impl FnOnce(&mut ScheduleDefinition)) -> Schedule {
    let mut definition = every_minute();
    change(&mut definition);
    create(definition).unwrap()
}

fn work(nth: u128) -> StartedWork {
    StartedWork::Execution(ExecutionId::new(0, Uuid::from_u128(nth)))
}

/// Runs a turn of a schedule. Started work is numbered; `lives` says whether the work started last has not ended.
fn look(before: &Schedule, now: TimestampMs, lives: bool) -> (Schedule, Vec<TimestampMs>) {
    run(Turn::of(before, now), before, lives)
}

fn run(mut turn: Turn, before: &Schedule, lives: bool) -> (Schedule, Vec<TimestampMs>) {
    let (mut started, mut nth) = (Vec::new(), 100);
    loop {
        let tick = match turn.step() {
            TickStep::Done => break,
            TickStep::Start(tick) => tick,
            TickStep::Ask(tick, last) => match turn.overlap(tick, last, lives) {
                OverlapVerdict::Settled => continue,
                OverlapVerdict::Start | OverlapVerdict::CancelAndStart(_) => tick,
            },
        };
        nth += 1;
        started.push(tick);
        turn.started(tick, work(nth));
    }
    (turn.finish(before).unwrap_or_else(|| before.clone()), started)
}

fn outcomes(schedule: &Schedule) -> Vec<(u64, TickOutcome, Option<SkipReason>)> {
    schedule.ticks.iter().map(|one| (one.tick.since(T0) / MINUTE, one.outcome, one.reason)).collect()
}

#[test]
fn a_tick_starts_at_its_time_and_the_next_one_is_awaited() {
    let before = schedule(|_| {});
    assert_eq!(before.look_at(), Some(T0 + MINUTE));
    assert_eq!(look(&before, T0 + MINUTE - 1, false), (before.clone(), vec![]), "not before");
    let (after, started) = look(&before, T0 + MINUTE, false);
    assert_eq!((started, after.look_at(), after.version), (vec![T0 + MINUTE], Some(T0 + 2 * MINUTE), 2));
    assert_eq!(outcomes(&after), [(1, TickOutcome::Started, None)]);
    assert_eq!(look(&after, T0 + MINUTE + 5, false).1, []);
}

#[test]
fn a_turn_that_is_made_again_starts_the_same_ticks() {
    let before = schedule(|definition| definition.catch_up = CatchUp::All);
    let (first, again) = (look(&before, T0 + 3 * MINUTE, false), look(&before, T0 + 3 * MINUTE, false));
    assert_eq!(first, again);
    assert_eq!(first.1.len(), 3);
    assert_eq!(look(&before, T0 + 3 * MINUTE, true).1.len(), 1, "the first lives while the others are looked at");
}

#[test]
fn of_missed_ticks_the_last_one_runs_by_default() {
    let (after, started) = look(&schedule(|_| {}), T0 + 3 * MINUTE + 5, false);
    assert_eq!(started, [T0 + 3 * MINUTE]);
    let later = Some(SkipReason::LaterTick);
    let expected =
        [(1, TickOutcome::Skipped, later), (2, TickOutcome::Skipped, later), (3, TickOutcome::Started, None)];
    assert_eq!(outcomes(&after), expected);
}

#[test]
fn catch_up_all_runs_every_missed_tick_within_the_window() {
    let before = schedule(|definition| {
        (definition.catch_up, definition.overlap) = (CatchUp::All, Overlap::Allow);
        definition.catch_up_ms = 90_000;
    });
    let (after, started) = look(&before, T0 + 5 * MINUTE, false);
    assert_eq!(started, [T0 + 4 * MINUTE, T0 + 5 * MINUTE]);
    assert_eq!(outcomes(&after)[0], (1, TickOutcome::Skipped, Some(SkipReason::Missed)));
    assert_eq!(after.next_tick, Some(T0 + 6 * MINUTE));
}

#[test]
fn a_tick_outside_the_window_does_not_run() {
    let before = schedule(|definition| {
        definition.timing = Timing::Cron("0 9 * * *".parse().unwrap());
        definition.catch_up_ms = 10_000;
    });
    let nine = T0 + 9 * 60 * MINUTE;
    let (after, started) = look(&before, nine + 10_001, false);
    assert_eq!((started, after.next_tick), (vec![], Some(nine + 24 * 60 * MINUTE)));
    assert_eq!(after.ticks[0].reason, Some(SkipReason::Missed));
    assert_eq!(look(&before, nine + 10_000, false).1, [nine]);
}

#[test]
fn a_long_outage_is_made_up_for_in_parts() {
    let before = schedule(|definition| {
        definition.timing = Timing::EveryMs(1_000);
        (definition.catch_up, definition.overlap) = (CatchUp::All, Overlap::Allow);
    });
    let now = T0 + 250_000;
    let (after, started) = look(&before, now, false);
    assert_eq!(started.len(), limits::TICKS_AT_ONCE);
    assert!(after.look_at().unwrap() <= now, "there is more to do");
    let last = schedule(|definition| definition.timing = Timing::EveryMs(1_000));
    let (after, started) = look(&last, now, false);
    assert_eq!((started, after.ticks.len()), (vec![now], limits::SCHEDULE_TICKS));
}

#[test]
fn a_tick_is_skipped_while_the_previous_one_lives() {
    let (one, _) = look(&schedule(|_| {}), T0 + MINUTE, false);
    let (two, started) = look(&one, T0 + 2 * MINUTE, true);
    assert_eq!(started, []);
    assert_eq!(outcomes(&two)[1], (2, TickOutcome::Skipped, Some(SkipReason::PreviousLives)));
    assert_eq!(look(&two, T0 + 3 * MINUTE, false).1, [T0 + 3 * MINUTE]);
}

#[test]
fn queue_one_delays_one_tick_and_skips_the_others() {
    let (one, _) = look(&schedule(|definition| definition.overlap = Overlap::QueueOne), T0 + MINUTE, false);
    let (two, started) = look(&one, T0 + 2 * MINUTE, true);
    assert_eq!((started, two.queued.map(|queued| queued.tick)), (vec![], Some(T0 + 2 * MINUTE)));
    assert_eq!(two.look_at(), Some(T0 + 2 * MINUTE + limits::QUEUED_TICK_CHECK_MS));
    let (three, started) = look(&two, T0 + 3 * MINUTE, true);
    assert_eq!(started, []);
    assert_eq!(outcomes(&three)[2], (3, TickOutcome::Skipped, Some(SkipReason::AnotherQueued)));
    let (four, started) = look(&three, T0 + 3 * MINUTE + 500, false);
    assert_eq!((started, four.queued), (vec![T0 + 2 * MINUTE], None));
    assert_eq!(outcomes(&four)[1], (2, TickOutcome::Started, None), "its entry says what became of it");
    assert_eq!(four.ticks.len(), 3);
}

#[test]
fn the_previous_one_is_cancelled_where_the_policy_says_so() {
    let (one, _) = look(&schedule(|definition| definition.overlap = Overlap::CancelPrevious), T0 + MINUTE, false);
    let mut turn = Turn::of(&one, T0 + 2 * MINUTE);
    let TickStep::Ask(tick, last) = turn.step() else { panic!("it has to be asked whether it lives") };
    assert_eq!(turn.overlap(tick, last, true), OverlapVerdict::CancelAndStart(work(101)));
    assert_eq!(look(&one, T0 + 2 * MINUTE, true).1, [T0 + 2 * MINUTE]);
    let (beside, _) = look(&schedule(|definition| definition.overlap = Overlap::Allow), T0 + MINUTE, false);
    assert_eq!(Turn::of(&beside, T0 + 2 * MINUTE).step(), TickStep::Start(T0 + 2 * MINUTE));
}

#[test]
fn a_paused_schedule_is_not_looked_at_and_misses_nothing_it_makes_up_for() {
    let before = schedule(|_| {});
    let paused = before.pause(Some("maintenance".into()), T0 + 5).unwrap();
    assert_eq!((paused.look_at(), paused.next_ticks(5)), (None, vec![]));
    assert_eq!(paused.pause(Some("maintenance".into()), T0 + 6), None, "the same again changes nothing");
    assert_eq!(look(&paused, T0 + 9 * MINUTE, false).1, []);
    let resumed = paused.resume(T0 + 9 * MINUTE + 1).unwrap();
    assert_eq!(resumed.look_at(), Some(T0 + 10 * MINUTE));
    assert_eq!(resumed.resume(T0 + 9 * MINUTE + 2), None);
    let triggered = run(Turn::triggered(&paused, T0 + 7), &paused, false);
    assert_eq!(triggered.1, [T0 + 7], "an operator may start it all the same");
    assert!(triggered.0.ticks[0].triggered);
}

#[test]
fn the_jitter_of_a_tick_is_deterministic() {
    let before = schedule(|definition| definition.jitter_ms = 30_000);
    let look_at = before.look_at().unwrap();
    assert!((T0 + MINUTE..=T0 + MINUTE + 30_000).contains(&look_at));
    assert_eq!(before.look_at(), Some(look_at));
    assert_eq!(look(&before, look_at - 1, false).1, []);
    let (after, started) = look(&before, look_at, false);
    assert_eq!(started, [T0 + MINUTE], "its time stays the one that was written");
    let delays: std::collections::BTreeSet<_> =
        after.next_ticks(20).iter().map(|tick| after.start_of(*tick).since(*tick)).collect();
    assert!(delays.len() > 10, "ticks differ: {delays:?}");
}

#[test]
fn another_definition_keeps_the_schedule_and_the_same_changes_nothing() {
    let before = schedule(|_| {});
    assert_eq!(before.redefine(every_minute(), T0 + 1), Ok(None));
    let mut definition = every_minute();
    definition.overlap = Overlap::Allow;
    let after = before.redefine(definition.clone(), T0 + 2 * MINUTE).unwrap().unwrap();
    assert_eq!((after.id, after.version, after.next_tick), (before.id, 2, before.next_tick));
    definition.timing = Timing::EveryMs(5 * MINUTE);
    let after = before.redefine(definition, T0 + 2 * MINUTE).unwrap().unwrap();
    assert_eq!(after.next_tick, Some(T0 + 5 * MINUTE));
}

#[test]
fn a_schedule_out_of_bounds_is_refused_with_its_field() {
    let field = |change: &dyn Fn(&mut ScheduleDefinition)| {
        let mut definition = every_minute();
        change(&mut definition);
        create(definition).unwrap_err().field.unwrap()
    };
    assert_eq!(field(&|it| (it.starts_at, it.ends_at) = (Some(T0 + 9), Some(T0 + 8))), "ends_at");
    assert_eq!(field(&|it| it.ends_at = Some(T0)), "ends_at");
    assert_eq!(field(&|it| it.timing = Timing::At(T0)), "at");
    assert_eq!(field(&|it| it.timing = Timing::At(TimestampMs(limits::TIMESTAMP_MAX_MS + 1))), "at");
    assert_eq!(field(&|it| it.timing = Timing::EveryMs(999)), "every_ms");
    assert_eq!(field(&|it| it.timing = Timing::EveryMs(limits::SPAN_MAX_MS + 1)), "every_ms");
    assert_eq!(field(&|it| it.jitter_ms = limits::JITTER_MAX_MS + 1), "jitter_ms");
    assert_eq!(field(&|it| it.catch_up_ms = 9_999), "catch_up_ms");
    assert_eq!(field(&|it| it.starts_at = Some(TimestampMs(-1))), "starts_at");
}

#[test]
fn a_schedule_whose_last_tick_has_come_is_looked_at_no_more() {
    let once = schedule(|definition| definition.timing = Timing::At(T0 + MINUTE));
    let (after, started) = look(&once, T0 + MINUTE, false);
    assert_eq!((started, after.look_at(), after.next_ticks(5)), (vec![T0 + MINUTE], None, vec![]));
}

#[test]
fn a_record_reads_back_as_it_is_written() {
    let (after, _) = look(&schedule(|definition| definition.overlap = Overlap::QueueOne), T0 + MINUTE, false);
    let (after, _) = look(&after, T0 + 2 * MINUTE, true);
    let text = serde_json::to_string(&after).unwrap();
    assert_eq!(serde_json::from_str::<Schedule>(&text).unwrap(), after, "{text}");
    let named = ScheduleRef { namespace: after.namespace, name: after.name };
    assert_eq!(ScheduleRef::parse_key(&named.key()), Some(named));
}
