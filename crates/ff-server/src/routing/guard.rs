//! The rules for every request: access, time limits and logging. A panic becomes an error response.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ff_api::PublicUrl;
use ff_api::access::Access;
use ff_core::api_key::unauthenticated;
use ff_core::backend::EngineStore;
use ff_core::engine_error::{Code, EngineError};
use ff_core::limits;
use futures_util::FutureExt;
use hyper::body::Body as _;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use tracing::field::Empty;

use crate::access::callers::Caller;
use crate::access::keyring::{AcceptedKey, Keyring};
use crate::access::sealer::Sealer;
use crate::access::{audit, bearer, loopback_guard, session};
use crate::capacity::rate::Rate;
use crate::capacity::{Capacity, Slot};
use crate::listener::options::Limits;
use crate::listener::transport::RequestGuard;
use crate::response::guarded_body::until_written;
use crate::response::problem::{Problem, StoreOutage};
use crate::routing::cors::Cors;
use crate::routing::route_table;
use crate::routing::route_table::Mark;
use crate::stream::token;

/// Maximum time a request waits for the store, on top of its long poll. A store that is silent for so long counts as
/// unavailable, and the caller gets an error.
const STORE: Duration = Duration::from_secs(10);

/// Maximum time of a request to a route that makes many calls to the store.
const MANY: Duration = Duration::from_secs(60);

/// The checks every request passes.
pub(crate) struct Guard {
    /// The accepted API keys; `None` when the server requires none.
    keyring: Option<Arc<Keyring>>,
    capacity: Arc<Capacity>,
    rate: Option<Rate>,
    /// The host of the public address, where approval links are opened.
    public_host: Option<String>,
    /// The origins whose pages may read streams.
    cors: Cors,
    stopping: CancellationToken,
    /// The store whose outages are logged.
    store: Arc<dyn EngineStore>,
    /// Decrypts the cookies of sessions.
    sealer: Arc<Sealer>,
}

impl Guard {
    pub(crate) fn new(
        store: Arc<dyn EngineStore>,
        keyring: Option<Keyring>,
        limits: &Limits,
        public_url: Option<&PublicUrl>,
        cors: Cors,
        stopping: CancellationToken,
    ) -> Self {
        let rate = limits.rate.map(Rate::of);
        let capacity = Capacity::new(limits, keyring.is_some());
        let public_host = public_url.map(|url| url.host().to_owned());
        let sealer = Arc::new(Sealer::new(store.clone()));
        Self { keyring: keyring.map(Arc::new), capacity, rate, public_host, cors, stopping, store, sealer }
    }

    pub(crate) fn sealer(&self) -> &Arc<Sealer> {
        &self.sealer
    }

    /// Adds a request that the store did not answer to the log of outages.
    fn log_outage(&self, response: &Response) {
        if let Some(StoreOutage(error)) = response.extensions().get() {
            self.store.outages().log_failure("request", error);
        }
    }

    /// Admits a request: checks access, then the rate, then capacity. A request with a body takes its place when the body has
    /// arrived.
    async fn enter(&self, route: &str, request: &mut Request) -> Result<Arc<Slot>, Problem> {
        let admitted = tokio::time::timeout(STORE, self.admit(request)).await;
        let admitted = admitted.unwrap_or_else(|_| Err(unanswered(&Method::GET, STORE)));
        // A refused request counts as well.
        let caller = request.extensions().get::<Caller>().cloned().unwrap_or_default();
        if let Some(rate) = &self.rate {
            rate.ask(&caller.as_asker()).map_err(Problem::too_often)?;
        }
        admitted?;
        let slot = self.capacity.request(request.method().as_str(), route, caller.as_asker());
        // Every handler of a POST reads its body, and no other handler does.
        let has_body = *request.method() == Method::POST && !request.body().is_end_stream();
        if !route_table::has_mark(request.method().as_str(), route, Mark::HealthCheck) && !has_body {
            slot.begin()?;
        }
        request.extensions_mut().insert(slot.clone());
        Ok(slot)
    }

