//! Streams of events, as browsers read them: a bounded number at once, each with a sign of life while nothing happens.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use ff_core::engine_error::Refusal;
use futures_util::stream;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::crowd::Place;
use crate::problem::{Problem, Result};

/// How long nothing is said before a sign of life: less than what proxies take for silence.
pub(crate) const SIGN_OF_LIFE_MS: u64 = 15_000;

/// What is said when there is nothing to say.
pub(crate) const SIGN_OF_LIFE: &str = ":\n\n";

/// How many streams are open at once. Each holds a connection for as long as its reader likes, so what is not bounded here
/// is bounded by the machine's descriptors, for everybody.
pub(crate) const STREAMS: usize = 256;

/// The header in which a browser says what it heard last.
const LAST_EVENT_ID: &str = "last-event-id";

/// Room for the streams of one server. Clones share it.
#[derive(Clone)]
pub(crate) struct Streams(Arc<Semaphore>);

impl Default for Streams {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(STREAMS)))
    }
}

/// Where a request may open a stream.
pub(crate) struct Opening {
    streams: Streams,
    place: Option<Place>,
}

/// The room of one stream: among all streams, and among the requests under way, of which it is one for as long as it lasts.
pub(crate) struct Room {
    _stream: OwnedSemaphorePermit,
    _place: Option<Place>,
}

impl Opening {
    /// Takes room for the stream, if there is any.
    pub(crate) fn open(self) -> Result<Room> {
        let stream = self.streams.0.try_acquire_owned().map_err(|_| Problem::too_many_streams(STREAMS))?;
        Ok(Room { _stream: stream, _place: self.place })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Opening {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> std::result::Result<Self, Infallible> {
        let streams = parts.extensions.get::<Streams>().cloned().unwrap_or_default();
        Ok(Self { streams, place: parts.extensions.get().cloned() })
    }
}

/// Something that is told bit by bit.
pub(crate) trait Telling: Send + 'static {
    /// The next text; none when everything was told. Nothing is asked for before it can be sent, so a reader that is slow
    /// costs no memory.
    fn more(&mut self) -> impl Future<Output = Option<String>> + Send;
}

/// Pushes whatever is told until it ends, or until its reader goes.
pub(crate) fn pushed(telling: impl Telling, room: Room) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    let body = Body::from_stream(stream::unfold((telling, room), |(mut telling, room)| async move {
        let text = telling.more().await?;
        Some((Ok::<_, Infallible>(Bytes::from(text)), (telling, room)))
    }));
    (headers, body).into_response()
}

/// One event of a stream. JSON has no line breaks, so one line holds it.
pub(crate) fn said(name: &str, id: Option<&dyn std::fmt::Display>, data: &impl Serialize) -> String {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    let data = serde_json::to_string(data).unwrap_or_else(|error| format!("\"cannot be written: {error}\""));
    format!("{id}event: {name}\ndata: {data}\n\n")
}

/// Whether a client wants a stream rather than an answer.
pub(crate) fn accepts_stream(headers: &HeaderMap) -> bool {
    let named = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.contains("text/event-stream"));
    headers.get_all(header::ACCEPT).iter().any(named)
}

/// What a client heard last, as the id of that event. A stream that was never heard of has none.
pub(crate) fn last_heard<T>(
    headers: &HeaderMap,
    read: impl Fn(&str) -> Option<T>,
    expected: &str,
) -> std::result::Result<Option<T>, Refusal> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let heard = value.to_str().ok().and_then(read);
    heard.map(Some).ok_or_else(|| Refusal::invalid("Last-Event-ID", format!("must be {expected}")))
}
