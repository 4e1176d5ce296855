//! Every route, in one table.

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Extension, Path, State};
use axum::middleware;
use ff_api::Deployment;
use ff_core::engine_error::{Class, Code};
use ff_scheduler::Runtime;
use schemars::JsonSchema;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::access::{ADMIN, ANY, Access, CLOSE, EVERYBODY, GROW, OPEN, OPERATE, READ, STEER, SUBMIT, TOKEN, WORK};
use crate::callers::Caller;
use crate::event::CursorCipher;
use crate::guard::{self, Guard};
use crate::health::Readiness;
use crate::links::Links;
use crate::metrics::Metrics;
use crate::params::Params;
use crate::problem::{Problem, Result};
use crate::{
    approval, doctor, event, execution, flow, health, key, lane, lease, metrics, openapi, secret, signal, suspension,
    worker,
};

macro_rules! routes {
    ($($method:ident $path:literal $access:ident $handler:path;)*) => {
        /// Every route there is: its method, its path, and what it asks of its caller.
        pub const ROUTES: &[(&str, &str, Access)] = &[$((stringify!($method), $path, $access)),*];

        /// The name of each route in the description of the API, in the same order.
        const NAMES: &[&str] = &[$(stringify!($handler)),*];

        fn table() -> Router<Runtime> {
            Router::new()$(.route($path, axum::routing::$method($handler)))*
        }
    };
}

routes! {
    get  "/healthz"                                           OPEN      health::healthz;
    get  "/readyz"                                            OPEN      health::readyz;
    get  "/metrics"                                           EVERYBODY metrics::show;
    get  "/openapi.json"                                      OPEN      openapi::show;
    get  "/errors/{code}"                                     OPEN      meaning;
    get  "/approvals/{id}/{waitpoint}"                        OPEN      approval::show;
    post "/approvals/{id}/{waitpoint}"                        OPEN      approval::decide;
    get  "/v1/partitions"                                     ANY       partitions;
    get  "/v1/doctor"                                         EVERYBODY doctor::examine;
    get  "/v1/secrets"                                        ADMIN     secret::list;
    post "/v1/secrets/rotate"                                 ADMIN     secret::rotate;
    get  "/v1/deliveries"                                     EVERYBODY signal::deliveries;
    post "/v1/executions"                                     SUBMIT    execution::submit;
    get  "/v1/executions"                                     READ      execution::list;
    post "/v1/executions/batch"                               SUBMIT    execution::submit_many;
    post "/v1/executions/bulk"                                OPERATE   execution::bulk;
    get  "/v1/executions/{id}"                                READ      execution::describe;
    get  "/v1/executions/{id}/events"                         READ      event::of_execution;
    get  "/v1/executions/{id}/payload"                        READ      execution::payload;
    get  "/v1/executions/{id}/result"                         READ      execution::result;
    get  "/v1/executions/{id}/attempts"                       READ      execution::attempts;
    post "/v1/executions/{id}/cancel"                         STEER     execution::cancel;
    post "/v1/executions/{id}/replay"                         OPERATE   execution::replay;
    post "/v1/executions/{id}/priority"                       OPERATE   execution::change_priority;
    post "/v1/executions/{id}/tags"                           STEER     execution::set_tags;
    post "/v1/executions/{id}/revoke"                         OPERATE   lease::revoke;
    post "/v1/executions/{id}/renew"                          WORK      lease::renew;
    post "/v1/executions/{id}/progress"                       WORK      lease::progress;
    post "/v1/executions/{id}/complete"                       WORK      lease::complete;
    post "/v1/executions/{id}/fail"                           WORK      lease::fail;
    post "/v1/executions/{id}/delay"                          WORK      lease::delay;
    post "/v1/executions/{id}/suspend"                        WORK      suspension::suspend;
    post "/v1/executions/{id}/resume"                         OPERATE   suspension::resume;
    post "/v1/executions/{id}/approve"                        OPERATE   suspension::approve;
    post "/v1/executions/{id}/reject"                         OPERATE   suspension::reject;
    post "/v1/executions/{id}/waitpoints"                     WORK      suspension::create_waitpoint;
    get  "/v1/executions/{id}/waitpoints"                     READ      suspension::waitpoints;
    get  "/v1/executions/{id}/waitpoints/{waitpoint}/token"   OPERATE   suspension::token;
    post "/v1/executions/{id}/waitpoints/{waitpoint}/close"   CLOSE     suspension::close_waitpoint;
    post "/v1/executions/{id}/signals"                        TOKEN     signal::deliver;
    get  "/v1/executions/{id}/signals"                        READ      signal::list;
    get  "/v1/executions/{id}/signals/{signal}"               READ      signal::read;
    post "/v1/executions/{id}/wait_for_children"              WORK      flow::wait_for_children;
    post "/v1/executions/{id}/cascade"                        OPERATE   flow::cascade;
    post "/v1/flows"                                          SUBMIT    flow::submit;
    get  "/v1/flows"                                          READ      flow::list;
    get  "/v1/flows/{flow}"                                   READ      flow::describe;
    get  "/v1/flows/{flow}/members"                           READ      flow::members;
    get  "/v1/flows/{flow}/edges"                             READ      flow::edges;
    get  "/v1/flows/{flow}/events"                            READ      flow::events;
    post "/v1/flows/{flow}/grow"                              GROW      flow::grow;
    post "/v1/flows/{flow}/close"                             GROW      flow::close;
    post "/v1/flows/{flow}/cancel"                            STEER     flow::cancel;
    post "/v1/flows/{flow}/tags"                              STEER     flow::tags;
    post "/v1/flows/{flow}/nodes/{node}/replay"               OPERATE   flow::replay;
    get  "/v1/lanes"                                          READ      lane::list;
    get  "/v1/lanes/{lane}"                                   READ      lane::describe;
    post "/v1/lanes/{lane}"                                   OPERATE   lane::configure;
    get  "/v1/events"                                         OPERATE   event::list;
    get  "/v1/workers"                                        OPERATE   worker::list;
    post "/v1/workers/{instance}/register"                    WORK      worker::register;
    post "/v1/workers/{instance}/heartbeat"                   WORK      worker::heartbeat;
    post "/v1/workers/{instance}/leave"                       WORK      worker::leave;
    post "/v1/workers/{instance}/claim"                       WORK      lease::claim;
    get  "/v1/workers/{instance}/control"                     WORK      lease::control;
    get  "/v1/keys"                                           ADMIN     key::list;
    post "/v1/keys"                                           ADMIN     key::create;
    post "/v1/keys/{key}/revoke"                              ADMIN     key::revoke;
}

