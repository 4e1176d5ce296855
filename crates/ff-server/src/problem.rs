//! Errors as answers: every one is a problem document.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ff_core::engine_error::{Code, EngineError};
use ff_sdk::http::wire;

/// What a handler answers, or why not.
pub(crate) type Result<T> = std::result::Result<T, Problem>;

/// An error on its way to the caller.
#[derive(Debug)]
pub(crate) struct Problem(EngineError);

impl<E: Into<EngineError>> From<E> for Problem {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl Problem {
    /// A defect of the server. The caller learns that there is one, the log learns what.
    pub(crate) fn defect(what: &str) -> Self {
        tracing::error!("{what}");
        Code::Internal.into()
    }

    fn log(&self) {
        match &self.0 {
            EngineError::Refused(refusal) => tracing::debug!("{refusal}"),
            error => tracing::error!("{error}"),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        self.log();
        let problem = wire::Problem::from(self.0);
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let media_type = (header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        (status, [media_type], axum::Json(problem)).into_response()
    }
}
