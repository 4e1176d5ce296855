//! Logs go to standard error, so that output stays output.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;

/// Starts logging: what `RUST_LOG` says, otherwise `quietest` and one level more for every `-v`.
pub(crate) fn start(quietest: Level, verbose: u8) -> anyhow::Result<()> {
    let level = LEVELS[(quietest as usize + usize::from(verbose)).min(LEVELS.len() - 1)];
    let filter = match std::env::var("RUST_LOG") {
        Ok(said) if !said.is_empty() => EnvFilter::try_new(said)?,
        _ => EnvFilter::try_new(level)?,
    };
    let colours = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(io::stderr).init();
    Ok(())
}

/// How much is told when nobody asks for more.
#[derive(Clone, Copy)]
pub(crate) enum Level {
    Warn,
    Info,
}

const LEVELS: &[&str] = &["warn", "info", "debug", "trace"];
