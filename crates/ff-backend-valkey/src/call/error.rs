//! Errors of calls, classified by whether the server may have executed the call.

use ff_core::engine_error::EngineError;
use redis::{ErrorKind, RedisError};

/// Error codes of a server that has not begun to execute the call.
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

/// Converts the error of a failed call for its caller.
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

/// Converts the error of a missing connection for the caller.
pub(crate) fn unreachable(error: &RedisError) -> EngineError {
    EngineError::Unavailable(message_of(error))
}

/// Returns whether the server does not have the library.
pub(crate) fn lacks_the_library(error: &RedisError) -> bool {
    error.detail().is_some_and(|detail| detail.contains("Function not found"))
}

/// Returns the error as one line.
pub(crate) fn message_of(error: &RedisError) -> String {
    let text = match (error.code(), error.detail()) {
        (Some(code), Some(detail)) => format!("{code} {detail}"),
        _ => error.to_string(),
    };
    text.replace(['\r', '\n'], " ").trim().to_owned()
}
