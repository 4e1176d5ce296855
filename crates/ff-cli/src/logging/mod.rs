//! Logging to standard error, so that standard output contains only the output of the command.

mod json;

use std::io::{self, IsTerminal};

use clap::ValueEnum;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::JsonFields;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts logging with the filter in `RUST_LOG`, or else with the level `quietest` plus one level for every `-v`.
pub(crate) fn start(quietest: Level, verbose: u8, format: LogFormat) -> anyhow::Result<()> {
    let level = LEVELS[(quietest as usize + usize::from(verbose)).min(LEVELS.len() - 1)];
    let variable = std::env::var("RUST_LOG").ok().filter(|text| !text.is_empty());
    let filter = filter(variable.as_deref().unwrap_or(level))?;
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

/// Returns the log filter. A level without a target applies to our own crates: libraries log the data they send and
/// receive, so at most their warnings and errors are logged, unless their target is named.
fn filter(text: &str) -> anyhow::Result<Targets> {
    let targets: Targets = text.parse()?;
    let level = targets.default_level().unwrap_or(LevelFilter::OFF);
    let libraries = level.min(LevelFilter::WARN);
    Ok(Targets::new().with_default(libraries).with_target(OURS, level).with_targets(targets))
}

/// The common prefix of the log targets of our crates.
const OURS: &str = "ff";

/// Who the log is for.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LogFormat {
    /// Plain text
    Text,
    /// One JSON object per line
    Json,
}

/// The level of the log without `-v`.
#[derive(Clone, Copy)]
pub(crate) enum Level {
    Warn,
    Info,
}

const LEVELS: &[&str] = &["warn", "info", "debug", "trace"];

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn libraries_are_heard_only_when_they_warn_or_are_named() {
        let logs = |text: &str, target: &str, level: Level| filter(text).unwrap().would_enable(target, &level);
        for text in ["debug", "trace"] {
            assert!(logs(text, "ff_server::audit", Level::DEBUG) && logs(text, "ff", Level::DEBUG));
            for library in ["tokio_postgres::query", "redis::aio", "rustls", "hyper::proto", "reqwest", "log"] {
                assert!(!logs(text, library, Level::INFO) && logs(text, library, Level::WARN), "{library}");
            }
        }
        assert!(!logs("error", "redis", Level::WARN) && logs("error", "redis", Level::ERROR));
        let named = "info,tokio_postgres=debug,ff_server=warn";
        assert!(logs(named, "tokio_postgres::query", Level::DEBUG) && !logs(named, "redis", Level::INFO));
        assert!(!logs(named, "ff_server::audit", Level::INFO) && logs(named, "ff_engine", Level::INFO));
        assert!(!logs("redis=trace", "ff_server", Level::ERROR) && logs("redis=trace", "redis", Level::TRACE));
        assert!(filter("ff_server=loud").is_err());
    }
}
