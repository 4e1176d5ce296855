//! Serving a store until asked to stop.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use anyhow::{Context, anyhow};
use ff_sdk::{Connect, FlowFabric};
use ff_server::{Metrics, Server, ServerOptions};
use tokio_util::sync::CancellationToken;

use crate::signals::Signals;

/// A store and the server in front of it.
pub(crate) struct Serving {
    flowfabric: FlowFabric,
    server: Server,
    url: String,
    metrics_url: Option<String>,
    signals: Signals,
}

impl Serving {
    /// Opens a store, starts its engine, and listens.
    pub(crate) async fn start(
        store: &str,
        listen: SocketAddr,
        metrics_listen: Option<SocketAddr>,
        options: ServerOptions,
    ) -> anyhow::Result<Self> {
        let signals = Signals::listen()?;
        let metrics = Metrics::new();
        let counting = metrics.clone();
        let flowfabric = Connect::to(store).through(move |store| counting.over(store)).connect().await?;
        match listen_on(listen, metrics_listen, metrics, flowfabric.clone(), options).await {
            Ok((server, url, metrics_url)) => Ok(Self { flowfabric, server, url, metrics_url, signals }),
            Err(error) => {
                flowfabric.shutdown().await;
                Err(error)
            }
        }
    }

    pub(crate) fn flowfabric(&self) -> &FlowFabric {
        &self.flowfabric
    }

    /// Whether every request needs a key.
    pub(crate) fn asks_for_keys(&self) -> bool {
        self.server.asks_for_keys()
    }

    /// Where clients find the server.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Where scrapers find the metrics, when they have a place of their own.
    pub(crate) fn metrics_url(&self) -> Option<&str> {
        self.metrics_url.as_deref()
    }

    /// Serves until asked to stop, then lets what is under way finish, `beside` included, and closes the store. Asked a
    /// second time, it leaves at once: the store survives that, and whoever asks twice means it.
    pub(crate) async fn until_stopped(
        self,
        stopping: CancellationToken,
        beside: impl Future<Output = anyhow::Result<()>>,
    ) -> anyhow::Result<()> {
        let Self { flowfabric, server, mut signals, .. } = self;
        let asked = stopping.clone();
        let listening = tokio::spawn(async move {
            signals.next().await;
            tracing::info!("stopping");
            asked.cancel();
            signals.next().await;
            std::process::exit(130);
        });
        let served = server.serve(stopping).await.context("the server stopped by itself");
        let finished = beside.await;
        flowfabric.shutdown().await;
        listening.abort();
        served.and(finished)
    }
}

async fn listen_on(
    listen: SocketAddr,
    metrics_listen: Option<SocketAddr>,
    metrics: Metrics,
    flowfabric: FlowFabric,
    options: ServerOptions,
) -> anyhow::Result<(Server, String, Option<String>)> {
    let server = Server::bind_with(listen, flowfabric, options).await;
    let server = server.map_err(|error| cannot(listen, "--listen", error))?;
    let mut server = server.measured(metrics);
    let url = server.url()?;
    let metrics_url = match metrics_listen {
        Some(listen) => {
            let address = server.scraped_at(listen).await.map_err(|error| cannot(listen, "--metrics-listen", error))?;
            Some(format!("http://{address}/metrics"))
        }
        None => None,
    };
    Ok((server, url, metrics_url))
}

fn cannot(listen: SocketAddr, option: &str, error: io::Error) -> anyhow::Error {
    match error.kind() {
        ErrorKind::AddrInUse => anyhow!("{listen} is in use; choose another address with {option}"),
        ErrorKind::InvalidInput => anyhow!(error),
        _ => anyhow!("cannot listen on {listen}: {error}"),
    }
}
