//! `ff workers`: lists the registered workers.

use std::fmt::Display;

use clap::Args;
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::contracts::{ListWorkersArgs, WorkersPage};
use ff_core::limits;
use ff_core::types::{Namespace, TimestampMs};
use ff_core::worker::Worker;
use ff_sdk::Client;

use crate::args::{every_page, span};
use crate::commands::lanes;
use crate::exit::Exit;
use crate::output::Table;
use crate::settings::Settings;

/// List the registered workers, with their lanes, kinds and capabilities
#[derive(Args)]
pub(crate) struct Workers {
    /// Include all namespaces, not only the one in force
    #[arg(long)]
    all_namespaces: bool,
}

impl Workers {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let client = settings.connect().await?.client();
        let namespace = (!self.all_namespaces).then(|| settings.namespace());
        let workers = of_namespace(&client, namespace.as_ref()).await?;
        let page = WorkersPage { workers, next: None };
        let none = format!("no worker {} is there", lanes::scope(namespace.as_ref()));
        settings.answer(&page, || tabulate(&page.workers, self.all_namespaces, SystemClock.now()).print_or(none))
    }
}

/// Returns the workers of a namespace, or of all namespaces.
async fn of_namespace(client: &Client, namespace: Option<&Namespace>) -> anyhow::Result<Vec<Worker>> {
    let read = async |after| {
        let args = ListWorkersArgs { namespace: namespace.cloned(), after, limit: limits::PAGE };
        let page = client.workers(args).await?;
        Ok((page.workers, page.next))
    };
    every_page(None, read).await
}

fn tabulate(workers: &[Worker], with_namespace: bool, now: TimestampMs) -> Table {
    let namespace = with_namespace.then_some("NAMESPACE");
    let headings = ["INSTANCE", "WORKER", "LANES", "KINDS", "CAPABILITIES", "SEEN", "SINCE"];
    let mut table = Table::new(&namespace.into_iter().chain(headings).collect::<Vec<_>>());
    for worker in workers {
        let namespace = with_namespace.then(|| worker.namespace.to_string());
        table.row(namespace.into_iter().chain([
            worker.worker_instance_id.to_string(),
            worker.worker_id.to_string(),
            listed(&worker.lanes, "-"),
            listed(&worker.kinds, "any"),
            listed(&worker.capabilities, "-"),
            span::relative(worker.seen_at, now),
            span::relative(worker.registered_at, now),
        ]));
    }
    table
}

fn listed<T: Display>(names: impl IntoIterator<Item = T>, none: &str) -> String {
    let names: Vec<_> = names.into_iter().map(|name| name.to_string()).collect();
    if names.is_empty() { none.to_owned() } else { names.join(",") }
}
