//! Timeouts of suspensions.

use crate::engine_error::{Code, Refusal, check_limit};
use crate::limits;
use crate::types::TimestampMs;

/// The timeout of a suspension. A timeout that is not in the future is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// After this number of milliseconds, by the store's clock.
    After(u64),
    /// At this time.
    At(TimestampMs),
}

impl Timeout {
    /// Refuses a timeout that is invalid at any current time.
    pub fn check(self) -> Result<(), Refusal> {
        match self {
            Self::After(0) => Err(Refusal::invalid("timeout_in_ms", "must be at least 1")),
            Self::After(ms) => check_limit(Code::LimitExceeded, "timeout_in_ms", limits::SPAN_MAX_MS, ms),
            Self::At(at) => check_limit(Code::LimitExceeded, "timeout_at", limits::TIMESTAMP_MAX_MS, at.0),
        }
    }

    /// Returns the time of the timeout. Refuses a time that is not in the future.
    pub fn from(self, now: TimestampMs) -> Result<TimestampMs, Refusal> {
        match self {
            Self::After(ms) => Ok(now + ms),
            Self::At(at) if at > now => Ok(at),
            Self::At(at) => Err(Refusal::invalid("timeout_at", format!("must lie ahead: it is {now}, got {at}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_in_the_past_is_refused_by_its_field() {
        let now = TimestampMs(100);
        assert_eq!(Timeout::At(TimestampMs(101)).from(now), Ok(TimestampMs(101)));
        assert_eq!(Timeout::At(now).from(now).unwrap_err().field.as_deref(), Some("timeout_at"));
        assert_eq!(Timeout::After(0).check().unwrap_err().field.as_deref(), Some("timeout_in_ms"));
    }

    #[test]
    fn a_timeout_is_taken_at_its_limit_and_refused_one_past_it() {
        assert_eq!(Timeout::After(limits::SPAN_MAX_MS).check(), Ok(()));
        assert_eq!(Timeout::After(limits::SPAN_MAX_MS + 1).check().unwrap_err().code, Code::LimitExceeded);
        let last = TimestampMs(limits::TIMESTAMP_MAX_MS);
        assert_eq!(Timeout::At(last).check(), Ok(()));
        assert_eq!(Timeout::At(last + 1).check().unwrap_err().code, Code::LimitExceeded);
    }
}
