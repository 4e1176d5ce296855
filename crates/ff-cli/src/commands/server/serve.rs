//! `ff server`: a server in front of a store.

use std::net::SocketAddr;
use std::time::Duration;

use clap::Args;
use ff_sdk::store_url::without_password;
use ff_sdk::{Connect, ConnectError, Target};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::args::span;
use crate::exit::Exit;
use crate::output;
use crate::serve::ServedStore;
use crate::serve::{ServingFlags, address};
use crate::settings::Settings;

/// Default address of a server.
pub(super) const LISTEN: &str = "127.0.0.1:7070";

/// Serve a store over HTTP
#[derive(Args)]
pub(crate) struct Server {
    /// Store: sqlite:PATH, postgres://HOST/DATABASE, valkey://HOST:PORT, or memory: for experiments
    #[arg(long, env = "FF_STORE", value_name = "URL", value_parser = store)]
    store: String,

    /// Address to listen on; loopback only, unless the store has API keys
    #[arg(long, env = "FF_LISTEN", value_name = "HOST:PORT", default_value = LISTEN, value_parser = address)]
    listen: SocketAddr,

    /// Additional address that serves metrics, without a key
    #[arg(long, env = "FF_METRICS_LISTEN", value_name = "HOST:PORT", value_parser = address)]
    metrics_listen: Option<SocketAddr>,

    /// Refuse a store that may lose acknowledged work, instead of logging a warning
    #[arg(long, env = "FF_STRICT_DURABILITY")]
    strict_durability: bool,

    /// Time until ready work that no live worker can run is blocked
    #[arg(long, env = "FF_ROUTING_GRACE", value_name = "SPAN", default_value = "5s", value_parser = span::parse)]
    routing_grace: Duration,

    #[command(flatten)]
    serving: ServingFlags,
}

impl Server {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let connect = Connect::to(&self.store).routing_grace(self.routing_grace);
        let connect = if self.strict_durability { connect.strict_durability() } else { connect };
        let serving = ServedStore::start(connect, self.listen, self.metrics_listen, self.serving.into()).await?;
        let (store, server) = (without_password(&self.store), serving.url());
        if settings.json {
            let mut started = json!({ "store": store, "server": server, "asks_for_keys": serving.asks_for_keys() });
            if let Some(metrics) = serving.metrics_url() {
                started["metrics"] = metrics.into();
            }
            output::json(&started)?;
        } else {
            output::line(format_args!("serving {store} at {server}"))?;
            output::line(format_args!("console at {server}/"))?;
            if let Some(metrics) = serving.metrics_url() {
                output::line(format_args!("metrics at {metrics}, without a key"))?;
            }
            if !serving.asks_for_keys() {
                output::line("the store has no API keys: listening on loopback only, and asking for none")?;
            }
        }
        serving.until_stopped(CancellationToken::new(), async { Ok(()) }).await?;
        Ok(Exit::Done)
    }
}

/// Checks the URL of a store to open in this process. Refuses the URL of a server, whose store is served already.
pub(in crate::commands) fn store(text: &str) -> Result<String, ConnectError> {
    match Target::parse(text)? {
        Target::Http => {
            let why =
                "scheme: is that of a server, not a store; must be that of a store such as sqlite:PATH".to_owned();
            Err(ConnectError::BadUrl { why })
        }
        _ => Ok(text.to_owned()),
    }
}
