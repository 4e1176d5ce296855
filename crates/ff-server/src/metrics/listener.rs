//! A listener that tells metrics and nothing else, so that a scraper needs no key to the rest.

use std::io;
use std::net::SocketAddr;

use axum::Router;
use axum::extract::State;
use axum::http::Request;
use axum::routing::get;
use ff_core::engine_error::Code;
use ff_sdk::FlowFabric;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::{Metrics, told};
use crate::params::Params;
use crate::problem::Problem;
use crate::server::{HEAD, hold_back};

/// How many scrapers are spoken with at once.
const SCRAPERS: usize = 16;

/// A listener for scrapers that has its address and does not serve yet.
pub(crate) struct MetricsListener {
    listener: TcpListener,
    router: Router,
}

impl MetricsListener {
    pub(crate) async fn bind(listen: SocketAddr, metrics: Metrics, ff: FlowFabric) -> io::Result<Self> {
        let show = async |State((metrics, ff)): State<(Metrics, FlowFabric)>, params: Params| {
            params.done()?;
            told(&metrics, &ff).await
        };
        let router = Router::new()
            .route("/metrics", get(show))
            .fallback(async || Problem::from(Code::NotFound))
            .method_not_allowed_fallback(async || Problem::from(Code::MethodNotAllowed))
            .with_state((metrics, ff));
        Ok(Self { listener: TcpListener::bind(listen).await?, router })
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers scrapers until told to stop. Whoever is being answered then is cut off, and comes again elsewhere.
    pub(crate) async fn serve(self, shutdown: CancellationToken) {
        let mut scrapers = JoinSet::new();
        loop {
            let has_room = scrapers.len() < SCRAPERS;
            tokio::select! {
                () = shutdown.cancelled() => break,
                Some(_) = scrapers.join_next() => {}
                accepted = self.listener.accept(), if has_room => match accepted {
                    Ok((stream, _)) => {
                        scrapers.spawn(converse(stream, self.router.clone()));
                    }
                    Err(error) => hold_back(&error).await,
                },
            }
        }
    }
}

async fn converse(stream: TcpStream, router: Router) {
    let service = service_fn(|request: Request<Incoming>| router.clone().oneshot(request));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD);
    if let Err(error) = http.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!("a scraper's connection broke: {error}");
    }
}
