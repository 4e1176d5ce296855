//! The meaning of a server's error for the caller.

use ff_backend_sql::SqlError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// Error of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DriverError {
    /// The connection was lost without an error from the server. Statements sent before may have taken effect.
    Lost(String),
    /// The server reported that the connection is no longer usable. Uncommitted statements are undone.
    Useless(String),
    /// The prepared statements do not match the tables any more, or are unknown to the server. The transaction is undone.
    Outdated(String),
    /// The server undid the transaction, which may succeed when it is repeated.
    Undone(String),
    /// The server cannot run the statement.
    Failed(String),
}

/// Errors of a server that is shutting down or has become read-only.
const LOSING: &[SqlState] = &[
    SqlState::ADMIN_SHUTDOWN,
    SqlState::CRASH_SHUTDOWN,
    SqlState::CANNOT_CONNECT_NOW,
    SqlState::DATABASE_DROPPED,
    SqlState::IDLE_SESSION_TIMEOUT,
    SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    SqlState::READ_ONLY_SQL_TRANSACTION,
    SqlState::TOO_MANY_CONNECTIONS,
];

/// Errors of a statement that was prepared for tables that have changed since, or on a server connection that a pooler has
/// replaced.
const OUTDATED: &[SqlState] = &[
    SqlState::FEATURE_NOT_SUPPORTED,
    SqlState::DATATYPE_MISMATCH,
    SqlState::INVALID_SQL_STATEMENT_NAME,
    SqlState::DUPLICATE_PSTATEMENT,
];

/// Errors that undo a transaction which may succeed when it is decided again. A unique violation means that a submitted id was
/// taken for new and exists already.
const UNDOING: &[SqlState] =
    &[SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED, SqlState::UNIQUE_VIOLATION];

impl DriverError {
    pub(crate) fn of(error: &Error) -> Self {
        let why = message_of(error);
        match error.code() {
            Some(code) if LOSING.contains(code) || code.code().starts_with("08") => Self::Useless(why),
            Some(code) if OUTDATED.contains(code) => Self::Outdated(why),
            Some(code) if UNDOING.contains(code) => Self::Undone(why),
            None if error.is_closed() || is_io(error) => Self::Lost(why),
            Some(_) | None => Self::Failed(why),
        }
    }

    /// Returns whether another connection is needed.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Useless(_) | Self::Outdated(_))
    }

    /// Returns the result of a transaction that failed before its commit was sent.
    pub(crate) fn before_commit(self) -> SqlError {
        match self {
            Self::Lost(why) | Self::Useless(why) | Self::Outdated(why) | Self::Undone(why) => SqlError::Undone(why),
            Self::Failed(why) => SqlError::Failed(why),
        }
    }

    /// Returns the result of a transaction in which a statement failed after the commit was sent. A server that reports the
    /// failure rolls back on the commit. A lost server may have run both.
    pub(crate) fn with_commit(self) -> SqlError {
        match self {
            Self::Lost(why) => SqlError::Failed(why),
            Self::Useless(why) | Self::Outdated(why) | Self::Undone(why) | Self::Failed(why) => SqlError::Undone(why),
        }
    }

    /// Returns the result of a transaction that is one statement. A server that shuts down may report that after it has
    /// committed.
    pub(crate) fn within_commit(self) -> SqlError {
        match self {
            Self::Lost(why) | Self::Useless(why) => SqlError::Failed(why),
            Self::Outdated(why) | Self::Undone(why) | Self::Failed(why) => SqlError::Undone(why),
        }
    }

    pub(crate) fn why(&self) -> &str {
        match self {
            Self::Lost(why) | Self::Useless(why) | Self::Outdated(why) | Self::Undone(why) | Self::Failed(why) => why,
        }
    }
}

/// Returns the server's message in one line. The detail of data errors and constraint violations is left out: it quotes the row,
/// which may hold payloads and secrets.
pub(crate) fn message_of(error: &Error) -> String {
    use std::error::Error;
    if let Some(server_error) = error.as_db_error() {
        let quotes_values = ["22", "23"].iter().any(|class| server_error.code().code().starts_with(class));
        let detail =
            server_error.detail().filter(|_| !quotes_values).map_or_else(String::new, |detail| format!(" ({detail})"));
        return format!("{}{detail}", server_error.message());
    }
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

fn is_io(error: &Error) -> bool {
    use std::error::Error;
    error.source().is_some_and(|cause| cause.is::<std::io::Error>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A caller repeats an operation that is reported as undone, so only an error from the server counts as undone.
    #[test]
    fn silence_before_a_commit_leaves_open_what_a_word_settles() {
        let why = || "why".to_owned();
        assert_eq!(DriverError::Lost(why()).with_commit(), SqlError::Failed(why()));
        for error in [DriverError::Useless(why()), DriverError::Undone(why()), DriverError::Failed(why())] {
            assert_eq!(error.with_commit(), SqlError::Undone(why()));
        }
        assert_eq!(DriverError::Lost(why()).before_commit(), SqlError::Undone(why()));
    }

    #[test]
    fn a_server_that_goes_away_may_have_committed_what_is_one_statement() {
        let why = || "why".to_owned();
        for gone in [DriverError::Lost(why()), DriverError::Useless(why())] {
            assert_eq!(gone.within_commit(), SqlError::Failed(why()));
        }
        for error in [DriverError::Outdated(why()), DriverError::Undone(why()), DriverError::Failed(why())] {
            assert_eq!(error.within_commit(), SqlError::Undone(why()));
        }
    }
}
