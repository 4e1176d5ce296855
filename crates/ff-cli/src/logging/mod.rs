//! Logs go to standard error, so that output stays output.

mod json;

use std::io::{self, IsTerminal};

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::JsonFields;

/// Starts logging: what `RUST_LOG` says, otherwise `quietest` and one level more for every `-v`.
pub(crate) fn start(quietest: Level, verbose: u8, format: LogFormat) -> anyhow::Result<()> {
    let level = LEVELS[(quietest as usize + usize::from(verbose)).min(LEVELS.len() - 1)];
    let filter = match std::env::var("RUST_LOG") {
        Ok(said) if !said.is_empty() => EnvFilter::try_new(said)?,
        _ => EnvFilter::try_new(level)?,
    };
    let colours = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    match format {
        LogFormat::Text => subscriber.with_ansi(colours).init(),
        LogFormat::Json => subscriber.with_ansi(false).fmt_fields(JsonFields::new()).event_format(json::Lines).init(),
    }
    Ok(())
}

/// Who the log is for.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people
    Text,
    /// A JSON object on each line, for programs
    Json,
}

/// How much is told when nobody asks for more.
#[derive(Clone, Copy)]
pub(crate) enum Level {
    Warn,
    Info,
}

const LEVELS: &[&str] = &["warn", "info", "debug", "trace"];
