//! What every command is told: which server, which tenant, and whether people or programs read the output.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{ArgAction, Args};
use ff_core::types::Namespace;
use ff_sdk::http::HttpConnectError;
use ff_sdk::{ConnectError, FlowFabric};

use crate::exit::Usage;
use crate::logging::LogFormat;
use crate::screen::ColorChoice;

/// Options every command takes.
#[derive(Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Settings {
    /// The server to talk to
    #[arg(long, global = true, env = "FF_SERVER", value_name = "URL", default_value = "http://127.0.0.1:7070")]
    #[arg(value_parser = server)]
    pub(crate) server: String,

    /// The tenant whose work it is
    #[arg(long, global = true, env = "FF_NAMESPACE", value_name = "NAME", default_value = "default")]
    pub(crate) namespace: Namespace,

    /// The file settings are read from, in place of FF_CONFIG, or of flowfabric.toml in the working directory
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// When states are coloured: auto is on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, env = "FF_COLOR", value_name = "WHEN", value_enum, default_value = "auto")]
    pub(crate) color: ColorChoice,

    /// Log more: -v, -vv, -vvv
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,

    /// How the log on standard error is written
    #[arg(long, global = true, env = "FF_LOG_FORMAT", value_name = "FORMAT", value_enum, default_value = "text")]
    pub(crate) log_format: LogFormat,
}

impl Settings {
    /// A connection to the server.
    pub(crate) async fn connect(&self) -> anyhow::Result<FlowFabric> {
        ff_sdk::connect(&self.server).await.map_err(|error| match error {
            ConnectError::Http(unreachable @ HttpConnectError::Unreachable { .. }) => {
                anyhow!("{unreachable}\n  start one with `ff dev`, or name another with --server or FF_SERVER")
            }
            ConnectError::Http(refused @ HttpConnectError::Refused { .. }) => {
                anyhow!("{refused}\n  put a key of this server into FF_API_KEY; `ff keys create` makes one")
            }
            ConnectError::Http(bad @ HttpConnectError::BadUrl { .. }) => Usage(format!("--server: {bad}")).into(),
            ConnectError::BadUrl { why } => Usage(why).into(),
            error => error.into(),
        })
    }
}

fn server(text: &str) -> Result<String, &'static str> {
    if text.starts_with("http://") || text.starts_with("https://") {
        Ok(text.to_owned())
    } else {
        Err("must be the address of a server, as in http://127.0.0.1:7070")
    }
}
