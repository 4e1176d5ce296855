//! The byte stream of a connection, with time limits for the arrival of a request head and for reading a response.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// Maximum time for a request head to arrive, from its first byte on.
pub(crate) const HEAD: Duration = Duration::from_secs(10);

/// Maximum time a client may read nothing of its response.
pub(crate) const UNREAD: Duration = Duration::from_secs(30);

/// Flag that is set from the head of a request to the end of its response.
#[derive(Clone, Default)]
pub(crate) struct Requests(Arc<AtomicBool>);

/// Guard of a request that is being answered; dropped when the response is written.
pub(crate) struct RequestGuard(Requests);

impl Requests {
    pub(crate) fn begin(&self) -> Arc<RequestGuard> {
        self.0.store(true, Ordering::Relaxed);
        Arc::new(RequestGuard(self.clone()))
    }

    fn is_busy(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.0.store(false, Ordering::Relaxed);
    }
}

/// A stream with time limits for its peer.
pub(crate) struct Transport<S> {
    stream: S,
    requests: Requests,
    head: Option<Pin<Box<Sleep>>>,
    unread: Option<Pin<Box<Sleep>>>,
}

impl<S> Transport<S> {
    pub(crate) fn new(stream: S, requests: Requests) -> Self {
        Self { stream, requests, head: None, unread: None }
    }

    /// Lets a write without progress wait until its time limit.
    fn limit_write<T>(&mut self, cx: &mut Context<'_>, wrote: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if wrote.is_ready() {
            self.unread = None;
            return wrote;
        }
        expire(&mut self.unread, UNREAD, cx, "a client did not read its answer")
    }
}

#[allow(clippy::disallowed_methods, reason = "a peer that does nothing signals nothing")]
fn expire<T>(
    timer: &mut Option<Pin<Box<Sleep>>>,
    after: Duration,
    cx: &mut Context<'_>,
    what: &str,
) -> Poll<io::Result<T>> {
    let timer = timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(after)));
    match timer.as_mut().poll(cx) {
        Poll::Ready(()) => {
            let why = format!("{what} within {} s", after.as_secs());
            Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, why)))
        }
        Poll::Pending => Poll::Pending,
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Transport<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(cx, buffer);
        if this.requests.is_busy() {
            this.head = None;
            return read;
        }
        let has_begun = this.head.is_some() || buffer.filled().len() > before;
        if !has_begun {
            return read;
        }
        // The timer is also polled after a successful read, so that a head that arrives byte by byte gets no extra time.
        match expire(&mut this.head, HEAD, cx, "a request's head did not arrive") {
            Poll::Ready(Err(late)) => Poll::Ready(Err(late)),
            Poll::Ready(Ok(())) | Poll::Pending => read,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Transport<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let wrote = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.limit_write(cx, wrote)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let wrote = Pin::new(&mut this.stream).poll_write_vectored(cx, parts);
        this.limit_write(cx, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(cx);
        if flushed.is_ready() { flushed } else { this.limit_write(cx, flushed) }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let shut = Pin::new(&mut this.stream).poll_shutdown(cx);
        this.limit_write(cx, shut)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_head_must_arrive_soon_after_its_first_byte_and_a_silent_connection_may_wait() {
        let (mut client, server) = tokio::io::duplex(64);
        let mut transport = Transport::new(server, Requests::default());
        let mut buffer = [0; 16];
        assert!(tokio::time::timeout(10 * HEAD, transport.read(&mut buffer)).await.is_err(), "silence is not a head");
        let began = tokio::time::Instant::now();
        let late = loop {
            client.write_all(b"x").await.unwrap();
            match tokio::time::timeout(Duration::from_secs(1), transport.read(&mut buffer)).await {
                Ok(Err(late)) => break late,
                Ok(Ok(_)) | Err(_) => tokio::time::advance(Duration::from_secs(1)).await,
            }
        };
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        assert!(began.elapsed() <= HEAD + Duration::from_secs(2), "{:?}", began.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_has_times_of_its_own() {
        let (mut client, server) = tokio::io::duplex(64);
        let requests = Requests::default();
        let mut transport = Transport::new(server, requests.clone());
        let mut buffer = [0; 16];
        client.write_all(b"head").await.unwrap();
        transport.read_exact(&mut buffer[..4]).await.unwrap();
        let busy = requests.begin();
        tokio::time::advance(10 * HEAD).await;
        client.write_all(b"body").await.unwrap();
        assert_eq!(transport.read(&mut buffer).await.unwrap(), 4);
        drop(busy);
        assert!(tokio::time::timeout(10 * HEAD, transport.read(&mut buffer)).await.is_err(), "it is idle again");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_is_given_up_and_one_that_reads_is_not() {
        let (mut client, server) = tokio::io::duplex(16);
        let mut transport = Transport::new(server, Requests::default());
        let writing = tokio::spawn(async move { transport.write_all(&[7; 160]).await });
        let mut buffer = [0; 16];
        for _ in 0..8 {
            tokio::time::advance(UNREAD / 2).await;
            client.read_exact(&mut buffer).await.unwrap();
        }
        assert!(!writing.is_finished());
        let late = writing.await.unwrap().unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
    }
}
