//! The listener: accepts connections until the server stops, then lets running requests finish.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use ff_api::PublicUrl;
use ff_scheduler::Runtime;
use futures_util::future::BoxFuture;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::access::callers::{Caller, Callers};
use crate::access::keyring::Keyring;
use crate::listener::connections::Connections;
use crate::listener::options::{Limits, ServerOptions};
use crate::listener::tls;
use crate::listener::transport::{Requests, Transport};
use crate::metrics::{Metrics, MetricsListener};
use crate::routing::cors::{Cors, CorsOrigin};
use crate::routing::guard::Guard;
use crate::routing::links::Links;
use crate::routing::router;

/// Maximum time a connection may be idle.
const IDLE: Duration = Duration::from_secs(75);

/// Maximum size of a request head in bytes, and of the response bytes that wait to be written.
const HEAD_BYTES: usize = 64 * 1024;

/// Maximum duration of a TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Maximum time for running requests to finish after the server stops.
pub const DRAIN: Duration = Duration::from_secs(30);

/// Pause after a failed accept, for example when the machine has no free file descriptors.
const FULL: Duration = Duration::from_millis(100);

/// A server that is bound to its address and does not serve yet.
pub struct Server {
    listener: TcpListener,
    runtime: Runtime,
    /// The accepted API keys; `None` when the server requires none.
    keyring: Option<Keyring>,
    tls: Option<TlsAcceptor>,
    limits: Limits,
    public_url: Option<PublicUrl>,
    cors_origins: Vec<CorsOrigin>,
    metrics: Option<Metrics>,
    scraped: Option<MetricsListener>,
}

impl Server {
    /// Binds an address. If the store has API keys, every request needs one. If it never had any, requests need none, and the
    /// address must be a loopback address. This is decided here and holds until the server stops.
    pub async fn bind(listen: SocketAddr, runtime: Runtime) -> io::Result<Self> {
        Self::bind_with(listen, runtime, ServerOptions::default()).await
    }

    /// Binds an address with these options.
    pub async fn bind_with(listen: SocketAddr, runtime: Runtime, options: ServerOptions) -> io::Result<Self> {
        let tls = options.tls.as_ref().map(tls::acceptor).transpose()?;
        let keyring = Keyring::of(runtime.engine_store()).await.map_err(io::Error::other)?;
        if keyring.is_none() && !listen.ip().to_canonical().is_loopback() {
            let why = format!(
                "listen: {listen} is not on loopback, must be while the store has no API keys; create one with `ff keys \
                 create`"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        if keyring.is_some() && tls.is_none() && !listen.ip().to_canonical().is_loopback() {
            tracing::warn!(
                "API keys travel unencrypted to {listen}: serve TLS, or listen on loopback behind a proxy that does"
            );
        }
        Ok(Self {
            listener: TcpListener::bind(listen).await?,
            runtime,
            keyring,
            tls,
            limits: options.limits,
            public_url: options.public_url,
            cors_origins: options.cors_origins,
            metrics: None,
            scraped: None,
        })
    }

    /// Measures requests, and serves the metrics at `/metrics`.
    pub fn measured(mut self, metrics: Metrics) -> Self {
        self.metrics = Some(metrics);
        self
    }

    /// Also serves the metrics at a separate address, where a scraper needs no key. Returns the bound address.
    pub async fn scraped_at(&mut self, listen: SocketAddr) -> io::Result<SocketAddr> {
        let metrics = self.metrics.get_or_insert_default().clone();
        let listener = MetricsListener::bind(listen, metrics, self.runtime.clone()).await?;
        let address = listener.local_addr()?;
        self.scraped = Some(listener);
        Ok(address)
    }

    /// Returns whether every request needs an API key.
    pub fn asks_for_keys(&self) -> bool {
        self.keyring.is_some()
    }

    /// Returns the URL for clients.
    pub fn url(&self) -> io::Result<String> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        Ok(format!("{scheme}://{}", self.local_addr()?))
    }

    /// Returns the bound address. The system chose the port if port 0 was requested.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `shutdown` is cancelled. Then the server accepts no more connections, answers long polls at once, and lets
    /// running requests finish. The connection to the store stays open: it belongs to the caller.
    pub async fn serve(self, shutdown: CancellationToken) -> io::Result<()> {
        self.serving(shutdown).await
    }

    /// Boxes the future, so that it is compiled here and not again in every program that serves.
    #[inline(never)]
    fn serving(self, shutdown: CancellationToken) -> BoxFuture<'static, io::Result<()>> {
        Box::pin(self.take_connections(shutdown))
    }

