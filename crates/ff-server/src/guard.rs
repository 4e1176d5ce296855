//! What holds for every request: who may ask, how long it may take, what the log says, and that a defect is an answer.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ff_core::engine_error::Code;
use ff_core::key::unauthenticated;
use ff_core::limits;
use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use tracing::field::Empty;

use crate::access::Access;
use crate::callers::Caller;
use crate::crowd::{Crowd, Place};
use crate::keyring::Keyring;
use crate::options::Limits;
use crate::problem::Problem;
use crate::rate::Rate;
use crate::{bearer, neighbour, routes};

/// How long a request may take: the longest wait anyone may ask for, and time for its body and its answer.
const REQUEST: Duration = Duration::from_millis(limits::LONG_POLL_MS + 60_000);

/// Where one asks whether the server lives.
const ALIVE: &str = "/healthz";

/// What every request is judged by.
#[derive(Clone)]
pub(crate) struct Guard {
    /// The keys that are asked for; none where nobody is asked for one.
    keyring: Option<Arc<Keyring>>,
    crowd: Crowd,
    rate: Option<Arc<Rate>>,
    stopping: CancellationToken,
}

impl Guard {
    pub(crate) fn new(keyring: Option<Keyring>, limits: &Limits, stopping: CancellationToken) -> Self {
        let rate = limits.rate.map(|each_second| Arc::new(Rate::of(each_second)));
        Self { keyring: keyring.map(Arc::new), crowd: Crowd::new(limits), rate, stopping }
    }

    /// Lets through who may ask, and notes who it is.
    async fn admit(&self, request: &mut Request) -> Result<(), Problem> {
        bearer::conceal(request.headers_mut());
        let Some(keyring) = &self.keyring else { return Ok(neighbour::check(request.headers())?) };
        let access = asked_by_route(request);
        if !access.looks_at_keys() {
            return Ok(());
        }
        let caller = request.extensions().get::<Caller>().cloned().unwrap_or_default();
        let shown = match bearer::shown(request.headers()) {
            Ok(Some(shown)) => shown,
            Ok(None) if access.needs_key() => return Err(unauthenticated("must hold a key: Bearer ff_…").into()),
            Ok(None) => return Ok(()),
            Err(refusal) => {
                caller.was_wrong();
                return Err(refusal.into());
            }
        };
        if !keyring.knows(shown.id()) {
            caller.held_back().map_err(Problem::too_often)?;
        }
        let key = keyring.judge(&shown).await.inspect_err(|error| {
            if error.code() == Code::Unauthenticated {
                caller.was_wrong();
            }
        })?;
        access.check(&key.info)?;
        request.extensions_mut().insert(caller.known_by(key));
        Ok(())
    }

    /// Counts a request to what its caller may ask.
    fn count(&self, request: &Request) -> Result<(), Problem> {
        let (Some(rate), Some(caller)) = (&self.rate, request.extensions().get::<Caller>()) else { return Ok(()) };
        rate.ask(&caller.as_asker()).map_err(Problem::too_often)
    }
}

/// What the route that is asked for asks in return; nothing, where there is no such route.
fn asked_by_route(request: &Request) -> Access {
    // What answers GET answers HEAD, and asks the same.
    let asked = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    path.map_or(Access::Open, |path| routes::access(asked.as_str(), path))
}

/// Runs a request under the rules that hold for all. Bodies and payloads never reach the log.
pub(crate) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    // There whenever anything is logged, so that a warning says what it is about.
    let (execution, lane, worker) = (Empty, Empty, Empty);
    let span =
        tracing::error_span!("request", method = %request.method(), route = route.as_str(), execution, lane, worker);
    async move {
        let response = answer(&guard, &route, request, next).await;
        tracing::debug!(status = response.status().as_u16(), "answered");
        response
    }
    .instrument(span)
    .await
}

async fn answer(guard: &Guard, route: &str, mut request: Request, next: Next) -> Response {
    if guard.stopping.is_cancelled() {
        return Problem::from(Code::ShuttingDown).into_response();
    }
    // Whoever asks whether the server lives is told so however full it is.
    if route != ALIVE {
        match guard.crowd.enter(route) {
            Ok(place) => drop(request.extensions_mut().insert(place)),
            Err(problem) => return problem.into_response(),
        }
    }
    let admitted = guard.admit(&mut request).await.and_then(|()| guard.count(&request));
    if let Err(problem) = admitted {
        return problem.into_response();
    }
    // Taken out of the request, which is gone before it is answered.
    let _place = request.extensions().get::<Place>().cloned();
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
        let app =
            app.layer(middleware::from_fn_with_state(Guard::new(None, &Limits::default(), stopping.clone()), guard));
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
