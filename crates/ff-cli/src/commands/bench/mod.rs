//! `ff bench`: benchmarks of a store.

mod scenario;

use anyhow::Context;
use clap::Args;
use ff_bench::{
    BudgetCost, Chain, ClaimCost, Fairness, Fanout, Idle, Lifecycle, QuorumCancel, QuotaCost, Report, Retention,
    Routing, ScheduleLateness, SearchCost, StepCost, StreamCost, SuspendToResume,
};

use self::scenario::Scenario;
use crate::config::TypedCommand;
use crate::exit::{Exit, Usage};
use crate::output::Table;
use crate::settings::Settings;

/// Benchmark a store against a minimal durable queue in the same database; use a separate store
#[derive(Args)]
pub(crate) struct Bench {
    #[command(subcommand)]
    scenario: Scenario,
}

impl Bench {
    pub(crate) async fn run(self, settings: &Settings, typed: &TypedCommand) -> anyhow::Result<Exit> {
        let report = match self.scenario {
            Scenario::Lifecycle { store, job, bulk, kept, workers, payload, count } => {
                let target = target(store, settings, typed)?;
                Lifecycle { target, job: job.into(), bulk, kept, workers, payload, count }.measure().await?
            }
            Scenario::Claim { store, waiting } => {
                check(&waiting)?;
                ClaimCost { store: store.store, waiting }.measure().await?
            }
            Scenario::Suspend { store, workers, count } => {
                SuspendToResume { store: store.store, workers, count }.measure().await?
            }
            Scenario::Steps { store, workers, steps, count } => {
                StepCost { store: store.store, workers, steps, count }.measure().await?
            }
            Scenario::Budget { store, workers, count } => {
                BudgetCost { store: store.store, workers, count }.measure().await?
            }
            Scenario::Quota { store, workers, keys, max_concurrent: most, count } => {
                QuotaCost { store: store.store, workers, keys, most, count }.measure().await?
            }
            Scenario::Fairness { store, workers, tenants, count, keys } => {
                Fairness { store: store.store, workers, tenants, count, keys }.measure().await?
            }
            Scenario::Schedules { store, count, span } => {
                ScheduleLateness { store: store.store, count, span }.measure().await?
            }
            Scenario::Stream { store, workers, frame, count, readers } => {
                let ff = std::env::current_exe().context("cannot find the program to start as a server")?;
                StreamCost { store: store.store, workers, frame, count, readers, ff }.measure().await?
            }
            Scenario::Chain { store, workers, nodes, flows } => {
                Chain { store: store.store, workers, nodes, flows }.measure().await?
            }
            Scenario::Fanout { store, workers, width } => {
                Fanout { store: store.store, workers, width }.measure().await?
            }
            Scenario::QuorumCancel { store, width, flows } => {
                QuorumCancel { store: store.store, width, flows }.measure().await?
            }
            Scenario::Search { store, executions } => SearchCost { store: store.store, executions }.measure().await?,
            Scenario::Routing { store, workers, one_in, count, work } => {
                Routing { store: store.store, workers, one_in, count, work }.measure().await?
            }
            Scenario::Retention { store, workers, count, kept } => {
                Retention { store: store.store, workers, count, kept }.measure().await?
            }
            Scenario::Idle { store, workers, span } => Idle { store: store.store, workers, span }.measure().await?,
        };
        settings.answer(&report, || print(&report))
    }
}

/// Returns the URL to measure: that of the server if `--server` was typed, otherwise that of the store.
fn target(store: Option<String>, settings: &Settings, typed: &TypedCommand) -> Result<String, Usage> {
    match (typed.is_given("server"), store) {
        (true, _) if typed.is_given("store") => {
            Err(Usage("--store: is given with --server, must be one of the two".into()))
        }
        (true, _) => Ok(settings.server.clone()),
        (false, Some(store)) => Ok(store),
        (false, None) => {
            Err(Usage("--store: is missing, must be the URL of a store, or --server that of a server".into()))
        }
    }
}

fn check(waiting: &[usize]) -> Result<(), Usage> {
    let least = ClaimCost::LEAST;
    if waiting.first().is_some_and(|few| *few < least) || !waiting.is_sorted() {
        return Err(Usage(format!("--waiting: must be numbers of at least {least}, the fewest first")));
    }
    Ok(())
}

fn print(report: &Report) -> anyhow::Result<()> {
    let mut latencies = Table::new(&["LATENCY (MS)", "P50", "P95", "P99"]);
    for (name, percentiles) in &report.latency_ms {
        let [p50, p95, p99] = [percentiles.p50, percentiles.p95, percentiles.p99].map(|ms| format!("{ms:.3}"));
        latencies.row([name, &p50, &p95, &p99]);
    }
    if !report.latency_ms.is_empty() {
        latencies.print()?;
    }
    let mut figures = Table::new(&["FIGURE", "VALUE"]);
    for (name, figure) in [("throughput_per_s", report.throughput_per_s), ("floor_per_s", report.floor_per_s)] {
        if let Some(figure) = figure {
            figures.row([name, &format!("{figure:.0}")]);
        }
    }
    if let Some(ratio) = report.ratio {
        figures.row(["ratio", &format!("{ratio:.3}")]);
    }
    for (name, figure) in &report.figures {
        figures.row([*name, &format!("{figure:.2}")]);
    }
    figures.print()
}
