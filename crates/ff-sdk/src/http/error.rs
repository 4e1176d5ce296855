//! Errors of a request or its answer.

use std::error::Error;

use ff_core::engine_error::{Code, EngineError, Refusal};

/// Returns the error of a request that cannot be written as JSON.
pub(super) fn unwritable(error: serde_json::Error) -> EngineError {
    Refusal::new(Code::InvalidInput).because(format!("cannot be written as JSON: {error}")).into()
}

/// Returns the error of an answer that cannot be read. The outcome is unknown: the server may have carried out the call.
pub(super) fn unreadable(error: impl Error) -> EngineError {
    EngineError::Unknown(format!("the server's answer cannot be read: {error}"))
}

/// Returns the text of an error's root cause.
pub(super) fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(below) = cause.source() {
        cause = below;
    }
    cause.to_string()
}
