//! The options of every command: the server, the namespace, and the formats of output and log.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::OnceLock;

use anyhow::anyhow;
use clap::{ArgAction, Args};
use ff_core::types::Namespace;
use ff_sdk::http::HttpConnectError;
use ff_sdk::{ConnectError, FlowFabric};
use serde::Serialize;

use crate::exit::{Exit, Usage, print_message};
use crate::logging::LogFormat;
use crate::output;
use crate::output::screen::ColorChoice;

/// Options every command takes.
#[derive(Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Settings {
    /// Address of the server
    #[arg(long, global = true, env = "FF_SERVER", value_name = "URL", default_value = "http://127.0.0.1:7070")]
    #[arg(value_parser = server)]
    pub(crate) server: String,

    /// Namespace to work in; unless given, that of the key, or default
    #[arg(long, global = true, env = "FF_NAMESPACE", value_name = "NAME")]
    namespace: Option<Namespace>,

    /// The namespace of the key, once a server has told it.
    #[arg(skip)]
    own: OnceLock<Namespace>,

    /// Configuration file, in place of FF_CONFIG or flowfabric.toml in the working directory
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// When to colour states; auto means on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, env = "FF_COLOR", value_name = "WHEN", value_enum, default_value = "auto")]
    pub(crate) color: ColorChoice,

    /// Log more: -v, -vv, -vvv
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,

    /// Format of the log on standard error
    #[arg(long, global = true, env = "FF_LOG_FORMAT", value_name = "FORMAT", value_enum, default_value = "text")]
    pub(crate) log_format: LogFormat,
}

impl Settings {
    /// Connects to the server. Refuses a given namespace that is not that of the key.
    pub(crate) async fn connect(&self) -> anyhow::Result<FlowFabric> {
        let connected = ff_sdk::connect(&self.server).await.map_err(|error| match error {
            ConnectError::Http(unreachable @ HttpConnectError::Unreachable { .. }) => {
                anyhow!("{unreachable}\n  start one with `ff dev`, or name another with --server or FF_SERVER")
            }
            ConnectError::Http(refused @ HttpConnectError::Refused { .. }) => {
                anyhow!("{refused}\n  put a key of this server into FF_API_KEY; `ff keys create` makes one")
            }
            ConnectError::Http(bad @ HttpConnectError::BadUrl { .. }) => Usage(format!("--server: {bad}")).into(),
            ConnectError::BadUrl { why } => Usage(why).into(),
            error => error.into(),
        });
        let flowfabric = connected?;
        if let Some(own) = flowfabric.key_namespace() {
            check(self.namespace.as_ref(), own, "--namespace")?;
            self.own.get_or_init(|| own.clone());
        }
        Ok(flowfabric)
    }

    /// Prints the answer to a command: as JSON with `--json`, otherwise by `print`.
    pub(crate) fn answer(
        &self,
        answer: &impl Serialize,
        print: impl FnOnce() -> anyhow::Result<()>,
    ) -> anyhow::Result<Exit> {
        if self.json {
            output::json(answer)?;
        } else {
            print()?;
        }
        Ok(Exit::Done)
    }

    /// Prints the answer to the deletion of a resource. `already` means that there was none.
    pub(crate) fn answer_deleted(
        &self,
        answer: &impl Serialize,
        already: bool,
        (noun, name): (&str, &dyn Display),
    ) -> anyhow::Result<Exit> {
        self.answer(answer, || {
            print_message(if already { format!("there is no {noun} {name}") } else { format!("deleted {name}") });
            Ok(())
        })
    }

    /// Returns the namespace to work in: the given one, or that of the key once connected, or `default`.
    pub(crate) fn namespace(&self) -> Namespace {
        self.given_namespace().or(self.own.get()).cloned().unwrap_or_else(Namespace::default_name)
    }

    /// Returns the namespace given by a flag, a variable or the configuration file.
    pub(crate) fn given_namespace(&self) -> Option<&Namespace> {
        self.namespace.as_ref()
    }
}

/// Refuses a given namespace that is not that of the key. `field` is its name in the error.
pub(crate) fn check(given: Option<&Namespace>, own: &Namespace, field: &str) -> Result<(), Usage> {
    match given {
        Some(given) if given != own => {
            Err(Usage(format!("{field}: is {given} and the key belongs to {own}, must be {own} or left out")))
        }
        _ => Ok(()),
    }
}

fn server(text: &str) -> Result<String, &'static str> {
    if text.starts_with("http://") || text.starts_with("https://") {
        Ok(text.to_owned())
    } else {
        Err("must be the address of a server, as in http://127.0.0.1:7070")
    }
}
