//! The timing of a schedule's ticks: a cron expression, an interval, or a single time.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Zone;
use super::cron::{BadCron, Cron};
use crate::limits;
use crate::types::{TimestampMs, as_text};

/// The times of ticks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    /// Each time when the local time matches.
    Cron(CronText),
    /// An interval in milliseconds, regardless of the local time.
    EveryMs(u64),
    /// Once, at this time.
    At(TimestampMs),
}

/// A cron expression as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CronText {
    text: String,
    cron: Cron,
}

impl FromStr for CronText {
    type Err = BadCron;

    fn from_str(text: &str) -> Result<Self, BadCron> {
        Ok(Self { cron: Cron::parse(text)?, text: text.trim().to_owned() })
    }
}

impl fmt::Display for CronText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

as_text!(CronText);

impl schemars::JsonSchema for CronText {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Cron".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let described = "Five fields (minute, hour, day of month, month, day of week), six with the second first, or `@hourly`, \
            `@daily`, `@weekly`, `@monthly`, `@yearly`.";
        schemars::json_schema!({ "type": "string", "description": described })
    }
}

/// The times of ticks, and the bounds within which they lie.
#[derive(Clone, Copy, Debug)]
pub struct Ticks<'d> {
    pub timing: &'d Timing,
    pub zone: &'d Zone,
    /// The time from which intervals are counted.
    pub anchor: TimestampMs,
    pub starts_at: Option<TimestampMs>,
    /// No tick after this time.
    pub ends_at: Option<TimestampMs>,
}

impl Ticks<'_> {
    /// Returns the first tick after a given time.
    pub fn after(&self, moment: TimestampMs) -> Option<TimestampMs> {
        let moment = self.starts_at.map_or(moment, |starts_at| moment.max(starts_at - 1));
        let next = match self.timing {
            Timing::Cron(CronText { cron, .. }) => next_match(cron, self.zone, moment)?,
            Timing::EveryMs(every_ms) => next_interval(self.anchor, *every_ms, moment)?,
            Timing::At(at) => Some(*at).filter(|at| *at > moment)?,
        };
        let last = self.ends_at.unwrap_or(TimestampMs(limits::TIMESTAMP_MAX_MS));
        (next <= last).then_some(next)
    }

    /// Returns the first `count` ticks after a given time.
    pub fn following(&self, moment: TimestampMs, count: usize) -> Vec<TimestampMs> {
        std::iter::successors(self.after(moment), |tick| self.after(*tick)).take(count).collect()
    }
}

/// Returns the first time after `after` at which the local time matches. A local time that is skipped comes when the
/// clocks have changed; a local time that is repeated comes once.
fn next_match(cron: &Cron, zone: &Zone, after: TimestampMs) -> Option<TimestampMs> {
    let mut local = zone.local(after)?;
    loop {
        local = cron.next_from(local)?;
        let at = zone.moment(local)?;
        if at > after {
            return Some(at);
        }
        local = local.checked_add(jiff::Span::new().seconds(1)).ok()?;
    }
}

fn next_interval(anchor: TimestampMs, every_ms: u64, after: TimestampMs) -> Option<TimestampMs> {
    if after < anchor {
        return Some(anchor);
    }
    let passed = after.since(anchor) / every_ms.max(1);
    let next = anchor + (passed + 1).checked_mul(every_ms)?;
    Some(next)
}
