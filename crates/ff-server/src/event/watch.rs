//! The events of one execution, until it ends.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use ff_api::{EventsQuery, ExecutionEventsQuery};
use ff_core::backend::Answer;
use ff_core::contracts::{EventsArgs, EventsPage, ExecutionInfo};
use ff_core::event::{EventCursor, EventKind};
use ff_core::limits;
use ff_core::types::ExecutionId;
use ff_scheduler::Runtime;
use tokio_util::sync::CancellationToken;

use super::cursor::{Cursors, Start};
use super::{is_unchanged, page, read_query, with_caller_cursor};
use crate::request::params::Params;
use crate::request::path::Id;
use crate::response::problem::Result;
use crate::stream::{
    EventSource, KEEP_ALIVE, KEEP_ALIVE_MS, StreamOpener, accepts_stream, last_event_id, problem_event, pushed,
    sse_event,
};

/// Prefix of the id of an `end` message. The time follows, because a replayed execution ends again.
const END: &str = "end-";

/// The id of the last message a client received.
enum LastEventId {
    Event(EventCursor),
    End(i64),
}

/// Lists the events of one execution since a cursor, and can wait for the next one. Streams its state and all events until its
/// end to callers that accept a stream.
pub(crate) async fn of_execution(
    State(ff): State<Runtime>,
    State(stopping): State<CancellationToken>,
    opener: StreamOpener,
    cursors: Cursors,
    Id(id): Id,
    headers: HeaderMap,
    Params(query): Params<ExecutionEventsQuery>,
) -> Result<Response> {
    let is_stream = accepts_stream(&headers);
    let (args, wait_ms) = read_query(
        EventsQuery {
            after: query.after,
            namespace: query.namespace,
            execution_id: Some(id),
            limit: query.limit,
            wait_ms: query.wait_ms,
        },
        is_stream,
    )?;
    let info = ff.backend().describe(&id).await?;
    if !is_stream {
        return Ok(page(&ff, args, wait_ms, &cursors).await?.into_response());
    }
    let slot = opener.open()?;
    let expected = "the id of an event of this stream";
    let after = match last_event_id(&headers, parse_event_id, expected)?.or(args.after.map(LastEventId::Event)) {
        // Browsers reconnect to a stream that ended; 204 tells them not to.
        Some(LastEventId::End(at)) if ended_at(&info) == Some(at) => return Ok(StatusCode::NO_CONTENT.into_response()),
        Some(LastEventId::Event(cursor)) => Some(cursor),
        Some(LastEventId::End(_)) | None => None,
    };
    // A reader whose cursor is no longer readable starts again with the execution's state.
    let next = match cursors.open(after).await? {
        Start::After(cursor) => Next::From { cursor, wait_ms: 0 },
        Start::Now | Start::Missed if ended_at(&info).is_some() => Next::Ended(Box::new(info)),
        Start::Now | Start::Missed => Next::Beginning,
    };
    Ok(pushed(WatchStream { ff, id, cursors, next, stopping }, slot))
}

/// An open stream of one execution, with its position.
struct WatchStream {
    ff: Runtime,
    id: ExecutionId,
    cursors: Cursors,
    next: Next,
    stopping: CancellationToken,
}

enum Next {
    /// Send the state first, to a new reader.
    Beginning,
    From {
        cursor: EventCursor,
        wait_ms: u64,
    },
    Ended(Box<ExecutionInfo>),
    Over,
}

/// Sends the execution's state, then its events, then its end. Also ends when the server stops.
impl EventSource for WatchStream {
    async fn more(&mut self) -> Option<String> {
        let message = match std::mem::replace(&mut self.next, Next::Over) {
            Next::Over => return None,
            Next::Ended(info) => Ok(end(&info)),
            Next::Beginning => self.begin().await,
            Next::From { .. } if self.stopping.is_cancelled() => return None,
            Next::From { cursor, wait_ms } => self.go_on(cursor, wait_ms).await,
        };
        Some(message.unwrap_or_else(problem_event))
    }
}

impl WatchStream {
    /// Sends the state. The cursor is read before the state, so that events in between are sent after it and none is missed.
    async fn begin(&mut self) -> Answer<String> {
        let page = self.ff.backend().events(self.events_args(None)).await?;
        let info = self.ff.backend().describe(&self.id).await?;
        self.next = Next::From { cursor: page.next.clone(), wait_ms: 0 };
        Ok(sse_event("execution", Some(&self.with_caller_cursor(page).await?.next), &info))
    }

    async fn go_on(&mut self, cursor: EventCursor, wait_ms: u64) -> Answer<String> {
        let page = self.ff.long_poll().next_events(self.events_args(Some(cursor.clone())), wait_ms).await?;
        let is_quiet = page.events.is_empty() && !page.missed;
        if is_quiet && let Some(info) = self.ended().await? {
            return Ok(end(&info));
        }
        let ends = page.events.iter().any(|event| matches!(event.what, EventKind::Finished { .. }));
        let wait_ms = if ends { 0 } else { KEEP_ALIVE_MS };
        self.next = Next::From { cursor: page.next.clone(), wait_ms };
        if is_unchanged(&page, &cursor, &self.cursors) {
            return Ok(KEEP_ALIVE.to_owned());
        }
        let page = self.with_caller_cursor(page).await?;
        Ok(sse_event("events", Some(&page.next), &page))
    }

    async fn with_caller_cursor(&self, page: EventsPage) -> Answer<EventsPage> {
        with_caller_cursor(&self.ff, page, &self.events_args(None), &self.cursors).await
    }

    async fn ended(&self) -> Answer<Option<ExecutionInfo>> {
        let info = self.ff.backend().describe(&self.id).await?;
        Ok(ended_at(&info).is_some().then_some(info))
    }

    fn events_args(&self, after: Option<EventCursor>) -> EventsArgs {
        EventsArgs { after, namespace: None, execution: Some(self.id), limit: limits::PAGE }
    }
}

fn end(info: &ExecutionInfo) -> String {
    let id = ended_at(info).map(|at| format!("{END}{at}")).unwrap_or_default();
    sse_event("end", Some(&id), info)
}

fn parse_event_id(text: &str) -> Option<LastEventId> {
    match text.strip_prefix(END) {
        Some(at) => at.parse().ok().map(LastEventId::End),
        None => text.parse().ok().map(LastEventId::Event),
    }
}

/// Returns when the execution ended, if it has.
fn ended_at(info: &ExecutionInfo) -> Option<i64> {
    info.finished_at.map(|at| at.0)
}
