//! The output of an execution: a page at a time, or pushed as it comes.

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use ff_core::contracts::{ReadStreamArgs, StreamPage, check_wait};
use ff_core::engine_error::{Code, Refusal};
use ff_core::limits;
use ff_core::stream::StreamCursor;
use ff_core::types::{AttemptIndex, ExecutionId};
use ff_scheduler::Runtime;
use tokio_util::sync::CancellationToken;

use super::{
    EventSource, KEEP_ALIVE, KEEP_ALIVE_MS, StreamOpener, accepts_stream, last_event_id, problem_event, pushed,
    sse_event,
};
use crate::params::Params;
use crate::path::Id;
use crate::problem::Result;

/// How long a browser waits before it comes back after the connection broke.
const COME_BACK: &str = "retry: 1000\n\n";

/// Tells what an execution has put out from a place on, waiting for more if asked to; or all there is to come, to
/// a caller that accepts a stream of events.
pub(crate) async fn read(
    State(ff): State<Runtime>,
    Extension(stopping): Extension<CancellationToken>,
    opening: StreamOpener,
    Id(execution_id): Id,
    headers: HeaderMap,
    mut params: Params,
) -> Result<Response> {
    let attempt = params.number("attempt")?.map(AttemptIndex);
    let from = params.text("from").map(|text| place(&execution_id, attempt, &text)).transpose()?;
    if !accepts_stream(&headers) {
        let limit = params.number("limit")?.unwrap_or(limits::PAGE_DEFAULT);
        let wait_ms = params.number("wait_ms")?.unwrap_or(0);
        params.done()?;
        check_wait(wait_ms)?;
        let args = ReadStreamArgs { execution_id, attempt, from, limit };
        args.check()?;
        return Ok(Json(ff_api::StreamPage::from(ff.long_poll().next_frames(args, wait_ms).await?)).into_response());
    }
    params.done()?;
    let last = last_event_id(&headers, |text| text.parse::<StreamCursor>().ok(), "the id of an event of this stream")?;
    let asked = ReadStreamArgs { execution_id, attempt, from: last.or(from), limit: limits::PAGE };
    let first = ff.backend().read_stream(asked.clone()).await?;
    if last.is_some() && first.ended && first.items.is_empty() {
        // Browsers come back to a stream that ended; this tells them not to.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(pushed(OutputStream { ff, asked, next: Next::First(first), stopping }, opening.open()?))
}

/// A cursor as it was given out, or the number of a frame.
fn place(id: &ExecutionId, attempt: Option<AttemptIndex>, text: &str) -> std::result::Result<StreamCursor, Refusal> {
    match text.parse::<u64>() {
        Ok(seq) => Ok(StreamCursor::new(id, attempt.unwrap_or_default(), seq)),
        Err(_) => text.parse().map_err(|error| Code::InvalidCursor.refusal().at("from").because(error)),
    }
}

/// How far a stream has come.
struct OutputStream {
    ff: Runtime,
    asked: ReadStreamArgs,
    next: Next,
    stopping: CancellationToken,
}

enum Next {
    /// A page that is there already.
    First(StreamPage),
    From(StreamCursor),
    Over,
}

/// Item by item, until the output has ended or the server stops. The id of each is where to go on after it.
impl EventSource for OutputStream {
    async fn more(&mut self) -> Option<String> {
        let (page, mut text) = match std::mem::replace(&mut self.next, Next::Over) {
            Next::Over => return None,
            Next::First(page) => (page, COME_BACK.to_owned()),
            Next::From(_) if self.stopping.is_cancelled() => return None,
            Next::From(from) => {
                let args = ReadStreamArgs { from: Some(from), ..self.asked.clone() };
                match self.ff.long_poll().next_frames(args, KEEP_ALIVE_MS).await {
                    Ok(page) => (page, String::new()),
                    Err(error) => return Some(problem_event(error)),
                }
            }
        };
        for item in page.items {
            let next = item.next(&page.next);
            let item = ff_api::StreamItem::from(item);
            text.push_str(&sse_event(item.item.as_str(), Some(&next), &item));
        }
        if page.ended {
            text.push_str(&sse_event("end", Some(&page.next), &serde_json::json!({ "outcome": page.outcome })));
        } else {
            self.next = Next::From(page.next);
        }
        Some(if text.is_empty() { KEEP_ALIVE.to_owned() } else { text })
    }
}
