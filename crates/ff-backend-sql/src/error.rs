//! Errors between the executor and its store.

use ff_core::engine_error::EngineError;

/// An error of a statement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SqlError {
    /// The statement failed and wrote nothing. If it was a commit, its outcome is unknown.
    #[error("{0}")]
    Failed(String),
    /// The store undid the transaction, or lost it before the commit. It wrote nothing, even if the commit returned this error. A
    /// retry may succeed.
    #[error("{0}")]
    Undone(String),
    /// A row has an invalid value.
    #[error("{0}")]
    Unreadable(String),
}

/// Returns a function that turns a parse error of a stored text into an [`SqlError`].
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
