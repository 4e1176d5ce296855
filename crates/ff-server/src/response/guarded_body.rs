//! The body of a response, until it is written.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use crate::capacity::Slot;
use crate::listener::transport::RequestGuard;

/// Maximum size of one part in bytes. The connection takes the next part when it has written most of the last one, so the body
/// stays here until the client has read nearly all of it.
const PART: usize = 64 * 1024;

/// A body that is sent in parts and holds the request's slot until the last one.
struct GuardedBody {
    body: Body,
    rest: Bytes,
    _slot: Option<Arc<Slot>>,
    _busy: Option<Arc<RequestGuard>>,
}

/// Holds the request's slot and guard until the response is written.
pub(crate) fn until_written(response: Response, slot: Option<Arc<Slot>>, busy: Option<Arc<RequestGuard>>) -> Response {
    response.map(|body| Body::new(GuardedBody { body, rest: Bytes::new(), _slot: slot, _busy: busy }))
}

impl HttpBody for GuardedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                ended => return Poll::Ready(ended),
            }
        }
        let part = self.rest.len().min(PART);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(part)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (mut hint, rest) = (self.body.size_hint(), self.rest.len() as u64);
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(hint.lower() + rest);
        hint
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_body_is_handed_on_in_parts_and_is_the_same() {
        let bytes: Vec<u8> = (0..3 * PART + 5).map(|nth| u8::try_from(nth % 251).unwrap()).collect();
        let mut body = until_written(bytes.clone().into_response(), None, None).into_body();
        assert_eq!(body.size_hint().exact(), Some(bytes.len() as u64));
        let mut parts = Vec::new();
        while let Some(frame) = body.frame().await {
            parts.push(frame.unwrap().into_data().unwrap());
        }
        assert_eq!(parts.iter().map(Bytes::len).collect::<Vec<_>>(), [PART, PART, PART, 5]);
        assert_eq!(parts.concat(), bytes);
        assert!(body.is_end_stream());
    }
}