/// The page of an approval link.
pub(crate) const APPROVAL: &str = "/approvals/{id}/{waitpoint}";

/// What a route asks of its caller; nothing, where there is no such route.
pub(crate) fn access(method: &str, path: &str) -> Access {
    let route = ROUTES.iter().find(|route| route.1 == path && route.0.eq_ignore_ascii_case(method));
    route.map_or(Access::Open, |(_, _, access)| *access)
}

/// What a route is called in the description of the API, and so by generated clients: the domain and what is done in it.
pub(crate) fn operation_id(method: &str, path: &str) -> Option<String> {
    let nth = ROUTES.iter().position(|route| route.1 == path && route.0.eq_ignore_ascii_case(method))?;
    Some(NAMES[nth].replace("::", "_"))
}

/// The whole API over a connection, until it is told to stop.
pub(crate) fn router(
    runtime: Runtime,
    watch: Guard,
    links: Links,
    metrics: Option<Metrics>,
    stopping: CancellationToken,
) -> Router {
    let cipher = Arc::new(CursorCipher::new(runtime.upkeep().clone()));
    let router = table()
        .fallback(async || Problem::from(Code::NotFound))
        .method_not_allowed_fallback(async || Problem::from(Code::MethodNotAllowed))
        .layer(Extension(cipher))
        .layer(Extension(stopping))
        .layer(Extension(links))
        .layer(Extension(Readiness::default()))
        .layer(Extension(metrics.clone()))
        .layer(middleware::from_fn_with_state(watch, guard::guard))
        .with_state(runtime);
    match metrics {
        Some(metrics) => router.layer(middleware::from_fn_with_state(metrics, metrics::observe)),
        None => router,
    }
}

/// What an error code means: where the `type` of a problem leads.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Meaning {
    code: &'static str,
    class: Class,
    status: u16,
    title: &'static str,
}

async fn meaning(code: std::result::Result<Path<String>, PathRejection>, params: Params) -> Result<Json<Meaning>> {
    params.done()?;
    let code = code.ok().and_then(|Path(text)| Code::from_code(&text)).ok_or(Code::NotFound)?;
    Ok(Json(Meaning { code: code.as_str(), class: code.class(), status: code.http_status(), title: code.sentence() }))
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
