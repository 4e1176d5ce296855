//! Server-sent event streams: a bounded number at once, each with keep-alives while nothing happens.

mod output;
pub(crate) mod token;

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use ff_api::{Limit, WaitMs};
use ff_core::engine_error::{Code, Refusal};
use futures_util::stream;
use serde::Serialize;

use crate::access::keyring::AcceptedKey;
use crate::capacity::Slot;
use crate::capacity::pool::Permit;
use crate::response::problem::Result;

pub(crate) use output::read;
use token::AcceptedToken;
pub(crate) use token::make as make_token;

/// Milliseconds without events before a keep-alive; less than the idle timeout of proxies. The key is checked again with every
/// message, so a stream outlives its key by at most this time plus the time a key is cached.
pub(crate) const KEEP_ALIVE_MS: u64 = 12_000;

/// SSE comment that is sent while there are no events.
pub(crate) const KEEP_ALIVE: &str = ":\n\n";

/// Header in which a browser sends the id of its last event.
const LAST_EVENT_ID: &str = "last-event-id";

/// Extractor that opens a stream for a request.
pub(crate) struct StreamOpener {
    slot: Option<Arc<Slot>>,
    key: Option<AcceptedKey>,
}

/// An open stream: its permit, and the key or token it was opened with.
pub(crate) struct StreamSlot {
    _stream: Option<Permit>,
    key: Option<AcceptedKey>,
    token: Option<AcceptedToken>,
}

impl StreamOpener {
    /// Takes a permit for the stream, if there is one left.
    pub(crate) fn open(self) -> Result<StreamSlot> {
        let stream = self.slot.map(|slot| slot.stream()).transpose()?;
        Ok(StreamSlot { _stream: stream, key: self.key, token: None })
    }
}

impl StreamSlot {
    /// Returns the same stream, authorized by a token if the reader sent one.
    fn read_by(self, token: Option<AcceptedToken>) -> Self {
        Self { token, ..self }
    }

    /// Returns the reason why nothing more may be sent to the reader, if any.
    async fn refused(&self) -> Option<Refusal> {
        match &self.token {
            Some(token) => token.refused().await,
            None => self.key.as_ref()?.refused().await,
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for StreamOpener {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> std::result::Result<Self, Infallible> {
        Ok(Self { slot: parts.extensions.get().cloned(), key: parts.extensions.get().cloned() })
    }
}

/// A source of events for a stream.
pub(crate) trait EventSource: Send + 'static {
    /// Returns the next text; `None` at the end. It is called only when its text can be sent, so a slow reader costs no memory.
    fn more(&mut self) -> impl Future<Output = Option<String>> + Send;
}

/// Returns a response that sends events until the source ends, the reader disconnects, or its key or token is no longer valid.
pub(crate) fn pushed(source: impl EventSource, slot: StreamSlot) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    let body = Body::from_stream(stream::unfold(Some((source, slot)), |state| async move {
        let (mut source, slot) = state?;
        let text = source.more().await?;
        let (text, next) = match slot.refused().await {
            Some(refusal) => (problem_event(refusal), None),
            None => (text, Some((source, slot))),
        };
        Some((Ok::<_, Infallible>(Bytes::from(text)), next))
    }));
    (headers, body).into_response()
}

/// Formats the event that ends a stream with an error.
pub(crate) fn problem_event(error: impl Into<ff_api::Problem>) -> String {
    sse_event("problem", None, &error.into())
}

/// Formats one event. JSON that is passed through unchanged may have line breaks, so each of its lines gets a `data:` prefix.
pub(crate) fn sse_event(name: &str, id: Option<&dyn std::fmt::Display>, data: &impl Serialize) -> String {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    let data = serde_json::to_string(data).unwrap_or_else(|error| format!("\"cannot be written: {error}\""));
    let data = if data.contains(['\n', '\r']) { data.replace('\r', " ").replace('\n', "\ndata: ") } else { data };
    format!("{id}event: {name}\ndata: {data}\n\n")
}

/// Refuses parameters of pages, which a stream does not have.
pub(crate) fn refuse_paging(limit: Option<Limit>, wait_ms: Option<WaitMs>) -> std::result::Result<(), Refusal> {
    let given = limit.map(|_| "limit").or(wait_ms.map(|_| "wait_ms"));
    given
        .map_or(Ok(()), |name| Err(Refusal::new(Code::UnknownField).because("is not a parameter of a stream").at(name)))
}

/// Returns whether a client accepts an event stream.
pub(crate) fn accepts_stream(headers: &HeaderMap) -> bool {
    let named = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.contains("text/event-stream"));
    headers.get_all(header::ACCEPT).iter().any(named)
}

/// Returns the id of the last event a client received; `None` for a new reader.
pub(crate) fn last_event_id<T>(
    headers: &HeaderMap,
    read: impl Fn(&str) -> Option<T>,
    expected: &str,
) -> std::result::Result<Option<T>, Refusal> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let id = value.to_str().ok().and_then(read);
    id.map(Some).ok_or_else(|| Refusal::invalid("Last-Event-ID", format!("must be {expected}")))
}
