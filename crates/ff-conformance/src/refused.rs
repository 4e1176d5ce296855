//! Assertions that a call is refused with a given code.

use std::fmt::{Debug, Display};

use ff_core::backend::Answer;
use ff_core::engine_error::{EngineError, Refusal};
use ff_core::state::PublicState;

/// Fails unless the answer is a refusal with this code. After the code may follow the field or the state that the refusal must
/// name, and after a field the limit and the value that was sent. Returns the refusal for further checks.
macro_rules! assert_refused {
    ($answer:expr, $code:expr) => {
        $crate::refused::refused_as($answer, $code)
    };
    ($answer:expr, $code:expr, $place:expr) => {
        $crate::refused::refused_at($answer, $code, $place)
    };
    ($answer:expr, $code:expr, $field:expr, $limit:expr, $sent:expr) => {
        $crate::refused::refused_over($answer, $code, $field, ($limit, $sent))
    };
}
pub(crate) use assert_refused;

/// What a refusal names: a field of the request, or the state of the execution.
pub(crate) trait Place: Display {
    fn is_named_by(&self, refusal: &Refusal) -> bool;
}

impl Place for &str {
    fn is_named_by(&self, refusal: &Refusal) -> bool {
        refusal.field.as_deref() == Some(self)
    }
}

impl Place for String {
    fn is_named_by(&self, refusal: &Refusal) -> bool {
        self.as_str().is_named_by(refusal)
    }
}

impl Place for PublicState {
    fn is_named_by(&self, refusal: &Refusal) -> bool {
        refusal.state == Some(*self)
    }
}

#[track_caller]
pub(crate) fn refused_as<T: Debug>(answer: Answer<T>, code: &str) -> Refusal {
    match answer {
        Err(EngineError::Refused(refusal)) if refusal.code.as_str() == code => refusal,
        other => panic!("should be refused as {code}, but the answer is {other:?}"),
    }
}

#[track_caller]
pub(crate) fn refused_at<T: Debug>(answer: Answer<T>, code: &str, place: impl Place) -> Refusal {
    let refusal = refused_as(answer, code);
    assert!(place.is_named_by(&refusal), "should name {place}, but is {refusal:?}");
    refusal
}

#[track_caller]
pub(crate) fn refused_over<T: Debug>(answer: Answer<T>, code: &str, field: &str, limit: (u64, u64)) -> Refusal {
    let refusal = refused_at(answer, code, field);
    assert_eq!(refusal.limit, Some(limit), "{refusal:?}");
    refusal
}
