//! What happens in a flow: a page at a time, or pushed as it happens.

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use ff_core::contracts::{FlowEventsArgs, FlowEventsPage, check_wait};
use ff_core::engine_error::Refusal;
use ff_core::limits;
use ff_core::types::FlowId;
use ff_sdk::FlowFabric;
use ff_sdk::http::wire;
use futures_util::stream;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::params::Params;
use crate::path::Flow;
use crate::problem::Result;

/// How long nothing is said before a sign of life: less than what proxies take for silence.
const SIGN_OF_LIFE_MS: u64 = 15_000;

/// The header in which a browser says what it heard last.
const LAST_EVENT_ID: &str = "last-event-id";

/// Tells what happened in a flow since, waiting for something if asked to; or all there is to come, to whoever accepts a
/// stream of events.
pub(crate) async fn events(
    State(ff): State<FlowFabric>,
    Extension(stopping): Extension<CancellationToken>,
    Flow(flow_id): Flow,
    headers: HeaderMap,
    mut params: Params,
) -> Result<Response> {
    let from = params.number("from")?.unwrap_or(0);
    if !accepts_stream(&headers) {
        let limit = params.number("limit")?.unwrap_or(limits::PAGE_DEFAULT);
        let wait_ms = params.number("wait_ms")?.unwrap_or(0);
        params.done()?;
        check_wait(wait_ms)?;
        let args = FlowEventsArgs { flow_id, from, limit };
        args.check()?;
        return Ok(Json(ff.waits().next_flow_events(args, wait_ms).await?).into_response());
    }
    params.done()?;
    let last = last_heard(&headers)?;
    let from = last.map_or(from, |last| last.saturating_add(1));
    let first = ff.backend().flow_events(FlowEventsArgs { flow_id, from, limit: limits::PAGE }).await?;
    if last.is_some() && first.ended && first.events.is_empty() {
        // Browsers come back to a stream that ended; this tells them not to.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, pushed(Told { ff, flow_id, next: Next::Page(first), stopping })).into_response())
}

/// How far a stream has come.
struct Told {
    ff: FlowFabric,
    flow_id: FlowId,
    next: Next,
    stopping: CancellationToken,
}

enum Next {
    /// A page that is there already.
    Page(FlowEventsPage),
    /// What comes from this number on.
    From(u64),
    Over,
}

/// Pushes page after page until the flow has ended or the server stops. Nothing is asked for before it can be sent, so a
/// reader that is slow costs no memory.
fn pushed(told: Told) -> Body {
    Body::from_stream(stream::unfold(told, |mut told| async move {
        let text = told.more().await?;
        Some((Ok::<_, std::convert::Infallible>(text), told))
    }))
}

impl Told {
    async fn more(&mut self) -> Option<Bytes> {
        let page = match std::mem::replace(&mut self.next, Next::Over) {
            Next::Over => return None,
            Next::Page(page) => page,
            Next::From(_) if self.stopping.is_cancelled() => return None,
            Next::From(from) => {
                let args = FlowEventsArgs { flow_id: self.flow_id, from, limit: limits::PAGE };
                match self.ff.waits().next_flow_events(args, SIGN_OF_LIFE_MS).await {
                    Ok(page) => page,
                    Err(error) => return Some(said("problem", None, &wire::Problem::from(error)).into()),
                }
            }
        };
        let mut text = String::new();
        if page.missed {
            text.push_str(&said("missed", None, &serde_json::json!({ "next": page.next })));
        }
        for event in &page.events {
            text.push_str(&said("flow", Some(event.seq), event));
        }
        if text.is_empty() {
            text.push_str(":\n\n");
        }
        self.next = if page.ended { Next::Over } else { Next::From(page.next) };
        Some(text.into())
    }
}

/// One event of a stream. JSON has no line breaks, so one line holds it.
fn said(name: &str, id: Option<u64>, data: &impl Serialize) -> String {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    let data = serde_json::to_string(data).unwrap_or_else(|error| format!("\"cannot be written: {error}\""));
    format!("{id}event: {name}\ndata: {data}\n\n")
}

fn accepts_stream(headers: &HeaderMap) -> bool {
    let named = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.contains("text/event-stream"));
    headers.get_all(header::ACCEPT).iter().any(named)
}

/// The number of the event a client heard last.
fn last_heard(headers: &HeaderMap) -> std::result::Result<Option<u64>, Refusal> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let number = value.to_str().ok().and_then(|text| text.parse().ok());
    number.map(Some).ok_or_else(|| Refusal::invalid("Last-Event-ID", "must be the number of an event"))
}
