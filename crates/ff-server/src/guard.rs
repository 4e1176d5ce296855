//! What holds for every request: who may ask, how long it may take, what the log says, and that a defect is an answer.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ff_core::engine_error::Code;
use ff_core::limits;
use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use tracing::field::Empty;

use crate::neighbour;
use crate::problem::Problem;

/// How long a request may take: the longest wait anyone may ask for, and time for its body and its answer.
const REQUEST: Duration = Duration::from_millis(limits::LONG_POLL_MS + 60_000);

/// Runs a request under the rules that hold for all. Bodies and payloads never reach the log.
pub(crate) async fn guard(State(stopping): State<CancellationToken>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    // There whenever anything is logged, so that a warning says what it is about.
    let (execution, lane, worker) = (Empty, Empty, Empty);
    let span = tracing::error_span!("request", method = %request.method(), route, execution, lane, worker);
    async move {
        let response = answer(&stopping, request, next).await;
        tracing::debug!(status = response.status().as_u16(), "answered");
        response
    }
    .instrument(span)
    .await
}

async fn answer(stopping: &CancellationToken, request: Request, next: Next) -> Response {
    if stopping.is_cancelled() {
        return Problem::from(Code::ShuttingDown).into_response();
    }
    if let Err(refusal) = neighbour::check(request.headers()) {
        return Problem::from(refusal).into_response();
    }
    let running = AssertUnwindSafe(next.run(request)).catch_unwind();
    match tokio::time::timeout(REQUEST, running).await {
        Ok(Ok(response)) => response,
        Ok(Err(panic)) => Problem::defect(&format!("a handler panicked: {}", said(&*panic))).into_response(),
        Err(_) => Problem::from(Code::RequestTimeout).into_response(),
    }
}

/// What a panic said, when it said it in words.
fn said(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::http::StatusCode;
    use axum::routing::get;
    use axum::{Router, middleware};
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    async fn panics() {
        panic!("out of luck");
    }

    async fn asked(stopping: &CancellationToken, path: &str) -> (StatusCode, String) {
        let app = Router::new().route("/panics", get(panics)).route("/fine", get(async || "fine"));
        let app = app.layer(middleware::from_fn_with_state(stopping.clone(), guard));
        let response = app.oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_handler_that_panics_is_an_answer_that_tells_nothing_of_it() {
        let (status, body) = asked(&CancellationToken::new(), "/panics").await;
        assert_eq!(status, 500);
        assert!(body.contains("\"code\":\"internal\"") && !body.contains("luck"), "{body}");
    }

    #[tokio::test]
    async fn a_server_that_stops_takes_nothing_new() {
        let stopping = CancellationToken::new();
        assert_eq!(asked(&stopping, "/fine").await, (StatusCode::OK, "fine".to_owned()));
        stopping.cancel();
        let (status, body) = asked(&stopping, "/fine").await;
        assert_eq!(status, 503);
        assert!(body.contains("\"code\":\"shutting_down\""), "{body}");
    }
}
