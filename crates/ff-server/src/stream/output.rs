//! The output of an execution, as pages or as a stream.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use ff_api::StreamQuery;
use ff_core::contracts::{ReadStreamArgs, StreamItem, StreamPage, check_wait};
use ff_core::engine_error::{Code, Refusal};
use ff_core::execution::Outcome;
use ff_core::stream::StreamCursor;
use ff_core::types::{AttemptIndex, ExecutionId};
use ff_scheduler::Runtime;
use tokio_util::sync::CancellationToken;

use super::token::StreamReader;
use super::{
    EventSource, KEEP_ALIVE, KEEP_ALIVE_MS, StreamOpener, accepts_stream, last_event_id, problem_event, pushed,
    refuse_paging, sse_event,
};
use crate::request::params::Params;
use crate::response::problem::Result;

/// SSE field with the delay before a browser reconnects after the connection broke.
const COME_BACK: &str = "retry: 1000\n\n";

/// Maximum number of items read at once for a stream, and approximate size of the events written at once. A slow reader keeps
/// this much in memory, and there may be many.
const AT_ONCE: usize = 100;
const TEXT_BYTES: usize = 16 * 1024;

/// Reads the output of an execution from a position on, and can wait for more. Streams all further output to callers that
/// accept an event stream.
pub(crate) async fn read(
    State(ff): State<Runtime>,
    State(stopping): State<CancellationToken>,
    opener: StreamOpener,
    StreamReader { id: execution_id, token }: StreamReader,
    headers: HeaderMap,
    Params(query): Params<StreamQuery>,
) -> Result<Response> {
    let attempt = query.attempt;
    let from = query.from.map(|text| place(&execution_id, attempt, &text)).transpose()?;
    if !accepts_stream(&headers) {
        let limit = query.limit.unwrap_or_default().0;
        let wait_ms = query.wait_ms.unwrap_or_default().0;
        check_wait(wait_ms)?;
        let args = ReadStreamArgs { execution_id, attempt, from, limit };
        args.check()?;
        return Ok(Json(ff_api::StreamPage::from(ff.long_poll().next_frames(args, wait_ms).await?)).into_response());
    }
    refuse_paging(query.limit, query.wait_ms)?;
    let last = last_event_id(&headers, |text| text.parse::<StreamCursor>().ok(), "the id of an event of this stream")?;
    let query = ReadStreamArgs { execution_id, attempt, from: last.or(from), limit: AT_ONCE };
    let first = ff.long_poll().next_frames(query.clone(), 0).await?;
    if last.is_some() && first.ended && first.items.is_empty() {
        // Browsers reconnect to a stream that ended; 204 tells them not to.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let stream = OutputStream { ff, args: query, has_begun: false, page: SentPage::of(first), stopping };
    Ok(pushed(stream, opener.open()?.read_by(token)))
}

/// Parses a cursor from an earlier response, or the number of a frame.
fn place(id: &ExecutionId, attempt: Option<AttemptIndex>, text: &str) -> std::result::Result<StreamCursor, Refusal> {
    match text.parse::<u64>() {
        Ok(seq) => Ok(StreamCursor::new(id, attempt.unwrap_or_default(), seq)),
        Err(_) => text.parse().map_err(|error| Code::InvalidCursor.refusal().at("from").because(error)),
    }
}

/// An open stream of output, with its position.
struct OutputStream {
    ff: Runtime,
    args: ReadStreamArgs,
    has_begun: bool,
    page: SentPage,
    stopping: CancellationToken,
}

/// A page that is sent item by item.
struct SentPage {
    items: std::vec::IntoIter<StreamItem>,
    next: StreamCursor,
    ended: bool,
    outcome: Option<Outcome>,
}

impl SentPage {
    fn of(page: StreamPage) -> Self {
        Self { items: page.items.into_iter(), next: page.next, ended: page.ended, outcome: page.outcome }
    }
}

/// Sends item by item, until the output has ended or the server stops. The id of each item is the cursor after it.
impl EventSource for OutputStream {
    async fn more(&mut self) -> Option<String> {
        let mut text = String::new();
        if !self.has_begun {
            self.has_begun = true;
            text.push_str(COME_BACK);
        } else if self.page.items.len() == 0 {
            if self.page.ended || self.stopping.is_cancelled() {
                return None;
            }
            let args = ReadStreamArgs { from: Some(self.page.next), ..self.args.clone() };
            match self.ff.long_poll().next_frames(args, KEEP_ALIVE_MS).await {
                Ok(page) => self.page = SentPage::of(page),
                Err(error) => {
                    self.page.ended = true;
                    return Some(problem_event(error));
                }
            }
        }
        while text.len() < TEXT_BYTES
            && let Some(item) = self.page.items.next()
        {
            let next = item.next(&self.page.next);
            let item = ff_api::StreamItem::from(item);
            text.push_str(&sse_event(item.item.as_str(), Some(&next), &item));
        }
        if self.page.ended && self.page.items.len() == 0 {
            let outcome = serde_json::json!({ "outcome": self.page.outcome });
            text.push_str(&sse_event("end", Some(&self.page.next), &outcome));
        }
        Some(if text.is_empty() { KEEP_ALIVE.to_owned() } else { text })
    }
}
