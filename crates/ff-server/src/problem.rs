//! Errors as answers: every one is a problem document.

use std::fmt;
use std::time::Duration;

use axum::extract::Extension;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ff_core::engine_error::{Class, Code, EngineError, Refusal};
use ff_core::outage::is_away;
use schemars::JsonSchema;
use serde::Serialize;

/// When to ask again for a stream there was no room for.
const STREAM_WAIT: Duration = Duration::from_secs(5);

/// A handler's answer, or the problem that prevents it.
pub(crate) type Result<T> = std::result::Result<T, Problem>;

/// An error on its way to the caller.
#[derive(Debug)]
pub(crate) struct Problem {
    error: EngineError,
    /// How long the caller should wait before it asks again.
    retry_after: Option<Duration>,
}

/// Travels with the response to a request that the store did not answer.
#[derive(Clone)]
pub(crate) struct StoreOutage(pub(crate) EngineError);

impl<E: Into<EngineError>> From<E> for Problem {
    fn from(error: E) -> Self {
        Self { error: error.into(), retry_after: None }
    }
}

impl Problem {
    /// A defect of the server. The caller learns that there is one, the log has the message.
    pub(crate) fn defect(what: &str) -> Self {
        tracing::error!("{what}");
        Code::Internal.into()
    }

    /// The caller asks too often, or was wrong too often.
    pub(crate) fn too_often(wait: Duration) -> Self {
        let refusal =
            Refusal::new(Code::RateLimitExceeded).because("too many requests, or too many wrong keys or tokens");
        Self { error: refusal.into(), retry_after: Some(wait) }
    }

    /// Every stream there is room for is open.
    pub(crate) fn too_many_streams(limit: usize) -> Self {
        let why =
            format!("{limit} streams are open, as many as a caller may have; close one, or ask with wait_ms instead");
        Self { error: Refusal::new(Code::RateLimitExceeded).because(why).into(), retry_after: Some(STREAM_WAIT) }
    }

    /// The server has as much under way as it takes, or as much of one caller.
    pub(crate) fn overloaded(why: Option<String>, wait: Duration) -> Self {
        let refusal = Refusal { detail: why, ..Refusal::new(Code::Overloaded) };
        Self { error: refusal.into(), retry_after: Some(wait) }
    }

    /// How long the caller should wait before it asks again, where that helps.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    fn log(&self) {
        match &self.error {
            // Quoted, because it may repeat the caller's input: a line break in it must not begin a line of the log.
            EngineError::Refused(refusal) => tracing::debug!("{:?}", refusal.to_string()),
            // Logged by the guard, which knows the store's outages.
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
        // A client without a key must learn which kind of credential to send.
        let challenge = (status == StatusCode::UNAUTHORIZED).then_some([(header::WWW_AUTHENTICATE, "Bearer")]);
        (status, retry_after, challenge, unanswered, [media_type], axum::Json(problem)).into_response()
    }
}

/// A wait as a header says it: whole seconds, never too few.
pub(crate) fn seconds(wait: Duration) -> HeaderValue {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).into()
}

/// What an error code means: where the `type` of a problem leads.
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
