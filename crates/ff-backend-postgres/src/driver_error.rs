//! The meaning of a server's error for the caller.

use ff_backend_sql::SqlError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// Why a statement brought no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DriverError {
    /// The connection is gone without a word: statements sent before may have been done.
    Lost(String),
    /// The server says that the connection is of no more use; uncommitted statements are undone.
    Useless(String),
    /// The connection knows the tables as they were, or statements that the server does not know; the transaction is undone.
    Outdated(String),
    /// The server undid the transaction and could do it if asked again.
    Undone(String),
    /// The server cannot do it.
    Failed(String),
}

/// The errors of a server that is about to go away or has become read-only.
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

/// The errors of a statement that was prepared for tables that have changed since, or for a server that a pooler has put in between.
const OUTDATED: &[SqlState] = &[
    SqlState::FEATURE_NOT_SUPPORTED,
    SqlState::DATATYPE_MISMATCH,
    SqlState::INVALID_SQL_STATEMENT_NAME,
    SqlState::DUPLICATE_PSTATEMENT,
];

/// The errors that undo a transaction which may succeed when it is decided again. A row that is there already belongs
/// to an execution that was taken for new.
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

    /// Whether another connection is needed.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Useless(_) | Self::Outdated(_))
    }

    /// The result of a transaction that failed before its commit was sent.
    pub(crate) fn before_commit(self) -> SqlError {
        match self {
            Self::Lost(why) | Self::Useless(why) | Self::Outdated(why) | Self::Undone(why) => SqlError::Undone(why),
            Self::Failed(why) => SqlError::Failed(why),
        }
    }

    /// The result of a transaction with a failed statement and the commit sent behind it. A server that could not do
    /// the statement rolls back on the commit; one that was lost may have done both.
    pub(crate) fn with_commit(self) -> SqlError {
        match self {
            Self::Lost(why) => SqlError::Failed(why),
            Self::Useless(why) | Self::Outdated(why) | Self::Undone(why) | Self::Failed(why) => SqlError::Undone(why),
        }
    }

    /// The result of a transaction that is one statement. A server that goes away may say so after it has committed.
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

/// The server's message, in one line. Where a row breaks a constraint the server quotes the row, which holds payloads
/// and secrets; that is left out.
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

    /// A caller that is told that nothing happened does it again, so only a server that said so is believed.
    #[test]
    fn silence_before_a_commit_leaves_open_what_a_word_settles() {
        let why = || "why".to_owned();
        assert_eq!(DriverError::Lost(why()).with_commit(), SqlError::Failed(why()));
        for said in [DriverError::Useless(why()), DriverError::Undone(why()), DriverError::Failed(why())] {
            assert_eq!(said.with_commit(), SqlError::Undone(why()));
        }
        assert_eq!(DriverError::Lost(why()).before_commit(), SqlError::Undone(why()));
    }

    #[test]
    fn a_server_that_goes_away_may_have_committed_what_is_one_statement() {
        let why = || "why".to_owned();
        for gone in [DriverError::Lost(why()), DriverError::Useless(why())] {
            assert_eq!(gone.within_commit(), SqlError::Failed(why()));
        }
        for said in [DriverError::Outdated(why()), DriverError::Undone(why()), DriverError::Failed(why())] {
            assert_eq!(said.within_commit(), SqlError::Undone(why()));
        }
    }
}
