//! The domain of events over HTTP.

mod cursor;
mod watch;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use ff_api::EventsQuery;
use ff_core::backend::Answer;
use ff_core::contracts::{EventsArgs, EventsPage, check_wait};
use ff_core::event::EventCursor;
use ff_core::limits;
use ff_core::operation::check_id;
use ff_scheduler::Runtime;
use tokio_util::sync::CancellationToken;

use crate::request::params::{Params, cursor};
use crate::response::problem::Result;
use crate::stream::{
    EventSource, KEEP_ALIVE, KEEP_ALIVE_MS, StreamOpener, accepts_stream, last_event_id, problem_event, pushed,
    refuse_paging, sse_event,
};

pub(crate) use cursor::CursorCipher;
pub(crate) use watch::of_execution;

use cursor::{Cursors, Start};

/// Expected form of an event id, for error messages.
const CURSOR: &str = "a cursor, as the id of an event has it";

/// Lists all events since a cursor, and can wait for the next one. Streams all further events to callers that accept a stream.
pub(crate) async fn list(
    State(ff): State<Runtime>,
    State(stopping): State<CancellationToken>,
    opener: StreamOpener,
    cursors: Cursors,
    headers: HeaderMap,
    Params(query): Params<EventsQuery>,
) -> Result<Response> {
    if let Some(id) = &query.execution_id {
        check_id(id, &ff.backend().partitions())?;
    }
    let (args, wait_ms) = read_query(query, accepts_stream(&headers))?;
    if !accepts_stream(&headers) {
        return Ok(page(&ff, args, wait_ms, &cursors).await?.into_response());
    }
    let slot = opener.open()?;
    let after = last_event_id(&headers, |text| text.parse().ok(), CURSOR)?.or(args.after.clone());
    let query = EventsArgs { after, limit: limits::PAGE, ..args };
    // A new reader gets its cursor at once, so that it can reconnect without a gap even before the first event.
    let first = read(&ff, query.clone(), 0, &cursors).await?;
    Ok(pushed(EventStream { ff, args: query, cursors, next: Next::Page(first), stopping }, slot))
}

/// Returns one page of events, with a cursor that the caller may see.
async fn page(ff: &Runtime, args: EventsArgs, wait_ms: u64, cursors: &Cursors) -> Result<Json<EventsPage>> {
    let page = read(ff, args.clone(), wait_ms, cursors).await?;
    Ok(Json(with_caller_cursor(ff, page, &args, cursors).await?))
}

/// Reads the events since the caller's cursor.
async fn read(ff: &Runtime, args: EventsArgs, wait_ms: u64, cursors: &Cursors) -> Answer<EventsPage> {
    let from = |after| EventsArgs { after, ..args.clone() };
    match cursors.open(args.after.clone()).await? {
        Start::After(cursor) => ff.long_poll().next_events(from(Some(cursor)), wait_ms).await,
        Start::Now => ff.long_poll().next_events(from(None), wait_ms).await,
        Start::Missed => Ok(EventsPage { missed: true, ..ff.backend().events(from(None)).await? }),
    }
}

/// Replaces the cursor of a page by one that the caller may see.
async fn with_caller_cursor(
    ff: &Runtime,
    page: EventsPage,
    args: &EventsArgs,
    cursors: &Cursors,
) -> Answer<EventsPage> {
    let next = cursors.close(&page.next, args.partitions(&ff.backend().partitions())?).await?;
    Ok(EventsPage { next, ..page })
}

/// Reads the arguments and the wait time. A stream has no pages, so it takes no `limit` and no `wait_ms`.
fn read_query(query: EventsQuery, stream: bool) -> Result<(EventsArgs, u64)> {
    if stream {
        refuse_paging(query.limit, query.wait_ms)?;
    }
    let limit = if stream { limits::PAGE } else { query.limit.unwrap_or_default().0 };
    let wait_ms = query.wait_ms.unwrap_or_default().0;
    check_wait(wait_ms)?;
    let after = cursor("after", query.after)?;
    let args = EventsArgs { after, namespace: query.namespace, execution: query.execution_id, limit };
    args.check()?;
    Ok((args, wait_ms))
}

/// An open stream of events, with its position.
struct EventStream {
    ff: Runtime,
    args: EventsArgs,
    cursors: Cursors,
    next: Next,
    stopping: CancellationToken,
}

enum Next {
    /// A page that was read already; it is sent even if it is empty.
    Page(EventsPage),
    From(EventCursor),
    Over,
}

/// Sends page after page, until the server stops. Each page is one message, and its id is the next cursor. A reader that is cut
/// off in the middle of a page gets that page again, and nothing else.
impl EventSource for EventStream {
    async fn more(&mut self) -> Option<String> {
        match std::mem::replace(&mut self.next, Next::Over) {
            Next::Over => None,
            Next::Page(page) => Some(self.render(page).await),
            Next::From(_) if self.stopping.is_cancelled() => None,
            Next::From(after) => {
                let args = EventsArgs { after: Some(after.clone()), ..self.args.clone() };
                Some(match self.ff.long_poll().next_events(args, KEEP_ALIVE_MS).await {
                    Ok(page) if is_unchanged(&page, &after, &self.cursors) => {
                        self.next = Next::From(after);
                        KEEP_ALIVE.to_owned()
                    }
                    Ok(page) => self.render(page).await,
                    Err(error) => problem_event(error),
                })
            }
        }
    }
}

impl EventStream {
    async fn render(&mut self, page: EventsPage) -> String {
        let next = page.next.clone();
        match with_caller_cursor(&self.ff, page, &self.args, &self.cursors).await {
            Ok(page) => {
                self.next = Next::From(next);
                sse_event("events", Some(&page.next), &page)
            }
            Err(error) => problem_event(error),
        }
    }
}

/// Returns whether a page has nothing new for its reader. An encrypted cursor is always sent, even if it did not move:
/// otherwise a reader could see when other tenants are active.
fn is_unchanged(page: &EventsPage, after: &EventCursor, cursors: &Cursors) -> bool {
    page.events.is_empty() && !page.missed && page.next == *after && !cursors.are_sealed()
}
