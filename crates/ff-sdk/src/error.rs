//! The errors of a program that uses FlowFabric.

use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::execution::Outcome;

use crate::WaitError;

/// Error of a call.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The engine refused the call or could not answer it.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A value could not be written as JSON.
    #[error("the value cannot be written as JSON: {0}")]
    Encode(serde_json::Error),
    /// Bytes could not be read as the JSON that was expected.
    #[error("the bytes are not the JSON that was expected: {0}")]
    Decode(serde_json::Error),
    /// The execution ended without success.
    #[error("the execution ended as {}{}", word(*.0), .1.as_ref().map(|why| format!(": {why}")).unwrap_or_default())]
    NotSuccessful(Outcome, Option<String>),
    /// A child of a handler has no result that can be read.
    #[error("the child {name}: {error}")]
    Child {
        /// The name of the child within its wait.
        name: String,
        error: Box<Error>,
    },
    /// A wait inside the call failed.
    #[error("{0}")]
    Wait(Box<WaitError>),
}

impl Error {
    /// Returns the stable error code, if the error came from the engine.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Engine(error) => Some(error.code()),
            Self::Child { error, .. } => error.code(),
            Self::Encode(_) | Self::Decode(_) | Self::NotSuccessful(..) | Self::Wait(_) => None,
        }
    }
}

impl From<WaitError> for Error {
    fn from(error: WaitError) -> Self {
        match error {
            WaitError::Engine(error) => error,
            other => Self::Wait(Box::new(other)),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Engine(refusal.into())
    }
}

fn word(outcome: Outcome) -> &'static str {
    ff_core::state::TerminalOutcome::from(outcome).as_str()
}
