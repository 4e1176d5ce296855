//! The command line: its commands, and the entry point that runs them.

use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::*;
use crate::config::TypedCommand;
use crate::exit::{self, Exit};
use crate::logging::{self, Level};
use crate::settings::Settings;

/// FlowFabric: durable execution. Every submitted execution ends exactly once.
#[derive(Parser)]
#[command(name = "ff", version, after_help = Exit::table())]
struct CommandLine {
    #[command(flatten)]
    settings: Settings,
    #[command(subcommand)]
    command: Command,
}

/// Defines the enum of commands from a list. Each entry names a command and the arguments of its `run` method.
macro_rules! commands {
    (run($settings:ident, $typed:ident): $($(#[$attribute:meta])* $command:ident($($arg:ident),*),)*) => {
        #[derive(Subcommand)]
        enum Command {
            $($(#[$attribute])* $command($command),)*
        }

        impl Command {
            async fn run(self, $settings: &Settings, $typed: &TypedCommand) -> anyhow::Result<Exit> {
                match self {
                    $(Self::$command(command) => command.run($($arg),*).await,)*
                }
            }
        }
    };
}

commands! { run(settings, typed):
    Dev(settings),
    Server(settings),
    Submit(settings),
    Get(settings),
    Explain(settings),
    List(settings),
    Result(settings),
    Attempts(settings),
    Steps(settings),
    Usage(settings),
    Cancel(settings),
    Hold(settings),
    Release(settings),
    Assign(settings),
    Unassign(settings),
    Grants(settings),
    Replay(settings),
    Fork(settings),
    Flow(settings),
    Revoke(settings),
    #[command(flatten)]
    Adjust(settings),
    Lanes(settings),
    Quotas(settings),
    Schedules(settings),
    Budgets(settings),
    Apply(settings),
    Export(settings),
    Workers(settings),
    Events(settings),
    Watch(settings),
    Tail(settings),
    StreamToken(settings),
    Suspensions(settings),
    Signal(settings),
    #[command(flatten)]
    Decision(settings),
    Secrets(settings),
    Keys(settings),
    Worker(settings),
    Doctor(settings),
    Migrate(settings),
    #[command(name = "openapi")]
    OpenApi(),
    Bench(settings, typed),
    Config(settings, typed),
    Completions(typed),
}

/// Parses the command line, runs the command, and returns the exit code.
pub(crate) fn run() -> ExitCode {
    let ended = TypedCommand::read(CommandLine::command()).and_then(|typed| {
        let CommandLine { settings, command } =
            CommandLine::from_arg_matches(&typed.matches).unwrap_or_else(|error| error.exit());
        exit::set_json_messages(settings.json);
        settings.color.apply();
        logging::start(command.level(), settings.verbose, settings.log_format)?;
        let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
        runtime.block_on(command.run(&settings, &typed))
    });
    ended.unwrap_or_else(|error| exit::after(&error)).into()
}

impl Command {
    /// Returns the default log level: `Info` for servers, `Warn` for other commands.
    fn level(&self) -> Level {
        match self {
            Self::Dev(_) | Self::Server(_) => Level::Info,
            _ => Level::Warn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        CommandLine::command().debug_assert();
    }
}
