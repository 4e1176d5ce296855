//! Measuring a store.

use std::time::Duration;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};

use super::bench_args::{Store, any_number, frame, payload, positive, steps};
use super::schedules::BenchSchedules;
use crate::config::TypedCommand;
use crate::exit::{Exit, Usage};
use crate::settings::Settings;
use crate::span;
use crate::table::Table;
use ff_bench::{
    Chain, ClaimCost, Fanout, Idle, JobShape, Lifecycle, QuorumCancel, QuotaCost, Report, Retention, Routing,
    SearchCost, StepCost, StreamCost, SuspendToResume,
};

/// Measure a store beside the least a bare store could do; give it a store of its own
#[derive(Args)]
pub(crate) struct Bench {
    #[command(subcommand)]
    scenario: Scenario,
}

#[derive(Subcommand)]
enum Scenario {
    /// Submit, claim and complete, as fast as it goes and one at a time; in a store, or over HTTP with --server
    Lifecycle {
        /// The store, unless --server is given; what is measured stays in it
        #[arg(long, env = "FF_STORE", value_name = "URL", value_parser = super::server::store)]
        store: Option<String>,

        /// What the jobs look like
        #[arg(long, value_name = "SHAPE", value_enum, default_value = "typical")]
        job: Shape,

        /// Submit a thousand a call, and work when all of them are submitted
        #[arg(long)]
        bulk: bool,

        /// Finished executions that are put into the store first; the empty store is measured too when there are any
        #[arg(long, value_name = "N", default_value_t = 0, value_parser = any_number)]
        kept: usize,

        /// Callers that submit at once, and executions worked on at once
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
        workers: usize,

        /// Bytes of each payload
        #[arg(long, value_name = "BYTES", default_value_t = 100, value_parser = payload)]
        payload: usize,

        /// Executions in all
        #[arg(long, value_name = "N", default_value_t = 90_000, value_parser = positive)]
        count: usize,
    },
    /// One claim when few wait and when many do
    Claim {
        #[command(flatten)]
        store: Store,

        /// How many wait, the fewest first
        #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "10000,1000000", value_parser = positive)]
        waiting: Vec<usize>,
    },
    /// Suspend, signal and resume, one at a time and then many at once
    Suspend {
        #[command(flatten)]
        store: Store,

        /// Clients that submit and signal at once, and executions worked on at once
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
        workers: usize,

        /// Executions that suspend while others do
        #[arg(long, value_name = "N", default_value_t = 5_000, value_parser = positive)]
        count: usize,
    },
    /// Executions with steps, beside executions without
    Steps {
        #[command(flatten)]
        store: Store,

        /// Callers that submit at once, and executions worked on at once
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
        workers: usize,

        /// Steps of each execution
        #[arg(long, value_name = "N", default_value_t = 10, value_parser = steps)]
        steps: usize,

        /// Executions with steps in all, and as many without
        #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = positive)]
        count: usize,
    },
    /// Executions of many keys under a quota, beside executions without one
    Quota {
        #[command(flatten)]
        store: Store,
        /// Callers that submit at once, and executions worked on at once
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
        workers: usize,
        /// Values of the quota's key
        #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = positive)]
        keys: usize,
        /// How many of each may be held at once
        #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
        max_concurrent: u32,
        /// Executions under the quota in all, and as many without
        #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = positive)]
        count: usize,
    },
    Fairness(super::bench_fairness::FairnessArgs),
    Schedules(BenchSchedules),
    Budget(super::bench_budget::BudgetArgs),
    /// Put out frames, as many as go, and one at a time to a reader that follows in this program and over a server
    Stream {
        #[command(flatten)]
        store: Store,

        /// Executions that put out frames at once
        #[arg(long, value_name = "N", default_value_t = 4, value_parser = positive)]
        workers: usize,

        /// Bytes of each frame
        #[arg(long, value_name = "BYTES", default_value_t = 100, value_parser = frame)]
        frame: usize,

        /// Frames of all of them
        #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = positive)]
        count: usize,

        /// Readers that follow one execution over a server; its memory is told
        #[arg(long, value_name = "N", default_value_t = 0, value_parser = any_number)]
        readers: usize,
    },
    /// A chain of executions, one flow at a time and then all at once
    Chain {
        #[command(flatten)]
        store: Store,

        /// Executions worked on at once
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
        workers: usize,

        /// Members of each flow
        #[arg(long, value_name = "N", default_value_t = 10, value_parser = positive)]
        nodes: usize,

        /// Flows one after the other, and as many at once
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = positive)]
        flows: usize,
    },
    /// One execution releases many and one waits for all of them, beside the same in many small flows
    Fanout {
        #[command(flatten)]
        store: Store,

        /// Executions worked on at once
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
        workers: usize,

        /// How many are released and waited for
        #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = positive)]
        width: usize,
    },
    /// A quorum is reached while its other upstreams run: how soon they are cancelled
    QuorumCancel {
        #[command(flatten)]
        store: Store,

        /// Upstreams that are cancelled
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = positive)]
        width: usize,

        /// Flows, one after the other
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = positive)]
        flows: usize,
    },
    /// The first page of a search by label, state and time among many
    Search {
        #[command(flatten)]
        store: Store,

        /// How many there are to search
        #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = positive)]
        executions: usize,
    },
    /// Work that few of the workers can run, beside work that all of them can
    Routing {
        #[command(flatten)]
        store: Store,

        /// Workers, each with one execution at a time
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = positive)]
        workers: usize,

        /// One worker in so many is capable
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = positive)]
        one_in: usize,

        /// Executions in all, of which a tenth needs a capable worker
        #[arg(long, value_name = "N", default_value_t = 5_000, value_parser = positive)]
        count: usize,

        /// How long each takes
        #[arg(long, value_name = "SPAN", default_value = "5ms", value_parser = span::parse)]
        work: Duration,
    },
    /// Memory while what has finished is soon forgotten
    Retention {
        #[command(flatten)]
        store: Store,

        /// Callers that submit at once, and executions worked on at once
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
        workers: usize,

        /// Executions in all
        #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = positive)]
        count: usize,

        /// How long what has finished is kept
        #[arg(long, value_name = "SPAN", default_value = "1s", value_parser = span::parse)]
        kept: Duration,
    },
    /// An engine and a worker with nothing to do
    Idle {
        #[command(flatten)]
        store: Store,

        /// Executions the worker could take at once
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
        workers: usize,

        /// How long to look
        #[arg(long = "for", value_name = "SPAN", default_value = "30s", value_parser = span::parse)]
        span: Duration,
    },
}

/// What jobs look like
#[derive(Clone, Copy, ValueEnum)]
enum Shape {
    /// Binary payload, two tags, a priority, a retry policy, and a result of 100 bytes
    Typical,
    /// JSON payload and nothing else
    Plain,
}

impl From<Shape> for JobShape {
    fn from(shape: Shape) -> Self {
        match shape {
            Shape::Typical => Self::Typical,
            Shape::Plain => Self::Plain,
        }
    }
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
            Scenario::Budget(args) => args.measure().await?,
            Scenario::Quota { store, workers, keys, max_concurrent: most, count } => {
                QuotaCost { store: store.store, workers, keys, most, count }.measure().await?
            }
            Scenario::Fairness(args) => args.measure().await?,
            Scenario::Schedules(schedules) => schedules.measure().await?,
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

/// The server that is named on the command line, or else the store.
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
