//! What goes wrong between the executor and its store.

use ff_core::engine_error::EngineError;

/// Why a statement brought no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SqlError {
    /// The store did not do it. Outside of a commit that means it did not happen.
    #[error("{0}")]
    Failed(String),
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
            SqlError::Failed(why) => Self::Unavailable(why),
            SqlError::Unreadable(why) => Self::Corrupt(why),
        }
    }
}
