//! Serving a store until asked to stop.

use std::io::ErrorKind;
use std::net::SocketAddr;

use anyhow::{Context, anyhow};
use ff_sdk::FlowFabric;
use ff_server::Server;
use tokio_util::sync::CancellationToken;

use crate::signals::Signals;

/// A store and the server in front of it.
pub(crate) struct Serving {
    flowfabric: FlowFabric,
    server: Server,
    url: String,
    signals: Signals,
}

impl Serving {
    /// Opens a store, starts its engine, and listens.
    pub(crate) async fn start(store: &str, listen: SocketAddr) -> anyhow::Result<Self> {
        let signals = Signals::listen()?;
        let flowfabric = ff_sdk::connect(store).await?;
        match listen_on(listen, flowfabric.clone()).await {
            Ok((server, url)) => Ok(Self { flowfabric, server, url, signals }),
            Err(error) => {
                flowfabric.shutdown().await;
                Err(error)
            }
        }
    }

    pub(crate) fn flowfabric(&self) -> &FlowFabric {
        &self.flowfabric
    }

    /// Where clients find the server.
    pub(crate) fn url(&self) -> &str {
        &self.url
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

async fn listen_on(listen: SocketAddr, flowfabric: FlowFabric) -> anyhow::Result<(Server, String)> {
    let server = Server::bind(listen, flowfabric).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => anyhow!("{listen} is in use; choose another address with --listen"),
        ErrorKind::InvalidInput => anyhow!(error),
        _ => anyhow!("cannot listen on {listen}: {error}"),
    })?;
    let url = format!("http://{}", server.local_addr()?);
    Ok((server, url))
}