    async fn take_connections(self, shutdown: CancellationToken) -> io::Result<()> {
        let links = Links::new(self.public_url, self.tls.is_some());
        let cors = Cors::new(self.cors_origins);
        let guard = Guard::new(
            self.runtime.engine_store().clone(),
            self.keyring,
            &self.limits,
            links.public_url(),
            cors.clone(),
            shutdown.clone(),
        );
        let app = router::router(self.runtime.clone(), guard, cors, links, self.metrics, shutdown.clone());
        let callers = Arc::<Callers>::default();
        let open = Connections::new(self.limits.connections, self.limits.connections_per_address);
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
                        if let Some(connection) = open.open(peer.ip()) {
                            let caller = Caller::new(peer.ip(), callers.clone()).over(connection);
                            connections.spawn(accept_connection(stream, self.tls.clone(), caller, app.clone(), shutdown.clone()));
                        }
                    }
                    Err(error) => pause_after_accept_error(&error).await,
                },
            }
        }
        drop(self.listener);
        self.runtime.release_waiters();
        let finished = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN, finished).await.is_err() {
            tracing::warn!("requests still running after {} s are cut off", DRAIN.as_secs());
        }
        Ok(())
    }
}

/// Pauses after an accept error, unless the client gave up. A machine without free file descriptors needs a moment.
#[allow(clippy::disallowed_methods, reason = "nothing signals that descriptors are free again")]
pub(crate) async fn pause_after_accept_error(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};

    if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        tracing::error!("cannot accept connections: {error}");
        tokio::time::sleep(FULL).await;
    }
}

/// Does the TLS handshake, if the server has a certificate, and serves the connection.
async fn accept_connection(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    caller: Caller,
    app: Router,
    stopping: CancellationToken,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("a connection was gone before it spoke: {error}");
        return;
    }
    let Some(tls) = tls else { return serve_connection(stream, caller, app, stopping).await };
    let met = tokio::select! {
        met = tokio::time::timeout(HANDSHAKE, tls::accept(&tls, stream)) => met,
        () = caller.connection_closed() => return,
        () = stopping.cancelled() => return,
    };
    match met {
        Ok(Ok(Some(private))) => serve_connection(private, caller, app, stopping).await,
        Ok(Ok(None)) => tracing::debug!("a caller spoke plain HTTP where TLS is spoken"),
        Ok(Err(error)) => tracing::debug!("a connection did not become private: {error}"),
        Err(_) => tracing::debug!("a connection did not become private in {} s", HANDSHAKE.as_secs()),
    }
}

/// Answers the requests of a connection, one after the other.
pub(crate) async fn serve_connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    caller: Caller,
    app: Router,
    stopping: CancellationToken,
) {
    let spoke = AtomicBool::new(false);
    let requests = Requests::default();
    let service = service_fn(|mut request: Request<Incoming>| {
        spoke.store(true, Ordering::Relaxed);
        request.extensions_mut().insert(caller.clone());
        request.extensions_mut().insert(requests.begin());
        app.clone().oneshot(request)
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(IDLE).max_buf_size(HEAD_BYTES);
    let transport = TokioIo::new(Transport::new(stream, requests.clone()));
    let mut connection = pin!(http.serve_connection(transport, service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = caller.connection_closed() => return,
        () = stopping.cancelled() => {
            // hyper does not treat a connection without a request as idle, and would wait for it.
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
