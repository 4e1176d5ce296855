//! The router: every route with its handler.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use axum::{Json, Router, middleware};
use ff_api::{Deployment, NoQuery};
use ff_core::engine_error::Code;
use ff_scheduler::Runtime;
use tokio_util::sync::CancellationToken;

use crate::access::callers::Caller;
use crate::access::session;
use crate::console::{activity, files};
use crate::metrics::Metrics;
use crate::request::params::Params;
use crate::response::problem::{ErrorPage, Problem, Result};
use crate::routing::call;
use crate::routing::cors::{self, Cors};
use crate::routing::guard::{self, Guard};
use crate::routing::links::Links;
use crate::routing::state::ServerState;
use crate::suspension::{approval, decision, secret};
use crate::{
    api_key, budget, doctor, event, execution, flow, health, lane, lease, metrics, openapi, quota, schedule, signal,
    step, stream, suspension, worker,
};

macro_rules! call_routes {
    ($($path:literal $access:ident $name:path:
        $body:ident($args:ty, $subject:ident: $type:ty) -> $answer:ty, at most $bytes:ident $(within $namespace:ident)?,
        refused [$($status:literal),*] $($mark:ident)*, $does:literal => $says:literal;)*) => {
        fn with_calls(router: Router<ServerState>) -> Router<ServerState> {
            router$(.route($path, axum::routing::post(call::handle::<ff_api::$body>)))*
        }
    };
}

macro_rules! handler_routes {
    ($($method:ident $path:literal $access:ident $handler:path $(: $query:ident)? $(, $mark:ident)*;)*) => {
        fn with_handlers(router: Router<ServerState>) -> Router<ServerState> {
            router$(.route($path, axum::routing::$method($handler)))*
        }
    };
}

ff_api::calls!(call_routes);
ff_api::routes!(handler_routes);

/// Returns the router of the whole API.
pub(crate) fn router(
    runtime: Runtime,
    guard: Guard,
    cors: Cors,
    links: Links,
    metrics: Option<Metrics>,
    stopping: CancellationToken,
) -> Router {
    let state = ServerState::new(runtime, guard.sealer().clone(), links, metrics.clone(), stopping);
    files::with_files(with_handlers(with_calls(Router::new())))
        .fallback(async || Problem::from(Code::NotFound))
        .method_not_allowed_fallback(async || Problem::from(Code::MethodNotAllowed))
        .layer(middleware::from_fn_with_state(Arc::new(Rules { guard, cors, metrics }), under_rules))
        .with_state(state)
}

/// The rules for every request.
struct Rules {
    guard: Guard,
    cors: Cors,
    metrics: Option<Metrics>,
}

/// Answers a request under all rules. They share one layer, because each layer clones and boxes the inner service for every
/// request.
async fn under_rules(State(rules): State<Arc<Rules>>, request: Request, next: Next) -> Response {
    let guarded = |request| guard::guard(&rules.guard, request, next);
    let answered = |request| cors::cors(&rules.cors, request, guarded);
    match &rules.metrics {
        Some(metrics) => metrics::observe(metrics, request, answered).await,
        None => answered(request).await,
    }
}

async fn meaning(
    code: std::result::Result<Path<String>, PathRejection>,
    _: Params<NoQuery>,
) -> Result<Json<ErrorPage>> {
    let code = code.ok().and_then(|Path(text)| Code::from_code(&text)).ok_or(Code::NotFound)?;
    Ok(Json(ErrorPage::of(code)))
}

/// Returns the number of partitions, by which clients place submissions, the public address for links, and the caller's
/// namespace.
async fn partitions(
    State(ff): State<Runtime>,
    State(links): State<Links>,
    caller: Caller,
    _: Params<NoQuery>,
) -> Result<Json<Deployment>> {
    let public_url = links.public_url().map(|url| url.as_str().to_owned());
    Ok(Json(Deployment { partitions: ff.backend().partitions(), public_url, namespace: caller.tenant().cloned() }))
}
