//! Time zones by their IANA names, from a database that is compiled in, so that every engine has the same rules.

use std::fmt;
use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp};

use crate::types::{TimestampMs, as_text};

/// Number of names that are suggested in place of an unknown one.
const SUGGESTIONS: usize = 3;

/// A time zone of the IANA database.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone(TimeZone);

/// The error of a name that no time zone has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an IANA time zone, got {name:?}; the nearest are {}", nearest.join(", "))]
pub struct UnknownZone {
    name: String,
    nearest: Vec<String>,
}

impl Default for Zone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl Zone {
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// Returns the local time at a given time.
    pub fn local(&self, at: TimestampMs) -> Option<DateTime> {
        Some(self.0.to_datetime(Timestamp::from_millisecond(at.0).ok()?))
    }

    /// Returns when a local time occurs. A repeated local time occurs at the first of its two times; a skipped one,
    /// when the clocks change.
    pub fn moment(&self, local: DateTime) -> Option<TimestampMs> {
        let ambiguous = self.0.to_ambiguous_timestamp(local);
        let at = match ambiguous.offset() {
            AmbiguousOffset::Gap { before, .. } => {
                // With the offset from before the change, a skipped local time lies just after the change.
                let inside = before.to_timestamp(local).ok()?;
                self.last_change(inside)?
            }
            _ => ambiguous.earlier().ok()?,
        };
        Some(TimestampMs(at.as_millisecond()))
    }

    /// Returns the last change of the zone's offset, not after a given time.
    fn last_change(&self, at: Timestamp) -> Option<Timestamp> {
        let after = at.checked_add(SignedDuration::from_nanos(1)).ok()?;
        self.0.preceding(after).next().map(|transition| transition.timestamp())
    }
}

impl FromStr for Zone {
    type Err = UnknownZone;

    fn from_str(name: &str) -> Result<Self, UnknownZone> {
        let unknown = |_| UnknownZone { name: name.to_owned(), nearest: nearest(name) };
        TimeZone::get(name).map(Self).map_err(unknown)
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

as_text!(Zone);

impl schemars::JsonSchema for Zone {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TimeZone".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "description": "The name of an IANA time zone." })
    }
}

/// Returns the names with the most similar spelling.
fn nearest(name: &str) -> Vec<String> {
    // No name is longer than this. The limit bounds the time of the comparison.
    let wanted: Vec<char> = name.chars().take(64).flat_map(char::to_lowercase).collect();
    let names = jiff::tz::db().available().map(|known| known.as_str().to_owned());
    let mut by_distance: Vec<_> = names.map(|known| (distance(&wanted, &known.to_lowercase()), known)).collect();
    by_distance.sort();
    by_distance.into_iter().take(SUGGESTIONS).map(|(_, known)| known).collect()
}

/// Returns the number of characters to insert, delete or replace. A city may also match without its region.
fn distance(wanted: &[char], known: &str) -> usize {
    let city = known.rsplit('/').next().unwrap_or(known);
    edits(wanted, known).min(edits(wanted, city))
}

fn edits(wanted: &[char], known: &str) -> usize {
    let mut row: Vec<usize> = (0..=wanted.len()).collect();
    for (nth, letter) in known.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], nth + 1);
        for at in 1..row.len() {
            let replaced = diagonal + usize::from(wanted[at - 1] != letter);
            diagonal = row[at];
            row[at] = replaced.min(row[at] + 1).min(row[at - 1] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_zone_is_answered_with_the_nearest_names() {
        for (name, nearest) in [("Europe/Berln", "Europe/Berlin"), ("New York", "America/New_York")] {
            let unknown = name.parse::<Zone>().unwrap_err();
            assert!(unknown.to_string().contains(nearest), "{unknown}");
            assert_eq!(unknown.nearest.len(), 3);
        }
        assert!("".parse::<Zone>().is_err());
        assert!("x".repeat(10_000).parse::<Zone>().is_err());
    }

    #[test]
    fn a_zone_is_kept_by_its_name() {
        let zone: Zone = "Europe/Berlin".parse().unwrap();
        let text = serde_json::to_string(&zone).unwrap();
        assert_eq!(text, "\"Europe/Berlin\"");
        assert_eq!(serde_json::from_str::<Zone>(&text).unwrap(), zone);
        assert_eq!(serde_json::to_string(&Zone::default()).unwrap(), "\"UTC\"");
    }

    #[test]
    fn a_skipped_time_is_when_the_clocks_have_changed_and_a_repeated_one_is_its_first() {
        let berlin: Zone = "Europe/Berlin".parse().unwrap();
        let utc = |local: &str| {
            let at = berlin.moment(local.parse().unwrap()).unwrap();
            Timestamp::from_millisecond(at.0).unwrap().to_string()
        };
        assert_eq!(utc("2026-03-29T02:00:00"), "2026-03-29T01:00:00Z");
        assert_eq!(utc("2026-03-29T02:30:00"), "2026-03-29T01:00:00Z");
        assert_eq!(utc("2026-03-29T03:00:00"), "2026-03-29T01:00:00Z");
        assert_eq!(utc("2026-10-25T02:30:00"), "2026-10-25T00:30:00Z");
        assert_eq!(utc("2026-10-25T03:00:00"), "2026-10-25T02:00:00Z");
    }
}
