//! The ways a wait can fail.

use std::fmt;

use ff_core::engine_error::{Class, EngineError, Refusal};
use ff_core::signal::Source;

use crate::{Error, Fault};

/// Error of a wait. With `?` it becomes a [`Fault`], which is permanent when the wait is over and a retry would get the
/// same answer.
#[derive(Debug)]
pub enum WaitError {
    /// The wait timed out.
    TimedOut,
    /// An operator rejected the wait, or the answer to an approval was a rejection.
    Rejected { by: Source, comment: Option<String> },
    /// An operator resumed the execution without a decision.
    Undecided { by: Source },
    /// The execution waits, and this run of the handler is over. Only a task that the handler started, and that outlives
    /// the handler, gets this error.
    Suspended,
    /// The end of the wait could not be recorded, or the record cannot be read.
    Step(Fault),
    /// The announcement of the waitpoint failed.
    Announce(Fault),
    /// The engine refused a call or could not answer it.
    Engine(Error),
}

impl WaitError {
    /// Returns true when the wait timed out.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::TimedOut)
    }
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("what was waited for did not come in time"),
            Self::Rejected { by, comment: Some(comment) } => write!(f, "rejected by {by}: {comment}"),
            Self::Rejected { by, comment: None } => write!(f, "rejected by {by}"),
            Self::Undecided { by } => write!(f, "{by} let it go on without a decision"),
            Self::Suspended => f.write_str("the execution waits, and this run of its handler is over"),
            Self::Step(fault) => f.write_str(&fault.message),
            Self::Announce(fault) => write!(f, "telling of the waitpoint went wrong: {}", fault.message),
            Self::Engine(error) => error.fmt(f),
        }
    }
}

impl From<Error> for WaitError {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

impl From<EngineError> for WaitError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<Refusal> for WaitError {
    fn from(refusal: Refusal) -> Self {
        Self::Engine(refusal.into())
    }
}

impl From<WaitError> for Fault {
    fn from(error: WaitError) -> Self {
        let message = error.to_string();
        match error {
            WaitError::TimedOut => Self::permanent("wait_timed_out", message),
            WaitError::Rejected { .. } => Self::permanent("rejected", message),
            WaitError::Undecided { .. } => Self::permanent("undecided", message),
            WaitError::Suspended => Self::retryable("suspended", message),
            WaitError::Announce(fault) | WaitError::Step(fault) => fault,
            WaitError::Engine(error) => {
                let hopeless = error.code().is_some_and(|code| code.class() == Class::Terminal);
                Self { category: "error".to_owned(), message, permanent: hopeless }
            }
        }
    }
}
