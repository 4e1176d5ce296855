//! Timestamps as people write them.

use ff_core::types::TimestampMs;
use jiff::Timestamp;

/// The accepted forms of a timestamp, for error messages.
const FORMS: &str = "a time as in 2026-12-24T18:00:00Z or 2026-12-24T18:00:00+01:00, or milliseconds since 1970";

/// Parses a timestamp: RFC 3339, or milliseconds since 1970.
pub(crate) fn parse(text: &str) -> Result<TimestampMs, String> {
    if let Ok(ms) = text.parse() {
        return Ok(TimestampMs(ms));
    }
    let at: Timestamp = text.parse().map_err(|_| format!("must be {FORMS}"))?;
    Ok(TimestampMs(at.as_millisecond()))
}

/// Formats a timestamp as RFC 3339, in UTC.
pub(crate) fn utc(at: TimestampMs) -> String {
    Timestamp::from_millisecond(at.0).map_or_else(|_| at.to_string(), |at| at.to_string())
}

/// Adds the accepted forms of a timestamp to the error for an invalid span, where either is allowed.
pub(crate) fn add_timestamp_forms(error: impl std::fmt::Display) -> String {
    format!("{error}; or {FORMS}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_rfc_3339_or_milliseconds() {
        for (text, ms) in [
            ("1760000000004", 1_760_000_000_004),
            ("-5", -5),
            ("2025-10-09T08:53:20Z", 1_760_000_000_000),
            ("2025-10-09t08:53:20.004z", 1_760_000_000_004),
            ("2025-10-09T10:53:20+02:00", 1_760_000_000_000),
            ("2025-10-09 08:53:20Z", 1_760_000_000_000),
        ] {
            assert_eq!(parse(text), Ok(TimestampMs(ms)), "{text}");
        }
    }

    #[test]
    fn a_timestamp_without_its_offset_is_refused() {
        for text in
            ["", "tomorrow", "2025-10-09", "2025-10-09T08:53:20", "2025-02-30T00:00:00Z", "2025-10-09T25:00:00Z"]
        {
            assert!(parse(text).unwrap_err().contains("2026-12-24T18:00:00Z"), "{text}");
        }
    }
}
