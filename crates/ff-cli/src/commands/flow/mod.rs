//! `ff flow`: submits, shows, watches, cancels and replays flows, which are graphs of executions.

mod cancel;
mod get;
mod graph;
mod list;
mod replay;
mod snapshot;
mod submit;
mod tree;
mod watch;

pub(super) use submit::read;

use clap::{Args, Subcommand};

use crate::exit::Exit;
use crate::settings::Settings;

/// Submit, show, watch and cancel flows: graphs of executions
#[derive(Args)]
pub(crate) struct Flow {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Submit(submit::Submit),
    Get(get::Get),
    List(list::List),
    Watch(watch::Watch),
    Cancel(cancel::Cancel),
    Replay(replay::Replay),
    Graph(graph::Graph),
}

impl Flow {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        match self.command {
            Command::Submit(submit) => submit.run(settings).await,
            Command::Get(get) => get.run(settings).await,
            Command::List(list) => list.run(settings).await,
            Command::Watch(watch) => watch.run(settings).await,
            Command::Cancel(cancel) => cancel.run(settings).await,
            Command::Replay(replay) => replay.run(settings).await,
            Command::Graph(graph) => graph.run(settings).await,
        }
    }
}
