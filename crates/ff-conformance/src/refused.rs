//! Assertions that a call is refused with a given code.

use std::fmt::Debug;

use ff_core::backend::Answer;
use ff_core::engine_error::{EngineError, Refusal};

/// Fails unless the answer is a refusal with this code; returns the refusal for further checks.
macro_rules! assert_refused {
    ($answer:expr, $code:literal) => {
        $crate::refused::refused_as($answer, $code)
    };
}
pub(crate) use assert_refused;

#[track_caller]
pub(crate) fn refused_as<T: Debug>(answer: Answer<T>, code: &str) -> Refusal {
    match answer {
        Err(EngineError::Refused(refusal)) if refusal.code.as_str() == code => refusal,
        other => panic!("should be refused as {code}, but the answer is {other:?}"),
    }
}
