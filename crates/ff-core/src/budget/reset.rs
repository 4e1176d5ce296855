//! The reset of a budget: never, at an interval, or with the calendar of a time zone.

use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Unit};
use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal};
use crate::limits;
use crate::types::TimestampMs;

/// When a budget resets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reset {
    #[default]
    Never,
    /// At this interval in milliseconds, counted from the creation of the budget.
    Interval { every_ms: u64 },
    /// At the start of each day, week (Monday) or month.
    Calendar {
        unit: CalendarUnit,
        /// A name such as `Europe/Berlin` or `UTC`.
        time_zone: String,
    },
}

/// A calendar period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CalendarUnit {
    Day,
    Week,
    Month,
}

/// Period over which usage is added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Period {
    pub from: TimestampMs,
    /// When the next one begins; absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<TimestampMs>,
}

impl Period {
    /// Returns whether the period is over.
    pub fn is_over(&self, now: TimestampMs) -> bool {
        self.until.is_some_and(|until| now >= until)
    }
}

impl Reset {
    pub fn check(&self) -> Result<(), Refusal> {
        match self {
            Self::Never => Ok(()),
            Self::Interval { every_ms } => {
                let (low, high) = (limits::BUDGET_INTERVAL_MIN_MS, limits::BUDGET_INTERVAL_MAX_MS);
                if (low..=high).contains(every_ms) {
                    return Ok(());
                }
                let why = format!("must be from {low} to {high} milliseconds, got {every_ms}");
                Err(Refusal::new(Code::LimitExceeded).at("reset.interval.every_ms").because(why))
            }
            Self::Calendar { time_zone, .. } => zone(time_zone).map(drop).ok_or_else(|| {
                let why = format!("must be the name of a time zone, such as Europe/Berlin or UTC, not {time_zone:?}");
                Refusal::invalid("reset.calendar.time_zone", why)
            }),
        }
    }

    /// Returns the period that contains `now`. Periods follow only from the creation of the budget and the calendar, so
    /// that they do not depend on when they are computed.
    pub fn period_at(&self, begun: TimestampMs, now: TimestampMs) -> Period {
        match self {
            Self::Never => Period { from: begun, until: None },
            Self::Interval { every_ms } => {
                let every = i64::try_from(*every_ms).unwrap_or(i64::MAX).max(1);
                let from = begun.0 + (now.0 - begun.0).div_euclid(every) * every;
                Period { from: TimestampMs(from), until: Some(TimestampMs(from.saturating_add(every))) }
            }
            // If the time zone is no longer known, the period stays open, so that the budget is not reset by mistake.
            Self::Calendar { unit, time_zone } => {
                calendar(*unit, time_zone, now).unwrap_or(Period { from: begun, until: None })
            }
        }
    }
}

fn zone(name: &str) -> Option<TimeZone> {
    if name.eq_ignore_ascii_case("local") {
        return None;
    }
    TimeZone::get(name).ok()
}

fn calendar(unit: CalendarUnit, time_zone: &str, now: TimestampMs) -> Option<Period> {
    let now = Timestamp::from_millisecond(now.0).ok()?.to_zoned(zone(time_zone)?);
    let (date, length) = match unit {
        CalendarUnit::Day => (now.date(), 1.day()),
        CalendarUnit::Week => {
            let days = i64::from(now.weekday().since(Weekday::Monday));
            (now.date().checked_sub(days.days()).ok()?, 1.week())
        }
        CalendarUnit::Month => (now.date().first_of_month(), 1.month()),
    };
    let begin = |date: jiff::civil::Date| {
        let at = date.to_zoned(now.time_zone().clone()).and_then(|at| at.start_of_day());
        at.and_then(|at| at.round(Unit::Millisecond)).map(|at| TimestampMs(at.timestamp().as_millisecond())).ok()
    };
    Some(Period { from: begin(date)?, until: Some(begin(date.checked_add(length).ok()?)?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> TimestampMs {
        TimestampMs(text.parse::<Timestamp>().unwrap().as_millisecond())
    }

    fn calendar(unit: CalendarUnit) -> Reset {
        Reset::Calendar { unit, time_zone: "Europe/Berlin".into() }
    }

    #[test]
    fn intervals_do_not_drift() {
        let reset = Reset::Interval { every_ms: 1_000 };
        let begun = TimestampMs(250);
        let period = |now| {
            let period = reset.period_at(begun, TimestampMs(now));
            (period.from.0, period.until.unwrap().0)
        };
        assert_eq!(period(250), (250, 1_250));
        assert_eq!(period(1_249), (250, 1_250));
        assert_eq!(period(1_250), (1_250, 2_250));
        assert_eq!(period(1_000_000), (999_250, 1_000_250), "a server that was down skips whole periods");
    }

    #[test]
    fn a_day_is_as_long_as_the_clocks_of_its_zone_make_it() {
        let hours = |text: &str| {
            let period = calendar(CalendarUnit::Day).period_at(TimestampMs(0), at(text));
            (period.until.unwrap().0 - period.from.0) / 3_600_000
        };
        assert_eq!(hours("2026-03-28T12:00:00Z"), 24);
        assert_eq!(hours("2026-03-29T12:00:00Z"), 23, "clocks go forward");
        assert_eq!(hours("2026-10-25T12:00:00Z"), 25, "clocks go back");
        let period = calendar(CalendarUnit::Day).period_at(TimestampMs(0), at("2026-07-01T21:59:59.999Z"));
        assert_eq!(period.until, Some(at("2026-07-01T22:00:00Z")), "midnight in Berlin");
        assert!(!period.is_over(at("2026-07-01T21:59:59.999Z")) && period.is_over(at("2026-07-01T22:00:00Z")));
    }

    #[test]
    fn a_week_begins_on_monday_and_a_month_on_the_first() {
        let week = calendar(CalendarUnit::Week).period_at(TimestampMs(0), at("2026-11-22T22:59:59Z"));
        assert_eq!((week.from, week.until), (at("2026-11-15T23:00:00Z"), Some(at("2026-11-22T23:00:00Z"))));
        let month = calendar(CalendarUnit::Month).period_at(TimestampMs(0), at("2026-02-14T00:00:00Z"));
        assert_eq!((month.from, month.until), (at("2026-01-31T23:00:00Z"), Some(at("2026-02-28T23:00:00Z"))));
    }

    #[test]
    fn a_reset_that_cannot_be_is_refused() {
        assert_eq!(Reset::Interval { every_ms: 999 }.check().unwrap_err().code, Code::LimitExceeded);
        assert!(Reset::Interval { every_ms: 1_000 }.check().is_ok());
        for name in ["Europe/Nowhere", "", "local", "Mars"] {
            let reset = Reset::Calendar { unit: CalendarUnit::Day, time_zone: name.into() };
            assert_eq!(reset.check().unwrap_err().field.as_deref(), Some("reset.calendar.time_zone"), "{name}");
        }
        assert!(calendar(CalendarUnit::Month).check().is_ok());
    }
}
