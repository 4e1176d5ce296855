//! Spans of time as people write and read them.

use std::time::Duration;

use ff_core::types::TimestampMs;

/// The units, in milliseconds.
const UNITS: &[(&str, u64)] = &[("d", 86_400_000), ("h", 3_600_000), ("ms", 1), ("m", 60_000), ("s", 1_000)];

/// Parses a span such as `500ms`, `10s`, `5m`, `2h` or `1d`.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit_ms = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, ms)| *ms);
    let ms = number.parse::<u64>().ok().zip(unit_ms).and_then(|(number, unit_ms)| number.checked_mul(unit_ms));
    ms.map(Duration::from_millis).ok_or_else(|| "must be a whole number and a unit: 500ms, 10s, 5m, 2h, 1d".to_owned())
}

/// Returns a span in milliseconds.
pub(crate) fn ms(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Formats a span in its largest unit, rounded down. Below two days, only a span of exactly one day is in days.
pub(crate) fn short(ms: u64) -> String {
    match ms {
        86_400_000 => "1d".to_owned(),
        0..1_000 => format!("{ms}ms"),
        1_000..60_000 => format!("{}s", ms / 1_000),
        60_000..3_600_000 => format!("{}m", ms / 60_000),
        3_600_000..172_800_000 => format!("{}h", ms / 3_600_000),
        _ => format!("{}d", ms / 86_400_000),
    }
}

/// Formats a span exactly, in the largest unit of which it is a multiple.
pub(crate) fn exact(ms: u64) -> String {
    let units = UNITS.iter().filter(|(_, unit_ms)| ms > 0 && ms.is_multiple_of(*unit_ms));
    let (unit, unit_ms) = units.max_by_key(|(_, unit_ms)| *unit_ms).unwrap_or(&("ms", 1));
    format!("{}{unit}", ms / unit_ms)
}

/// Formats a time relative to now.
pub(crate) fn relative(moment: TimestampMs, now: TimestampMs) -> String {
    match (now.since(moment), moment.since(now)) {
        (0..1_000, 0) => "just now".to_owned(),
        (past, 0) => format!("{} ago", short(past)),
        (_, future) => format!("in {}", short(future)),
    }
}

/// Formats the time of day in UTC.
pub(crate) fn clock(moment: TimestampMs) -> String {
    let ms = moment.0.rem_euclid(86_400_000);
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    format!("{hours:02}:{minutes:02}:{seconds:02}.{:03}", ms % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_shown_as_it_was_written() {
        for text in ["500ms", "10s", "90m", "36h", "1d", "7d"] {
            let span = parse(text).unwrap();
            assert_eq!(exact(ms(span)), text);
        }
        assert_eq!(exact(0), "0ms");
    }

    #[test]
    fn a_span_has_a_number_and_a_unit() {
        for (text, ms) in [("500ms", 500), ("10s", 10_000), ("5m", 300_000), ("2h", 7_200_000), ("1d", 86_400_000)] {
            assert_eq!(parse(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "10", "s", "1.5s", "-1s", "10 s", "10sec", "99999999999999999999s", "18446744073709551615d"] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_span_is_shown_in_its_largest_unit() {
        for (ms, text) in [(0, "0ms"), (999, "999ms"), (59_999, "59s"), (3_599_999, "59m"), (172_799_999, "47h")] {
            assert_eq!(short(ms), text);
        }
        assert_eq!(
            (short(86_400_000), short(90_000_000), short(172_800_000)),
            ("1d".into(), "25h".into(), "2d".into())
        );
    }

    #[test]
    fn a_relative_time_is_past_present_or_future() {
        let at = |moment| relative(TimestampMs(moment), TimestampMs(100_000));
        assert_eq!(at(97_000), "3s ago");
        assert_eq!(at(99_001), "just now");
        assert_eq!(at(100_000), "just now");
        assert_eq!(at(102_500), "in 2s");
    }

    #[test]
    fn a_timestamp_is_shown_as_a_time_of_day() {
        assert_eq!(clock(TimestampMs(1_760_000_000_004)), "08:53:20.004");
        assert_eq!(clock(TimestampMs(-1)), "23:59:59.999");
    }
}
