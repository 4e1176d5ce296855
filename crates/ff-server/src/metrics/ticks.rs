//! Metrics of schedule ticks: outcomes and lateness.

use std::time::Duration;

use ff_core::contracts::WriteScheduleArgs;
use ff_core::schedule::TickOutcome;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::labels::WordLabel;
use super::register::{enter, quick};

pub(super) struct Ticks {
    outcomes: Family<WordLabel, Counter>,
    lateness: Histogram,
}

/// The outcome of a tick, and how late it was handled.
pub(super) struct TickNote {
    outcome: TickOutcome,
    late: Duration,
    triggered: bool,
}

impl Ticks {
    /// Registers the metrics. Counters begin at zero, so that the first event is an increase.
    pub(super) fn registered(registry: &mut Registry) -> Self {
        let ticks = Self {
            outcomes: enter(
                registry,
                "schedule_ticks",
                "Ticks of schedules, by what became of them",
                Family::default(),
            ),
            lateness: enter(registry, "schedule_lateness_seconds", "From the time of a tick to its start", quick()),
        };
        for outcome in TickOutcome::ALL {
            drop(ticks.outcomes.get_or_create(&label(*outcome)));
        }
        ticks
    }

    /// Counts handled ticks.
    pub(super) fn count(&self, notes: &[TickNote]) {
        for note in notes {
            self.outcomes.get_or_create(&label(note.outcome)).inc();
            if note.outcome == TickOutcome::Started && !note.triggered {
                self.lateness.observe(note.late.as_secs_f64());
            }
        }
    }
}

impl TickNote {
    /// Returns the ticks that a change of a schedule records.
    pub(super) fn of(args: &WriteScheduleArgs) -> Vec<Self> {
        let Some(schedule) = &args.record else { return Vec::new() };
        let note = |record: &ff_core::schedule::TickRecord| Self {
            outcome: record.outcome,
            late: Duration::from_millis(record.handled_at.since(schedule.start_of(record.tick))),
            triggered: record.triggered,
        };
        args.tick_records.iter().map(note).collect()
    }
}

fn label(outcome: TickOutcome) -> WordLabel {
    WordLabel { label: "outcome", word: outcome.as_str() }
}
