//! The room of events over HTTP.

use axum::Json;
use axum::extract::State;
use ff_core::contracts::{EventsArgs, EventsPage, check_wait};
use ff_core::limits;
use ff_sdk::FlowFabric;

use crate::params::Params;
use crate::problem::Result;

/// Tells what happened anywhere since a cursor, waiting for something if asked to.
pub(crate) async fn list(State(ff): State<FlowFabric>, mut params: Params) -> Result<Json<EventsPage>> {
    let args = EventsArgs {
        after: params.parsed("after").map_err(|refusal| refusal.at("after"))?,
        namespace: params.word("namespace")?,
        limit: params.number("limit")?.unwrap_or(limits::PAGE_DEFAULT),
    };
    let wait_ms = params.number("wait_ms")?.unwrap_or(0);
    params.done()?;
    check_wait(wait_ms)?;
    args.check()?;
    Ok(Json(ff.waits().next_events(args, wait_ms).await?))
}
