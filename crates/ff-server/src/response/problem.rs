//! Error responses: every error is a problem document.

use std::fmt;
use std::time::Duration;

use axum::extract::Extension;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ff_core::backend::outage::is_away;
use ff_core::engine_error::{Class, Code, EngineError, Refusal};
use schemars::JsonSchema;
use serde::Serialize;

/// Retry delay when all streams of a caller are open.
const STREAM_WAIT: Duration = Duration::from_secs(5);

/// The result of a handler: its response, or a problem.
pub(crate) type Result<T> = std::result::Result<T, Problem>;

/// An error that becomes the response.
#[derive(Debug)]
pub(crate) struct Problem {
    error: EngineError,
    /// Time the caller should wait before a retry.
    retry_after: Option<Duration>,
}

/// Response extension that marks a request that the store did not answer.
#[derive(Clone)]
pub(crate) struct StoreOutage(pub(crate) EngineError);

impl<E: Into<EngineError>> From<E> for Problem {
    fn from(error: E) -> Self {
        Self { error: error.into(), retry_after: None }
    }
}

impl Problem {
    /// Creates the error for a defect of the server. The caller only learns that there is one; the log has the message.
    pub(crate) fn defect(what: &str) -> Self {
        tracing::error!("{what}");
        Code::Internal.into()
    }

    /// Creates the error for a caller with too many requests, or too many wrong keys or tokens.
    pub(crate) fn too_often(wait: Duration) -> Self {
        let refusal =
            Refusal::new(Code::RateLimitExceeded).because("too many requests, or too many wrong keys or tokens");
        Self { error: refusal.into(), retry_after: Some(wait) }
    }

    /// Creates the error for a caller that has opened as many streams as it may.
    pub(crate) fn too_many_streams(limit: usize) -> Self {
        let why =
            format!("{limit} streams are open, as many as a caller may have; close one, or ask with wait_ms instead");
        Self { error: Refusal::new(Code::RateLimitExceeded).because(why).into(), retry_after: Some(STREAM_WAIT) }
    }

    /// Creates the error for a server at its capacity, or a caller at its share of it.
    pub(crate) fn overloaded(why: Option<String>, wait: Duration) -> Self {
        let refusal = Refusal { detail: why, ..Refusal::new(Code::Overloaded) };
        Self { error: refusal.into(), retry_after: Some(wait) }
    }

    /// Returns how long the caller should wait before a retry, if a retry helps.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    fn log(&self) {
        match &self.error {
            // Quoted, because the text may repeat the caller's input: a line break in it must not start a new log line.
            EngineError::Refused(refusal) => tracing::debug!("{:?}", refusal.to_string()),
            // The guard logs it, because it tracks the outages of the store.
            error if is_away(error) => tracing::debug!("{error}"),
            error => tracing::error!("{error}"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        self.log();
        let retry_after = self.retry_after.map(|wait| [(header::RETRY_AFTER, seconds(wait))]);
        let unanswered = is_away(&self.error).then(|| Extension(StoreOutage(self.error.clone())));
        let problem = ff_api::Problem::from(self.error);
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let media_type = (header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        // A client without a key must learn which credential to send.
        let challenge = (status == StatusCode::UNAUTHORIZED).then_some([(header::WWW_AUTHENTICATE, "Bearer")]);
        (status, retry_after, challenge, unanswered, [media_type], axum::Json(problem)).into_response()
    }
}

/// Formats a wait for a header: whole seconds, rounded up.
pub(crate) fn seconds(wait: Duration) -> HeaderValue {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).into()
}

/// Meaning of an error code, linked by the `type` of a problem.
#[derive(JsonSchema, Serialize)]
pub(crate) struct ErrorPage {
    code: &'static str,
    class: Class,
    status: u16,
    title: &'static str,
}

impl ErrorPage {
    pub(crate) fn of(code: Code) -> Self {
        Self { code: code.as_str(), class: code.class(), status: code.http_status(), title: code.sentence() }
    }
}
