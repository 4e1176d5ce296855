//! Which workers are there.

use std::fmt::Display;

use clap::Args;
use ff_core::clock::{Clock, SystemClock};
use ff_core::contracts::{ListWorkersArgs, WorkersPage};
use ff_core::limits;
use ff_core::types::{Namespace, TimestampMs};
use ff_core::worker::Worker;
use ff_sdk::Client;

use super::lanes;
use crate::exit::{Exit, tell};
use crate::settings::Settings;
use crate::table::Table;
use crate::{output, span};

/// List the workers that are there, with what they take
#[derive(Args)]
pub(crate) struct Workers {
    /// Those of every tenant, not only of the namespace in force
    #[arg(long)]
    all_namespaces: bool,
}

impl Workers {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let client = settings.connect().await?.client();
        let whose = (!self.all_namespaces).then(|| settings.namespace());
        let workers = of_namespace(&client, whose.as_ref()).await?;
        if settings.json {
            output::json(&WorkersPage { workers, next: None })?;
        } else if workers.is_empty() {
            tell(format_args!("no worker {} is there", lanes::whose(whose.as_ref())));
        } else {
            tabulate(&workers, self.all_namespaces, SystemClock.now()).print()?;
        }
        Ok(Exit::Done)
    }
}

/// The workers of a tenant, or of everybody, all pages as one.
pub(super) async fn of_namespace(client: &Client, namespace: Option<&Namespace>) -> anyhow::Result<Vec<Worker>> {
    let mut args = ListWorkersArgs { namespace: namespace.cloned(), after: None, limit: limits::PAGE };
    let mut workers = Vec::new();
    loop {
        let page = client.workers(args.clone()).await?;
        workers.extend(page.workers);
        if page.next.is_none() {
            return Ok(workers);
        }
        args.after = page.next;
    }
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
