//! The listener: takes connections until it is told to stop, then lets what runs finish.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use ff_sdk::FlowFabric;
use futures_util::future::BoxFuture;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::callers::{Caller, Callers};
use crate::metrics::{Metrics, MetricsListener};
use crate::routes;

/// How long a request's head may take to arrive, and a connection may stand idle.
pub(crate) const HEAD: Duration = Duration::from_secs(75);

/// How long running requests may take to finish once the server is told to stop.
const FINISH: Duration = Duration::from_secs(30);

/// How long to hold back when the machine has no room for another connection.
const FULL: Duration = Duration::from_millis(100);

/// A server that has its address and does not serve yet.
pub struct Server {
    listener: TcpListener,
    flowfabric: FlowFabric,
    metrics: Option<Metrics>,
    scraped: Option<MetricsListener>,
}

impl Server {
    /// Takes an address. Only loopback: the server asks nobody for a key.
    pub async fn bind(listen: SocketAddr, flowfabric: FlowFabric) -> io::Result<Self> {
        if !listen.ip().to_canonical().is_loopback() {
            let why = format!("cannot listen on {listen}: the server asks for no key, so it listens on loopback only");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        Ok(Self { listener: TcpListener::bind(listen).await?, flowfabric, metrics: None, scraped: None })
    }

    /// Times its requests, and tells at `/metrics` what was counted.
    pub fn measured(mut self, metrics: Metrics) -> Self {
        self.metrics = Some(metrics);
        self
    }

    /// Tells metrics at an address of their own as well, to anybody who asks there: a scraper needs no key then. Says where
    /// that is.
    pub async fn scraped_at(&mut self, listen: SocketAddr) -> io::Result<SocketAddr> {
        let metrics = self.metrics.get_or_insert_default().clone();
        let listener = MetricsListener::bind(listen, metrics, self.flowfabric.clone()).await?;
        let address = listener.local_addr()?;
        self.scraped = Some(listener);
        Ok(address)
    }

    /// Where it listens; the port is the system's choice when it was bound to none.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until told to stop. Then no connection is taken any more, whoever waits for something is answered at once,
    /// and running requests finish. The connection to the store stays open: it is the caller's.
    pub async fn serve(self, shutdown: CancellationToken) -> io::Result<()> {
        self.serving(shutdown).await
    }

    /// Boxed, so that it is compiled here, and not again in every program that serves.
    #[inline(never)]
    fn serving(self, shutdown: CancellationToken) -> BoxFuture<'static, io::Result<()>> {
        Box::pin(self.take_connections(shutdown))
    }

    async fn take_connections(self, shutdown: CancellationToken) -> io::Result<()> {
        let app = routes::router(self.flowfabric.clone(), self.metrics, shutdown.clone());
        let callers = Arc::<Callers>::default();
        let mut connections = JoinSet::new();
        if let Some(scraped) = self.scraped {
            connections.spawn(scraped.serve(shutdown.clone()));
        }
        loop {
            tokio::select! {
                () = shutdown.cancelled() => break,
                Some(_) = connections.join_next() => {}
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, peer)) => {
                        let caller = Caller::new(peer.ip(), callers.clone());
                        connections.spawn(converse(stream, caller, app.clone(), shutdown.clone()));
                    }
                    Err(error) => hold_back(&error).await,
                },
            }
        }
        drop(self.listener);
        self.flowfabric.release_waiters();
        let finished = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(FINISH, finished).await.is_err() {
            tracing::warn!("requests still running after {} s are cut off", FINISH.as_secs());
        }
        Ok(())
    }
}

/// A caller that gave up is its own matter; a machine out of descriptors needs a moment.
#[allow(clippy::disallowed_methods, reason = "nothing signals that descriptors are free again")]
pub(crate) async fn hold_back(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};

    if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        tracing::error!("no connection can be taken: {error}");
        tokio::time::sleep(FULL).await;
    }
}

/// Answers one connection's requests, one after the other.
async fn converse(stream: TcpStream, caller: Caller, app: Router, stopping: CancellationToken) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("a connection was gone before it spoke: {error}");
        return;
    }
    let spoke = Arc::new(AtomicBool::new(false));
    let service = service_fn(|mut request: Request<Incoming>| {
        spoke.store(true, Ordering::Relaxed);
        request.extensions_mut().insert(caller.clone());
        app.clone().oneshot(request)
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stopping.cancelled() => {
            // A connection opened ahead of its first request is not known to be idle, and would be waited for.
            if !spoke.load(Ordering::Relaxed) {
                return;
            }
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection broke: {error}");
    }
}
