//! A store served over HTTP until a signal requests the stop.

mod flags;

use std::io;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use ff_sdk::{Connect, FlowFabric};
use ff_server::{DRAIN, Metrics, Server, ServerOptions};
pub(crate) use flags::{ServingFlags, address};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio_util::sync::CancellationToken;

use crate::exit::Usage;
use crate::signals::Signals;

/// Maximum time to close the store after the running requests were cut off.
const CLOSING: Duration = Duration::from_secs(5);

/// File descriptors reserved for the store, the log and everything else except connections of clients.
const OWN_DESCRIPTORS: u64 = 256;

/// A store and the server in front of it.
pub(crate) struct ServedStore {
    flowfabric: FlowFabric,
    server: Server,
    url: String,
    metrics_url: Option<String>,
    signals: Signals,
}

impl ServedStore {
    /// Opens a store, starts its engine, and listens for connections.
    pub(crate) async fn start(
        store: Connect,
        listen: SocketAddr,
        metrics_listen: Option<SocketAddr>,
        mut options: ServerOptions,
    ) -> anyhow::Result<Self> {
        let fitting = connections_that_fit();
        if options.limits.connections > fitting {
            tracing::warn!("no more than {fitting} connections are taken: this process may not open more files");
            options.limits.connections = fitting;
        }
        let signals = Signals::listen()?;
        let metrics = Metrics::new();
        let counting = metrics.clone();
        let flowfabric = store.through(move |store| counting.over(store)).connect().await?;
        match listen_on(listen, metrics_listen, metrics, &flowfabric, options).await {
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

    /// Returns true if every request needs a key.
    pub(crate) fn asks_for_keys(&self) -> bool {
        self.server.asks_for_keys()
    }

    /// Returns the URL of the server.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the URL of the metrics, if they have a separate address.
    pub(crate) fn metrics_url(&self) -> Option<&str> {
        self.metrics_url.as_deref()
    }

    /// Serves until a signal requests the stop, then lets running requests and `beside` finish, and closes the store. A
    /// second signal ends the process at once, which the store survives. The process also ends if the shutdown takes
    /// too long, so a signal always ends it.
    pub(crate) async fn until_stopped(
        self,
        stopping: CancellationToken,
        beside: impl Future<Output = anyhow::Result<()>>,
    ) -> anyhow::Result<()> {
        let Self { flowfabric, server, mut signals, .. } = self;
        let stop = stopping.clone();
        let (stopped, hangs) = mpsc::channel();
        let listening = tokio::spawn(async move {
            signals.next().await;
            tracing::info!("stopping");
            stop.cancel();
            leave_unless_stopped(hangs);
            signals.next().await;
            std::process::exit(130);
        });
        let served = server.serve(stopping).await.context("the server stopped by itself");
        let finished = beside.await;
        flowfabric.shutdown().await;
        listening.abort();
        drop(stopped);
        served.and(finished)
    }
}

/// Ends the process if it has not stopped in time. Uses a thread, because the async runtime itself may hang.
fn leave_unless_stopped(stopped: mpsc::Receiver<()>) {
    std::thread::spawn(move || {
        let patience = DRAIN + CLOSING;
        if stopped.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) {
            tracing::error!("not stopped within {} s: running executions are left to their leases", patience.as_secs());
            std::process::exit(1);
        }
    });
}

/// Raises the limit of open files as far as allowed, and returns the number of connections that fit into it.
fn connections_that_fit() -> usize {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::warn!("the number of open files cannot be raised: {error}");
    }
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(descriptors.saturating_sub(OWN_DESCRIPTORS)).unwrap_or(usize::MAX)
}

async fn listen_on(
    listen: SocketAddr,
    metrics_listen: Option<SocketAddr>,
    metrics: Metrics,
    flowfabric: &FlowFabric,
    options: ServerOptions,
) -> anyhow::Result<(Server, String, Option<String>)> {
    let runtime = flowfabric.runtime().context("a server serves a store, not another server")?;
    let server = Server::bind_with(listen, runtime.clone(), options).await;
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
        ErrorKind::InvalidInput => Usage(error.to_string()).into(),
        _ => anyhow!("cannot listen on {listen}: {error}"),
    }
}
