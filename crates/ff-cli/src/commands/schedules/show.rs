//! Schedules as text for people.

use ff_core::contracts::ScheduleInfo;
use ff_core::schedule::{Schedule, ScheduleTarget, TickOutcome, TickRecord, Timing, Zone};
use ff_core::types::TimestampMs;

use crate::args::span;
use crate::args::timestamp::utc;
use crate::exit::print_message;
use crate::output::{self, Table, or_dash};

/// Formats a time in a time zone.
pub(super) fn local(at: TimestampMs, zone: &Zone) -> String {
    match zone.local(at) {
        Some(local) => format!("{} {zone}", local.strftime("%Y-%m-%d %H:%M:%S")),
        None => at.to_string(),
    }
}

/// Formats the timing of a schedule as it was defined.
fn timing(schedule: &Schedule) -> String {
    let definition = &schedule.definition;
    match &definition.timing {
        Timing::Cron(cron) => format!("{cron} {}", definition.time_zone),
        Timing::EveryMs(every_ms) => format!("every {}", span::exact(*every_ms)),
        Timing::At(at) => format!("at {}", utc(*at)),
    }
}

fn target(schedule: &Schedule) -> String {
    match &schedule.definition.target {
        ScheduleTarget::Execution(args) => args.kind.to_string(),
        ScheduleTarget::Flow(args) => format!("flow {}", args.header.kind),
    }
}

fn state(schedule: &Schedule) -> &'static str {
    match (&schedule.paused, schedule.next_tick) {
        (Some(_), _) => "paused",
        (None, Some(_)) => "active",
        (None, None) => "ended",
    }
}

pub(super) fn table(schedules: &[Schedule]) -> Table {
    let mut table = Table::new(&["SCHEDULE", "STATE", "WHEN", "STARTS", "OVERLAP", "NEXT"]);
    for schedule in schedules {
        let next = or_dash(schedule.next_ticks(1).first().map(|tick| utc(*tick)));
        table.row([
            schedule.name.to_string(),
            state(schedule).to_owned(),
            timing(schedule),
            target(schedule),
            schedule.definition.overlap.to_string(),
            next,
        ]);
    }
    table.fitting(&["OVERLAP"], &["WHEN"])
}

/// Prints a schedule, its next ticks, and the outcomes of its last ticks.
pub(super) fn schedule(info: &ScheduleInfo) -> anyhow::Result<()> {
    table(std::slice::from_ref(&info.schedule)).print()?;
    if let Some(paused) = &info.schedule.paused {
        let reason = paused.reason.as_deref().unwrap_or("no reason was given");
        print_message(format_args!("paused since {}: {reason}", utc(paused.at)));
    }
    if let Some(queued) = info.schedule.queued {
        print_message(format_args!("the tick of {} waits for the end of the one before it", utc(queued.tick)));
    }
    for tick in &info.next_ticks {
        output::line(format_args!("next  {}", local(*tick, &info.schedule.definition.time_zone)))?;
    }
    if info.schedule.ticks.is_empty() {
        return Ok(());
    }
    ticks(&info.schedule.ticks).print()
}

/// Tabulates the outcomes of ticks.
pub(super) fn ticks(records: &[TickRecord]) -> Table {
    let mut table = Table::new(&["TICK", "OUTCOME", "STARTED", "WHY"]);
    for record in records {
        let started = record.execution_id.map(|id| id.to_string());
        let started = started.or(record.flow_id.map(|id| id.to_string()));
        let why = record.reason.map(|reason| reason.to_string()).or(record.detail.clone());
        let outcome = if record.triggered { format!("{} by hand", record.outcome) } else { record.outcome.to_string() };
        table.row([utc(record.tick), outcome, or_dash(started), or_dash(why)]);
    }
    table.fitting(&[], &["WHY"])
}

/// Formats the outcome of a tick: the id of the started work, or the reason why none was started.
pub(super) fn outcome(record: &TickRecord) -> String {
    match (record.outcome, record.execution_id, record.flow_id) {
        (TickOutcome::Started, Some(id), _) => id.to_string(),
        (TickOutcome::Started, None, Some(id)) => id.to_string(),
        (outcome, ..) => {
            let why = record.reason.map(|reason| reason.to_string()).or(record.detail.clone());
            format!("{outcome}: {}", why.unwrap_or_else(|| "it starts when the one before it has ended".to_owned()))
        }
    }
}
