//! Errors between the executor and its store.

use ff_core::engine_error::EngineError;

/// Why a statement brought no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SqlError {
    /// The store did not do it. Outside of a commit that means it did not happen.
    #[error("{0}")]
    Failed(String),
    /// The store undid the whole transaction, or lost it before it could commit. Nothing of it happened, also when it is the
    /// commit that says so; doing it again may go better.
    #[error("{0}")]
    Undone(String),
    /// A row holds what it never should.
    #[error("{0}")]
    Unreadable(String),
}

/// Says of a stored text that it is not what it must be.
pub(crate) fn unreadable<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> SqlError {
    move |error| SqlError::Unreadable(format!("{what} in a row {error}"))
}

impl From<SqlError> for EngineError {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::Failed(why) | SqlError::Undone(why) => Self::Unavailable(why),
            SqlError::Unreadable(why) => Self::Corrupt(why),
        }
    }
}
