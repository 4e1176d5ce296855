//! Errors of calls, classified by whether the server can have done what it was asked.

use ff_core::engine_error::EngineError;
use redis::{ErrorKind, RedisError};

/// Codes with which a server says that it has not even begun.
const NOT_BEGUN: &[&str] = &[
    "ASK",
    "BUSY",
    "CLUSTERDOWN",
    "LOADING",
    "MASTERDOWN",
    "MISCONF",
    "MOVED",
    "NOAUTH",
    "NOPERM",
    "NOREPLICAS",
    "OOM",
    "READONLY",
    "TRYAGAIN",
    "WRONGPASS",
];

/// The error a caller gets for a call that failed.
pub(crate) fn engine_error(error: &RedisError) -> EngineError {
    let message = message_of(error);
    match error.kind() {
        _ if error.code().is_some_and(|code| NOT_BEGUN.contains(&code)) => EngineError::Unavailable(message),
        _ if lacks_the_library(error) => EngineError::Unavailable(message),
        ErrorKind::Server(_) | ErrorKind::Extension | ErrorKind::UnexpectedReturnType => EngineError::Corrupt(message),
        ErrorKind::AuthenticationFailed | ErrorKind::InvalidClientConfig | ErrorKind::ClusterConnectionNotFound => {
            EngineError::Unavailable(message)
        }
        _ if error.is_connection_refusal() => EngineError::Unavailable(message),
        _ => EngineError::Unknown(format!("the store did not answer: {message}")),
    }
}

/// The error a caller gets when there is no connection.
pub(crate) fn unreachable(error: &RedisError) -> EngineError {
    EngineError::Unavailable(message_of(error))
}

/// Whether the server has lost the library, or never had it.
pub(crate) fn lacks_the_library(error: &RedisError) -> bool {
    error.detail().is_some_and(|detail| detail.contains("Function not found"))
}

/// An error in one line.
pub(crate) fn message_of(error: &RedisError) -> String {
    let text = match (error.code(), error.detail()) {
        (Some(code), Some(detail)) => format!("{code} {detail}"),
        _ => error.to_string(),
    };
    text.replace(['\r', '\n'], " ").trim().to_owned()
}
