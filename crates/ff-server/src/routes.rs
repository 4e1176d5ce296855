//! Every route, in one table.

use axum::Json;
use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Extension, Path, State};
use axum::middleware;
use ff_core::engine_error::{Class, Code};
use ff_core::partition::PartitionConfig;
use ff_sdk::FlowFabric;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::metrics::Metrics;
use crate::params::Params;
use crate::problem::{Problem, Result};
use crate::stream::Streams;
use crate::{
    approval, doctor, event, execution, flow, guard, lane, lease, metrics, secret, signal, suspension, worker,
};

macro_rules! routes {
    ($($method:ident $path:literal $handler:path;)*) => {
        /// Every route there is: its method and its path.
        pub const ROUTES: &[(&str, &str)] = &[$((stringify!($method), $path)),*];

        fn table() -> Router<FlowFabric> {
            Router::new()$(.route($path, axum::routing::$method($handler)))*
        }
    };
}

routes! {
    get  "/healthz"                                          healthz;
    get  "/metrics"                                          metrics::show;
    get  "/errors/{code}"                                    meaning;
    get  "/approvals/{id}/{waitpoint}"                       approval::show;
    post "/approvals/{id}/{waitpoint}"                       approval::decide;
    get  "/v1/partitions"                                    partitions;
    get  "/v1/doctor"                                        doctor::examine;
    get  "/v1/secrets"                                       secret::list;
    post "/v1/secrets/rotate"                                secret::rotate;
    get  "/v1/deliveries"                                    signal::deliveries;
    post "/v1/executions"                                    execution::submit;
    get  "/v1/executions"                                    execution::list;
    post "/v1/executions/batch"                              execution::submit_many;
    post "/v1/executions/bulk"                               execution::bulk;
    get  "/v1/executions/{id}"                               execution::describe;
    get  "/v1/executions/{id}/events"                        event::of_execution;
    get  "/v1/executions/{id}/payload"                       execution::payload;
    get  "/v1/executions/{id}/result"                        execution::result;
    get  "/v1/executions/{id}/attempts"                      execution::attempts;
    post "/v1/executions/{id}/cancel"                        execution::cancel;
    post "/v1/executions/{id}/replay"                        execution::replay;
    post "/v1/executions/{id}/priority"                      execution::change_priority;
    post "/v1/executions/{id}/tags"                          execution::set_tags;
    post "/v1/executions/{id}/revoke"                        lease::revoke;
    post "/v1/executions/{id}/renew"                         lease::renew;
    post "/v1/executions/{id}/progress"                      lease::progress;
    post "/v1/executions/{id}/complete"                      lease::complete;
    post "/v1/executions/{id}/fail"                          lease::fail;
    post "/v1/executions/{id}/delay"                         lease::delay;
    post "/v1/executions/{id}/suspend"                       suspension::suspend;
    post "/v1/executions/{id}/resume"                        suspension::resume;
    post "/v1/executions/{id}/approve"                       suspension::approve;
    post "/v1/executions/{id}/reject"                        suspension::reject;
    post "/v1/executions/{id}/waitpoints"                    suspension::create_waitpoint;
    get  "/v1/executions/{id}/waitpoints"                    suspension::waitpoints;
    get  "/v1/executions/{id}/waitpoints/{waitpoint}/token"  suspension::token;
    post "/v1/executions/{id}/waitpoints/{waitpoint}/close"  suspension::close_waitpoint;
    post "/v1/executions/{id}/signals"                       signal::deliver;
    get  "/v1/executions/{id}/signals"                       signal::list;
    get  "/v1/executions/{id}/signals/{signal}"              signal::read;
    post "/v1/executions/{id}/wait_for_children"             flow::wait_for_children;
    post "/v1/executions/{id}/cascade"                       flow::cascade;
    post "/v1/flows"                                         flow::submit;
    get  "/v1/flows"                                         flow::list;
    get  "/v1/flows/{flow}"                                  flow::describe;
    get  "/v1/flows/{flow}/members"                          flow::members;
    get  "/v1/flows/{flow}/edges"                            flow::edges;
    get  "/v1/flows/{flow}/events"                           flow::events;
    post "/v1/flows/{flow}/grow"                             flow::grow;
    post "/v1/flows/{flow}/close"                            flow::close;
    post "/v1/flows/{flow}/cancel"                           flow::cancel;
    post "/v1/flows/{flow}/tags"                             flow::tags;
    post "/v1/flows/{flow}/nodes/{node}/replay"              flow::replay;
    get  "/v1/lanes"                                         lane::list;
    get  "/v1/lanes/{lane}"                                  lane::describe;
    post "/v1/lanes/{lane}"                                  lane::configure;
    get  "/v1/events"                                        event::list;
    get  "/v1/workers"                                       worker::list;
    post "/v1/workers/{instance}/register"                   worker::register;
    post "/v1/workers/{instance}/heartbeat"                  worker::heartbeat;
    post "/v1/workers/{instance}/leave"                      worker::leave;
    post "/v1/workers/{instance}/claim"                      lease::claim;
    get  "/v1/workers/{instance}/control"                    lease::control;
}

/// The whole API over a connection, until it is told to stop.
pub(crate) fn router(flowfabric: FlowFabric, metrics: Option<Metrics>, stopping: CancellationToken) -> Router {
    let router = table()
        .fallback(async || Problem::from(Code::NotFound))
        .method_not_allowed_fallback(async || Problem::from(Code::MethodNotAllowed))
        .layer(Extension(stopping.clone()))
        .layer(Extension(Streams::default()))
        .layer(Extension(metrics.clone()))
        .layer(middleware::from_fn_with_state(stopping, guard::guard))
        .with_state(flowfabric);
    match metrics {
        Some(metrics) => router.layer(middleware::from_fn_with_state(metrics, metrics::observe)),
        None => router,
    }
}

/// That the server serves, and nothing more: anyone may ask.
#[derive(Serialize)]
struct Health {
    status: &'static str,
}

async fn healthz(params: Params) -> Result<Json<Health>> {
    params.done()?;
    Ok(Json(Health { status: "ok" }))
}

/// What an error code means: where the `type` of a problem leads.
#[derive(Serialize)]
struct Meaning {
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

/// How many partitions the store was made with, which a client must know to place what it submits.
async fn partitions(State(ff): State<FlowFabric>, params: Params) -> Result<Json<PartitionConfig>> {
    params.done()?;
    Ok(Json(ff.backend().partitions()))
}
