//! The events of a flow, as pages or as a stream.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use ff_api::FlowEventsQuery;
use ff_core::contracts::{FlowEventsArgs, FlowEventsPage, check_wait};
use ff_core::limits;
use ff_core::types::FlowId;
use ff_scheduler::Runtime;
use tokio_util::sync::CancellationToken;

use crate::request::params::Params;
use crate::request::path::Flow;
use crate::response::problem::Result;
use crate::stream::{
    EventSource, KEEP_ALIVE, KEEP_ALIVE_MS, StreamOpener, accepts_stream, last_event_id, problem_event, pushed,
    refuse_paging, sse_event,
};

/// Lists the events of a flow from a number on, and can wait for the next one. Streams all further events to callers that
/// accept a stream.
pub(crate) async fn events(
    State(ff): State<Runtime>,
    State(stopping): State<CancellationToken>,
    opener: StreamOpener,
    Flow(flow_id): Flow,
    headers: HeaderMap,
    Params(query): Params<FlowEventsQuery>,
) -> Result<Response> {
    let from = query.from.unwrap_or(0);
    if !accepts_stream(&headers) {
        let limit = query.limit.unwrap_or_default().0;
        let wait_ms = query.wait_ms.unwrap_or_default().0;
        check_wait(wait_ms)?;
        let args = FlowEventsArgs { flow_id, from, limit };
        args.check()?;
        return Ok(Json(ff.long_poll().next_flow_events(args, wait_ms).await?).into_response());
    }
    refuse_paging(query.limit, query.wait_ms)?;
    let last = last_event_id(&headers, |text| text.parse::<u64>().ok(), "the number of an event")?;
    let from = last.map_or(from, |last| last.saturating_add(1));
    let first = ff.backend().flow_events(FlowEventsArgs { flow_id, from, limit: limits::PAGE }).await?;
    if last.is_some() && first.ended && first.events.is_empty() {
        // Browsers reconnect to a stream that ended; 204 tells them not to.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(pushed(FlowEventStream { ff, flow_id, next: Next::Page(first), stopping }, opener.open()?))
}

/// An open stream of flow events, with its position.
struct FlowEventStream {
    ff: Runtime,
    flow_id: FlowId,
    next: Next,
    stopping: CancellationToken,
}

enum Next {
    /// A page that was read already.
    Page(FlowEventsPage),
    /// Read the events from this number on.
    From(u64),
    Over,
}

/// Sends page after page, until the flow has ended or the server stops.
impl EventSource for FlowEventStream {
    async fn more(&mut self) -> Option<String> {
        let page = match std::mem::replace(&mut self.next, Next::Over) {
            Next::Over => return None,
            Next::Page(page) => page,
            Next::From(_) if self.stopping.is_cancelled() => return None,
            Next::From(from) => {
                let args = FlowEventsArgs { flow_id: self.flow_id, from, limit: limits::PAGE };
                match self.ff.long_poll().next_flow_events(args, KEEP_ALIVE_MS).await {
                    Ok(page) => page,
                    Err(error) => return Some(problem_event(error)),
                }
            }
        };
        let mut text = String::new();
        if page.missed {
            text.push_str(&sse_event("missed", None, &serde_json::json!({ "next": page.next })));
        }
        for event in &page.events {
            text.push_str(&sse_event("flow", Some(&event.seq), event));
        }
        if text.is_empty() {
            text.push_str(KEEP_ALIVE);
        }
        self.next = if page.ended { Next::Over } else { Next::From(page.next) };
        Some(text)
    }
}
