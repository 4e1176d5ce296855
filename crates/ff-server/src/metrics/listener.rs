//! A listener that serves only metrics, so that a scraper needs no API key.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use ff_api::NoQuery;
use ff_core::engine_error::Code;
use ff_scheduler::Runtime;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Metrics, render};
use crate::access::callers::{Caller, Callers};
use crate::access::loopback_guard;
use crate::listener::connections::Connections;
use crate::listener::server::{pause_after_accept_error, serve_connection};
use crate::request::params::Params;
use crate::response::guarded_body::until_written;
use crate::response::problem::Problem;

/// Maximum number of open scraper connections. At the limit, a new connection closes the oldest one.
const SCRAPERS: usize = 16;

/// A listener for scrapers that is bound to its address and does not serve yet.
pub(crate) struct MetricsListener {
    listener: TcpListener,
    router: Router,
}

impl MetricsListener {
    pub(crate) async fn bind(listen: SocketAddr, metrics: Metrics, ff: Runtime) -> io::Result<Self> {
        let show = async |State((metrics, ff)): State<(Metrics, Runtime)>, headers: HeaderMap, _: Params<NoQuery>| {
            render(&metrics, &ff, &headers).await
        };
        let router = Router::new()
            .route("/metrics", get(show))
            .fallback(async || Problem::from(Code::NotFound))
            .method_not_allowed_fallback(async || Problem::from(Code::MethodNotAllowed))
            .with_state((metrics, ff));
        let only_here = listen.ip().to_canonical().is_loopback();
        let router = router.layer(middleware::from_fn_with_state(only_here, answer));
        Ok(Self { listener: TcpListener::bind(listen).await?, router })
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers scrapers until the server stops, and then cuts off running requests.
    pub(crate) async fn serve(self, shutdown: CancellationToken) {
        let open = Connections::new(SCRAPERS, SCRAPERS);
        let callers = Arc::<Callers>::default();
        let mut scrapers = JoinSet::new();
        loop {
            tokio::select! {
                () = shutdown.cancelled() => break,
                Some(_) = scrapers.join_next() => {}
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, peer)) => {
                        if let Some(connection) = open.open(peer.ip()) {
                            let caller = Caller::new(peer.ip(), callers.clone()).over(connection);
                            scrapers.spawn(serve_connection(stream, caller, self.router.clone(), shutdown.clone()));
                        }
                    }
                    Err(error) => pause_after_accept_error(&error).await,
                },
            }
        }
    }
}

/// Answers a scraper. On a loopback address, the metrics must not be readable by pages of other sites in a browser on this
/// machine.
async fn answer(State(only_here): State<bool>, request: Request, next: Next) -> Response {
    let busy = request.extensions().get().cloned();
    let checked = if only_here { loopback_guard::check(request.headers(), None, false) } else { Ok(()) };
    let response = match checked {
        Ok(()) => next.run(request).await,
        Err(refusal) => Problem::from(refusal).into_response(),
    };
    until_written(response, None, busy)
}
