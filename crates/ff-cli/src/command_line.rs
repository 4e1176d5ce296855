//! The command line: its words, and which command each of them is.

use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::{
    Adjust, Approve, Attempts, Bench, Cancel, Completions, Config, Dev, Doctor, Events, Flow, Get, Keys, Lanes, List,
    Migrate, OpenApi, Reject, Replay, Result, Resume, Revoke, Secrets, Server, Signal, Submit, Tail, Waiting, Watch,
    Worker, Workers,
};
use crate::config::TypedCommand;
use crate::exit::{self, Exit};
use crate::logging::{self, Level};
use crate::settings::Settings;

/// FlowFabric: hand in work, and it is seen through to exactly one end.
#[derive(Parser)]
#[command(name = "ff", version, after_help = Exit::table())]
struct CommandLine {
    #[command(flatten)]
    settings: Settings,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Dev(Dev),
    Server(Server),
    Submit(Submit),
    Get(Get),
    List(List),
    Result(Result),
    Attempts(Attempts),
    Cancel(Cancel),
    Replay(Replay),
    Flow(Flow),
    Revoke(Revoke),
    #[command(flatten)]
    Adjust(Adjust),
    Lanes(Lanes),
    Workers(Workers),
    Events(Events),
    Watch(Watch),
    Tail(Tail),
    Waiting(Waiting),
    Signal(Signal),
    Approve(Approve),
    Reject(Reject),
    Resume(Resume),
    Secrets(Secrets),
    Keys(Keys),
    Worker(Worker),
    Doctor(Doctor),
    Migrate(Migrate),
    #[command(name = "openapi")]
    OpenApi(OpenApi),
    Bench(Bench),
    Config(Config),
    Completions(Completions),
}

/// Does what the command line says.
pub(crate) fn run() -> ExitCode {
    let ended = TypedCommand::read(CommandLine::command()).and_then(|typed| {
        let CommandLine { settings, command } =
            CommandLine::from_arg_matches(&typed.matches).unwrap_or_else(|error| error.exit());
        exit::speak_json(settings.json);
        settings.color.apply();
        logging::start(command.level(), settings.verbose, settings.log_format)?;
        let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
        runtime.block_on(command.run(&settings, &typed))
    });
    ended.unwrap_or_else(|error| exit::after(&error)).into()
}

impl Command {
    /// What a server does is worth telling; a tool speaks when something is wrong.
    fn level(&self) -> Level {
        match self {
            Self::Dev(_) | Self::Server(_) => Level::Info,
            _ => Level::Warn,
        }
    }

    async fn run(self, settings: &Settings, typed: &TypedCommand) -> anyhow::Result<Exit> {
        match self {
            Self::Dev(dev) => dev.run(settings).await,
            Self::Server(server) => server.run(settings).await,
            Self::Submit(submit) => submit.run(settings).await,
            Self::Get(get) => get.run(settings).await,
            Self::List(list) => list.run(settings).await,
            Self::Result(result) => result.run(settings).await,
            Self::Attempts(attempts) => attempts.run(settings).await,
            Self::Cancel(cancel) => cancel.run(settings).await,
            Self::Replay(replay) => replay.run(settings).await,
            Self::Flow(flow) => flow.run(settings).await,
            Self::Revoke(revoke) => revoke.run(settings).await,
            Self::Adjust(adjust) => adjust.run(settings).await,
            Self::Lanes(lanes) => lanes.run(settings).await,
            Self::Workers(workers) => workers.run(settings).await,
            Self::Events(events) => events.run(settings).await,
            Self::Watch(watch) => watch.run(settings).await,
            Self::Tail(tail) => tail.run(settings).await,
            Self::Waiting(waiting) => waiting.run(settings).await,
            Self::Signal(signal) => signal.run(settings).await,
            Self::Approve(approve) => approve.run(settings).await,
            Self::Reject(reject) => reject.run(settings).await,
            Self::Resume(resume) => resume.run(settings).await,
            Self::Secrets(secrets) => secrets.run(settings).await,
            Self::Keys(keys) => keys.run(settings).await,
            Self::Worker(worker) => worker.run(settings).await,
            Self::Doctor(doctor) => doctor.run(settings).await,
            Self::Migrate(migrate) => migrate.run(settings).await,
            Self::OpenApi(openapi) => openapi.run(),
            Self::Bench(bench) => bench.run(settings).await,
            Self::Config(config) => config.run(settings, typed),
            Self::Completions(completions) => completions.run(typed),
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
