//! The cursor of a stream's reader.

use std::fmt;
use std::str::FromStr;

use crate::types::{AttemptIndex, ExecutionId, as_text};

/// A position in the output of one execution: the next sequence number of an attempt. The number after the last frame
/// belongs to the attempt's end, which is read like a frame; the number after that means that the end was read.
///
/// The text also contains a part of the execution's id, so that a cursor of another execution is refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamCursor {
    pub attempt: AttemptIndex,
    pub seq: u64,
    mark: u64,
}

/// The last six bytes of a uuid.
const MARK_BITS: u32 = 48;

impl StreamCursor {
    pub fn new(id: &ExecutionId, attempt: AttemptIndex, seq: u64) -> Self {
        Self { attempt, seq, mark: mark(id) }
    }

    /// Returns the beginning of an execution's output.
    pub fn start(id: &ExecutionId) -> Self {
        Self::new(id, AttemptIndex(0), 0)
    }

    /// Returns whether the cursor was issued for this execution.
    pub fn is_of(&self, id: &ExecutionId) -> bool {
        self.mark == mark(id)
    }

    /// Returns another position in the output of the same execution.
    pub(super) fn at(self, attempt: AttemptIndex, seq: u64) -> Self {
        Self { attempt, seq, ..self }
    }
}

fn mark(id: &ExecutionId) -> u64 {
    id.uuid().as_u64_pair().1 & ((1 << MARK_BITS) - 1)
}

impl fmt::Display for StreamCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{:012x}", self.attempt, self.seq, self.mark)
    }
}

impl fmt::Debug for StreamCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The error of a text that is not a cursor of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a cursor as this stream gives it out, as in 0-17-0d3f7c1a2b3c")]
pub struct NotACursor;

impl FromStr for StreamCursor {
    type Err = NotACursor;

    fn from_str(text: &str) -> Result<Self, NotACursor> {
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then_some(()).ok_or(NotACursor);
        let mut parts = text.split('-');
        let (Some(attempt), Some(seq), Some(mark), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(NotACursor);
        };
        number(attempt)?;
        number(seq)?;
        if mark.len() != 12 || !mark.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(NotACursor);
        }
        let mark = u64::from_str_radix(mark, 16).map_err(|_| NotACursor)?;
        let attempt = AttemptIndex(attempt.parse().map_err(|_| NotACursor)?);
        // Reading continues at the next number, so the highest number is refused.
        let seq = seq.parse().ok().filter(|seq| *seq < i64::MAX as u64).ok_or(NotACursor)?;
        Ok(Self { attempt, seq, mark })
    }
}

as_text!(StreamCursor);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::samples::waiting;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let id = waiting().id;
        let cursor = StreamCursor::new(&id, AttemptIndex(3), 17);
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        assert!(cursor.is_of(&id));
        assert!(!cursor.is_of(&ExecutionId::new(id.partition(), uuid::Uuid::from_u128(2))));
    }

    #[test]
    fn any_other_text_is_not_taken_for_one() {
        for text in
            ["", "1", "0-1", "0-1-", "0-1-0d3f7c1a2b3", "0-1-0D3F7C1A2B3C", "-1-1-0d3f7c1a2b3c", "0-+1-0d3f7c1a2b3c"]
        {
            assert_eq!(text.parse::<StreamCursor>(), Err(NotACursor), "{text}");
        }
        let last = format!("0-{}-0d3f7c1a2b3c", u64::MAX);
        assert_eq!(last.parse::<StreamCursor>(), Err(NotACursor));
    }
}