    /// Checks the caller's access, and stores the caller in the request.
    async fn admit(&self, request: &mut Request) -> Result<(), Problem> {
        bearer::conceal(request.headers_mut());
        let caller = request.extensions().get::<Caller>().cloned().unwrap_or_default();
        let access = required_access(request);
        let stream_token = Some(request.uri()).filter(|_| access.takes_stream_token()).and_then(token::presented_in);
        let has_token = stream_token.is_some();
        if let Some(stream_token) = stream_token {
            // The handler of the stream checks the token before it sends anything.
            request.extensions_mut().insert(stream_token);
        }
        let Some(keyring) = &self.keyring else {
            // The approval page may be opened at the public address; all other routes accept only this machine.
            let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
            let public_host = self.public_host.as_deref().filter(|_| path == Some(route_table::APPROVAL));
            loopback_guard::check(request.headers(), public_host, self.cors.allows(request))?;
            caller.prove_connection();
            return Ok(());
        };
        if !access.checks_keys() || has_token {
            return Ok(());
        }
        let presented = match bearer::presented_key(request.headers()) {
            Ok(None) => session::presented_key(&self.sealer, request.method(), request.headers()).await?,
            presented => presented,
        };
        let presented = match presented {
            Ok(Some(presented)) => presented,
            Ok(None) if access.needs_key() => return Err(unauthenticated("must hold a key: Bearer ff_…").into()),
            Ok(None) => return Ok(()),
            Err(refusal) => {
                caller.count_wrong_key(None).map_err(Problem::too_often)?;
                audit::wrong_key(&caller, None);
                return Err(refusal.into());
            }
        };
        // A valid key is never held back because of wrong keys from the same address.
        let key = match keyring.verify(&presented).await {
            Ok(key) => key,
            Err(error) if error.code() == Code::Unauthenticated => {
                // Callers can invent ids, so unknown ids are counted together.
                let known = Some(presented.id()).filter(|id| keyring.knows(id));
                caller.count_wrong_key(known).map_err(Problem::too_often)?;
                audit::wrong_key(&caller, Some(presented.id()));
                return Err(error.into());
            }
            Err(error) => return Err(error.into()),
        };
        access.check(&key.info)?;
        caller.prove_connection();
        request.extensions_mut().insert(AcceptedKey::new(keyring.clone(), key.clone()));
        request.extensions_mut().insert(caller.known_by(key));
        Ok(())
    }

    /// Runs the handler of an admitted request, within its time limit.
    async fn answered(&self, slot: &Slot, route: &str, request: Request, next: Next) -> Response {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let caller = request.extensions().get::<Caller>().cloned().unwrap_or_default();
        let patience = patience(slot, method.as_str(), route);
        let running = async {
            let _turn = self.capacity.turn(&method, route).await;
            next.run(request).await
        };
        let mut running = pin!(AssertUnwindSafe(running).catch_unwind());
        loop {
            // A request does not wait for the store while its body arrives. The code that reads the body limits that time.
            let until = slot.since().unwrap_or_else(Instant::now) + patience;
            match tokio::time::timeout_at(until.into(), running.as_mut()).await {
                Ok(Ok(response)) => {
                    if response.status().is_success() {
                        audit::steered(&caller, &method, route, &path);
                    }
                    return response;
                }
                Ok(Err(panic)) => {
                    return Problem::defect(&format!("a handler panicked: {}", panic_message(&*panic))).into_response();
                }
                Err(_) if slot.since().is_some_and(|since| since + patience <= Instant::now()) => {
                    return unanswered(&method, patience).into_response();
                }
                Err(_) => {}
            }
        }
    }
}

