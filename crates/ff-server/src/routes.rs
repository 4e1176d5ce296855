//! Every route, in one table.

use std::sync::{Arc, LazyLock};

use axum::extract::rejection::PathRejection;
use axum::extract::{Extension, Path, State};
use axum::{Json, Router, middleware};
use ff_api::Deployment;
use ff_api::access::{self, Access};
use ff_core::engine_error::{Class, Code};
use ff_scheduler::Runtime;
use schemars::JsonSchema;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::callers::Caller;
use crate::cors::{self, Cors};
use crate::event::CursorCipher;
use crate::guard::{self, Guard};
use crate::health::Readiness;
use crate::links::Links;
use crate::metrics::Metrics;
use crate::params::Params;
use crate::problem::{Problem, Result};
use crate::stream::token::StreamTokens;
use crate::{
    activity, api_key, approval, budget, call, console, decision, doctor, event, execution, flow, health, lane, lease,
    metrics, openapi, quota, schedule, secret, session, signal, step, stream, suspension, worker,
};

macro_rules! call_routes {
    ($($path:literal $access:ident $name:path:
        $body:ident($args:ty, $subject:ident: $type:ty) -> $answer:ty, at most $bytes:ident $(within $namespace:ident)?,
        refused [$($status:literal),*], $does:literal => $says:literal;)*) => {
        const CALLS: &[(&str, &str, Access, &str)] = &[$(("post", $path, access::$access, stringify!($name))),*];

        fn with_calls(router: Router<Runtime>) -> Router<Runtime> {
            router$(.route($path, axum::routing::post(call::handle::<ff_api::$body>)))*
        }
    };
}

macro_rules! handler_routes {
    ($($method:ident $path:literal $access:ident $handler:path;)*) => {
        const HANDLERS: &[(&str, &str, Access, &str)] =
            &[$((stringify!($method), $path, access::$access, stringify!($handler))),*];

        fn with_handlers(router: Router<Runtime>) -> Router<Runtime> {
            router$(.route($path, axum::routing::$method($handler)))*
        }
    };
}

ff_api::calls!(call_routes);
ff_api::routes!(handler_routes);

/// Every route there is: its method, its path, and what it asks of its caller.
pub static ROUTES: LazyLock<Vec<(&str, &str, Access)>> =
    LazyLock::new(|| named_routes().map(|(method, path, access, _)| (*method, *path, *access)).collect());

/// The same, with the name of each in the description of the API.
fn named_routes() -> impl Iterator<Item = &'static (&'static str, &'static str, Access, &'static str)> {
    CALLS.iter().chain(HANDLERS)
}

fn route(method: &str, path: &str) -> Option<&'static (&'static str, &'static str, Access, &'static str)> {
    named_routes().find(|route| route.1 == path && route.0.eq_ignore_ascii_case(method))
}

/// The page of an approval link.
pub(crate) const APPROVAL: &str = "/approvals/{id}/{waitpoint}";

/// Where what an execution puts out is read.
pub(crate) const STREAM: &str = "/v1/executions/{id}/stream";

/// What a route asks of its caller; nothing, where there is no such route.
pub(crate) fn access(method: &str, path: &str) -> Access {
    route(method, path).map_or(Access::Open, |route| route.2)
}

/// Whether a route is a call that only operators may make.
pub(crate) fn is_operators_call(path: &str) -> bool {
    CALLS.iter().any(|(_, known, access, _)| *known == path && *access == access::OPERATE)
}

/// What a route is called in the description of the API, and so by generated clients: the domain and what is done in it.
pub(crate) fn operation_id(method: &str, path: &str) -> Option<String> {
    Some(route(method, path)?.3.replace("::", "_").replace(' ', ""))
}

/// The whole API over a connection, until it is told to stop.
pub(crate) fn router(
    runtime: Runtime,
    watch: Guard,
    cors: Cors,
    links: Links,
    metrics: Option<Metrics>,
    stopping: CancellationToken,
) -> Router {
    let tokens = Arc::new(StreamTokens::new(runtime.engine_store().clone()));
    let sealer = watch.sealer().clone();
    let cipher = Arc::new(CursorCipher::new(sealer.clone()));
    let router = console::with_files(with_handlers(with_calls(Router::new())))
        .fallback(async || Problem::from(Code::NotFound))
        .method_not_allowed_fallback(async || Problem::from(Code::MethodNotAllowed))
        .layer(Extension(cipher))
        .layer(Extension(sealer))
        .layer(Extension(tokens))
        .layer(Extension(stopping))
        .layer(Extension(links))
        .layer(Extension(Readiness::default()))
        .layer(Extension(metrics.clone()))
        .layer(middleware::from_fn_with_state(watch, guard::guard))
        .layer(middleware::from_fn_with_state(cors, cors::cors))
        .with_state(runtime);
    match metrics {
        Some(metrics) => router.layer(middleware::from_fn_with_state(metrics, metrics::observe)),
        None => router,
    }
}

/// What an error code means: where the `type` of a problem leads.
#[derive(JsonSchema, Serialize)]
pub(crate) struct ErrorPage {
    code: &'static str,
    class: Class,
    status: u16,
    title: &'static str,
}

async fn meaning(code: std::result::Result<Path<String>, PathRejection>, params: Params) -> Result<Json<ErrorPage>> {
    params.done()?;
    let code = code.ok().and_then(|Path(text)| Code::from_code(&text)).ok_or(Code::NotFound)?;
    Ok(Json(ErrorPage { code: code.as_str(), class: code.class(), status: code.http_status(), title: code.sentence() }))
}

/// How many partitions the store was made with, which a client must know to place what it submits, and where links lead.
async fn partitions(
    State(ff): State<Runtime>,
    Extension(links): Extension<Links>,
    caller: Caller,
    params: Params,
) -> Result<Json<Deployment>> {
    params.done()?;
    let public_url = links.public_url().map(|url| url.as_str().to_owned());
    Ok(Json(Deployment { partitions: ff.backend().partitions(), public_url, namespace: caller.tenant().cloned() }))
}
