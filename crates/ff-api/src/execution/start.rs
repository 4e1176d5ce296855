//! The start of an execution, as two fields: `delay_ms` and `start_at`. A request contains at most one of them.

use ff_core::contracts::Start;
use ff_core::engine_error::Refusal;
use ff_core::types::TimestampMs;

/// Reads the start from the two fields.
pub(crate) fn read(delay_ms: Option<u64>, start_at: Option<TimestampMs>) -> Result<Start, Refusal> {
    match (delay_ms, start_at) {
        (Some(_), Some(_)) => Err(Refusal::invalid("start_at", "cannot be given together with delay_ms")),
        (Some(ms), None) => Ok(Start::After(ms)),
        (None, Some(at)) => Ok(Start::At(at)),
        (None, None) => Ok(Start::Now),
    }
}

/// Returns the two fields of a start.
pub(crate) fn write(start: Start) -> (Option<u64>, Option<TimestampMs>) {
    match start {
        Start::Now => (None, None),
        Start::After(ms) => (Some(ms), None),
        Start::At(at) => (None, Some(at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_survives_being_written_and_read() {
        for start in [Start::Now, Start::After(0), Start::After(7), Start::At(TimestampMs(9))] {
            let (delay_ms, start_at) = write(start);
            assert_eq!(read(delay_ms, start_at), Ok(start));
        }
    }

    #[test]
    fn two_starts_are_refused() {
        let refusal = read(Some(1), Some(TimestampMs(1))).unwrap_err();
        assert_eq!(refusal.field.as_deref(), Some("start_at"));
    }
}
