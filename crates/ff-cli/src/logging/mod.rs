//! Logs go to standard error, so that output stays output.

mod json;

use std::io::{self, IsTerminal};

use clap::ValueEnum;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::JsonFields;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts logging: what `RUST_LOG` says, otherwise `quietest` and one level more for every `-v`.
pub(crate) fn start(quietest: Level, verbose: u8, format: LogFormat) -> anyhow::Result<()> {
    let level = LEVELS[(quietest as usize + usize::from(verbose)).min(LEVELS.len() - 1)];
    let said = std::env::var("RUST_LOG").ok().filter(|said| !said.is_empty());
    let filter: Targets = said.as_deref().unwrap_or(level).parse()?;
    let colours = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let subscriber = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_writer(io::stderr);
    match format {
        LogFormat::Text => subscriber.with_ansi(colours).finish().with(filter).init(),
        LogFormat::Json => {
            let lines = subscriber.with_ansi(false).fmt_fields(JsonFields::new()).event_format(json::Lines);
            lines.finish().with(filter).init();
        }
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
