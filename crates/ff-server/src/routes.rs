//! Every route, with what answers it.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Extension, Path, State};
use axum::{Json, Router, middleware};
use ff_api::Deployment;
use ff_core::engine_error::Code;
use ff_scheduler::Runtime;
use tokio_util::sync::CancellationToken;

use crate::callers::Caller;
use crate::cors::{self, Cors};
use crate::event::CursorCipher;
use crate::guard::{self, Guard};
use crate::health::Readiness;
use crate::links::Links;
use crate::metrics::Metrics;
use crate::params::Params;
use crate::problem::{ErrorPage, Problem, Result};
use crate::stream::token::StreamTokens;
use crate::{
    activity, api_key, approval, budget, call, console, decision, doctor, event, execution, flow, health, lane, lease,
    metrics, openapi, quota, schedule, secret, session, signal, step, stream, suspension, worker,
};

macro_rules! call_routes {
    ($($path:literal $access:ident $name:path:
        $body:ident($args:ty, $subject:ident: $type:ty) -> $answer:ty, at most $bytes:ident $(within $namespace:ident)?,
        refused [$($status:literal),*], $does:literal => $says:literal;)*) => {
        fn with_calls(router: Router<Runtime>) -> Router<Runtime> {
            router$(.route($path, axum::routing::post(call::handle::<ff_api::$body>)))*
        }
    };
}

macro_rules! handler_routes {
    ($($method:ident $path:literal $access:ident $handler:path;)*) => {
        fn with_handlers(router: Router<Runtime>) -> Router<Runtime> {
            router$(.route($path, axum::routing::$method($handler)))*
        }
    };
}

ff_api::calls!(call_routes);
ff_api::routes!(handler_routes);

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

async fn meaning(code: std::result::Result<Path<String>, PathRejection>, params: Params) -> Result<Json<ErrorPage>> {
    params.done()?;
    let code = code.ok().and_then(|Path(text)| Code::from_code(&text)).ok_or(Code::NotFound)?;
    Ok(Json(ErrorPage::of(code)))
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
