//! The request of a reader, and the parts that a store supplies for the reply.

use std::collections::BTreeMap;

use super::{StoredFrame, StreamCursor, StreamRecord};
use crate::engine_error::{Code, Refusal, check_page};
use crate::execution::{Attempt, AttemptEnd, AttemptOutcome, Execution, Outcome, Phase};
use crate::limits;
use crate::types::{AttemptIndex, ExecutionId, TimestampMs};

/// A request to read a stream.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReadStreamArgs {
    pub execution_id: ExecutionId,
    /// The attempt to read; absent to read all attempts, one after the other.
    pub attempt: Option<AttemptIndex>,
    /// Cursor of the last page; absent to read from the beginning.
    pub from: Option<StreamCursor>,
    pub limit: usize,
}

impl ReadStreamArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        check_page(self.limit, limits::PAGE)?;
        let Some(from) = &self.from else { return Ok(()) };
        if !from.is_of(&self.execution_id) {
            return Err(Code::InvalidCursor.refusal().at("from").because("is a cursor of another execution"));
        }
        match self.attempt {
            Some(attempt) if attempt != from.attempt => {
                let detail = format!("is a cursor of attempt {}, not of attempt {attempt}", from.attempt);
                Err(Code::InvalidCursor.refusal().at("from").because(detail))
            }
            _ => Ok(()),
        }
    }

    /// Returns where reading begins.
    pub fn start(&self) -> StreamCursor {
        let first = || StreamCursor::new(&self.execution_id, self.attempt.unwrap_or_default(), 0);
        self.from.unwrap_or_else(first)
    }

    /// Returns the maximum number of attempts that a store supplies.
    pub fn attempts(&self) -> usize {
        if self.attempt.is_some() { 1 } else { limits::STREAM_ATTEMPTS }
    }
}

/// The output of an execution in a store, from the position of a reader, as of one point in time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamParts {
    /// Number of attempts so far.
    pub attempts_made: u32,
    /// Outcome of the execution, if it has ended.
    pub outcome: Option<Outcome>,
    /// Ends of the supplied attempts.
    pub ends: BTreeMap<AttemptIndex, (TimestampMs, AttemptOutcome)>,
    pub streams: BTreeMap<AttemptIndex, StreamRecord>,
    /// The next frames, in order and without gaps; possibly not all of them.
    pub frames: BTreeMap<AttemptIndex, Vec<StoredFrame>>,
}

impl StreamParts {
    /// Creates the parts from an execution and its archived attempts, without streams and frames.
    pub fn of(execution: &Execution, archived: impl IntoIterator<Item = Attempt>) -> Self {
        let outcome = match &execution.phase {
            Phase::Finished { outcome, .. } => Some(*outcome),
            _ => None,
        };
        let end = |attempt: Attempt| attempt.end.map(|AttemptEnd { at, outcome, .. }| (attempt.index, (at, outcome)));
        let ends = archived.into_iter().filter_map(end).collect();
        Self { attempts_made: execution.attempts_made, outcome, ends, ..Self::default() }
    }
}