/// Returns the access that the request's route requires; open if there is no such route.
fn required_access(request: &Request) -> Access {
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    path.map_or(Access::Open, |path| route_table::access(request.method().as_str(), path))
}

/// Runs a request under the rules for all requests. Bodies and payloads never reach the log.
pub(crate) async fn guard(guard: &Guard, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    // The span has error level, so that it is enabled whenever anything is logged and every warning names its request.
    let (execution, lane, worker) = (Empty, Empty, Empty);
    let span =
        tracing::error_span!("request", method = %request.method(), route = route.as_str(), execution, lane, worker);
    async {
        let response = answer(guard, &route, request, next).await;
        guard.log_outage(&response);
        tracing::debug!(status = response.status().as_u16(), "answered");
        response
    }
    .instrument(span)
    .await
}

async fn answer(guard: &Guard, route: &str, mut request: Request, next: Next) -> Response {
    let busy = request.extensions_mut().remove::<Arc<RequestGuard>>();
    if guard.stopping.is_cancelled() {
        return until_written(Problem::from(Code::ShuttingDown).into_response(), None, busy);
    }
    match guard.enter(route, &mut request).await {
        Ok(slot) => {
            let response = guard.answered(&slot, route, request, next).await;
            slot.answered();
            until_written(response, Some(slot), busy)
        }
        Err(problem) => {
            // A connection answers several pipelined requests in one poll. Without this yield, requests that are refused at
            // once, such as key guesses, would delay requests of other callers.
            tokio::task::yield_now().await;
            until_written(problem.into_response(), None, busy)
        }
    }
}

fn patience(slot: &Slot, method: &str, route: &str) -> Duration {
    if slot.is_waiting() {
        Duration::from_millis(limits::LONG_POLL_MS) + STORE
    } else if route_table::has_mark(method, route, Mark::ManyCalls) {
        MANY
    } else {
        STORE
    }
}

/// Returns the error for a store that did not answer: a read is unavailable, a write has an unknown outcome.
fn unanswered(method: &Method, after: Duration) -> Problem {
    let why = format!("the store has not answered for {} s", after.as_secs());
    let only_reads = matches!(*method, Method::GET | Method::HEAD);
    if only_reads { EngineError::Unavailable(why) } else { EngineError::Unknown(why) }.into()
}

/// Returns the message of a panic, if it has one.
fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::extract::State;
    use axum::http::StatusCode;
    use axum::routing::get;
    use axum::{Router, middleware};
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    fn guard_over_memory(stopping: &CancellationToken) -> Guard {
        let store = Arc::new(ff_backend_memory::MemoryBackend::default());
        Guard::new(store, None, &Limits::default(), None, Cors::default(), stopping.clone())
    }

    async fn panics() {
        panic!("out of luck");
    }

    async fn fetch(stopping: &CancellationToken, path: &str) -> (StatusCode, String) {
        let app = Router::new().route("/panics", get(panics)).route("/fine", get(async || "fine"));
        let guard = Arc::new(guard_over_memory(stopping));
        let guarded = async |State(guard): State<Arc<Guard>>, request, next| super::guard(&guard, request, next).await;
        let app = app.layer(middleware::from_fn_with_state(guard, guarded));
        let response = app.oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_panic_in_a_handler_is_answered_without_its_message() {
        let (status, body) = fetch(&CancellationToken::new(), "/panics").await;
        assert_eq!(status, 500);
        assert!(body.contains("\"code\":\"internal\"") && !body.contains("luck"), "{body}");
    }

    #[tokio::test]
    async fn a_server_that_stops_takes_nothing_new() {
        let stopping = CancellationToken::new();
        assert_eq!(fetch(&stopping, "/fine").await, (StatusCode::OK, "fine".to_owned()));
        stopping.cancel();
        let (status, body) = fetch(&stopping, "/fine").await;
        assert_eq!(status, 503);
        assert!(body.contains("\"code\":\"shutting_down\""), "{body}");
    }
}
