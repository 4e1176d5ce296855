//! Times and durations as text for people.

use ff_core::types::TimestampMs;

/// Formats a duration in its largest whole unit, as in `3 minutes`.
pub(super) fn span(ms: u64) -> String {
    let (count, unit) = match ms {
        0..60_000 => (ms / 1_000, "second"),
        60_000..3_600_000 => (ms / 60_000, "minute"),
        3_600_000..172_800_000 => (ms / 3_600_000, "hour"),
        _ => (ms / 86_400_000, "day"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// Formats a duration to the minute, as in `1 hour 59 minutes`, so that the remaining time is not shown too short.
pub(super) fn to_the_minute(ms: u64) -> String {
    let (hours, rest) = (ms / 3_600_000, ms % 3_600_000);
    match (hours, rest / 60_000) {
        (0, _) | (48.., _) | (_, 0) => span(ms),
        _ => format!("{} {}", span(hours * 3_600_000), span(rest)),
    }
}

/// Formats a past time relative to now.
pub(super) fn ago(at: TimestampMs, now: TimestampMs) -> String {
    match now.since(at) {
        0..1_000 => "just now".to_owned(),
        ms => format!("{} ago", span(ms)),
    }
}

/// Formats a time as date and time, as in `2026-11-15 09:47 UTC`.
pub(super) fn utc(at: TimestampMs) -> String {
    let (days, ms) = (at.0.div_euclid(86_400_000), at.0.rem_euclid(86_400_000));
    let (year, month, day) = date(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", ms / 3_600_000, ms / 60_000 % 60)
}

/// Returns the date this many days after 1 January 1970. The calculation begins years in March, so that a leap day is the last
/// day of its year.
fn date(days: i64) -> (i64, i64, i64) {
    let since_march = days + 719_468;
    let era = since_march.div_euclid(146_097);
    let day_of_era = since_march.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_page_shows_a_span_in_its_largest_unit() {
        for (ms, text) in [
            (0, "0 seconds"),
            (1_999, "1 second"),
            (59_999, "59 seconds"),
            (60_000, "1 minute"),
            (7_200_000, "2 hours"),
            (172_800_000, "2 days"),
        ] {
            assert_eq!(span(ms), text);
        }
        for (ms, text) in [
            (59_999, "59 seconds"),
            (7_199_999, "1 hour 59 minutes"),
            (7_200_000, "2 hours"),
            (90_000_000, "25 hours"),
            (172_860_000, "2 days"),
        ] {
            assert_eq!(to_the_minute(ms), text);
        }
        assert_eq!(ago(TimestampMs(5), TimestampMs(6)), "just now");
        assert_eq!(ago(TimestampMs(0), TimestampMs(120_000)), "2 minutes ago");
    }

    #[test]
    fn a_timestamp_is_shown_as_a_utc_date() {
        for (ms, text) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400_000, "2000-02-29 00:00 UTC"),
            (951_868_799_999, "2000-02-29 23:59 UTC"),
            (951_868_800_000, "2000-03-01 00:00 UTC"),
            (1_760_000_000_000, "2025-10-09 08:53 UTC"),
            (253_402_300_799_999, "9999-12-31 23:59 UTC"),
            (-1, "1969-12-31 23:59 UTC"),
        ] {
            assert_eq!(utc(TimestampMs(ms)), text);
        }
    }
}
