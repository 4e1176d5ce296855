//! `ff bench`: benchmarks of a store.

mod args;
mod budget;
mod fairness;
mod schedules;

use std::time::Duration;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use ff_bench::{
    Chain, ClaimCost, Fanout, Idle, JobShape, Lifecycle, QuorumCancel, QuotaCost, Report, Retention, Routing,
    SearchCost, StepCost, StreamCost, SuspendToResume,
};

use self::args::{Store, any_number, frame, payload, positive, steps};
use self::schedules::BenchSchedules;
use crate::args::span;
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

#[derive(Subcommand)]
enum Scenario {
    /// Submit, claim and complete, at full speed and one at a time; in a store, or over HTTP with --server
    Lifecycle {
        /// Store, unless --server is given; the test data stays in it
        #[arg(long, env = "FF_STORE", value_name = "URL", value_parser = crate::commands::server::store)]
        store: Option<String>,

        /// Shape of the jobs
        #[arg(long, value_name = "SHAPE", value_enum, default_value = "typical")]
        job: Shape,

        /// Submit 1000 per call, and start work after the last submission
        #[arg(long)]
        bulk: bool,

        /// Finished executions to add to the store first; the empty store is then measured too
        #[arg(long, value_name = "N", default_value_t = 0, value_parser = any_number)]
        kept: usize,

        /// Number of concurrent submitters, and of concurrent executions
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
        workers: usize,

        /// Size of each payload in bytes
        #[arg(long, value_name = "BYTES", default_value_t = 100, value_parser = payload)]
        payload: usize,

        /// Total number of executions
        #[arg(long, value_name = "N", default_value_t = 90_000, value_parser = positive)]
        count: usize,
    },
    /// One claim with few and with many waiting executions
    Claim {
        #[command(flatten)]
        store: Store,

        /// Numbers of waiting executions, smallest first
        #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "10000,1000000", value_parser = positive)]
        waiting: Vec<usize>,
    },
    /// Suspend, signal and resume, one at a time and then many at once
    Suspend {
        #[command(flatten)]
        store: Store,

        /// Number of concurrent clients that submit and signal, and of concurrent executions
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
        workers: usize,

        /// Number of executions that suspend concurrently
        #[arg(long, value_name = "N", default_value_t = 5_000, value_parser = positive)]
        count: usize,
    },
    /// Executions with steps, compared with executions without
    Steps {
        #[command(flatten)]
        store: Store,

        /// Number of concurrent submitters, and of concurrent executions
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
        workers: usize,

        /// Number of steps per execution
        #[arg(long, value_name = "N", default_value_t = 10, value_parser = steps)]
        steps: usize,

        /// Total number of executions with steps, and of executions without
        #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = positive)]
        count: usize,
    },
    /// Executions of many keys under a quota, compared with executions without one
    Quota {
        #[command(flatten)]
        store: Store,
        /// Number of concurrent submitters, and of concurrent executions
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
        workers: usize,
        /// Number of values of the quota's key
        #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = positive)]
        keys: usize,
        /// Maximum number of executions of each value running at once
        #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
        max_concurrent: u32,
        /// Total number of executions under the quota, and of executions without
        #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = positive)]
        count: usize,
    },
    Fairness(fairness::FairnessArgs),
    Schedules(BenchSchedules),
    Budget(budget::BudgetArgs),
    /// Append frames at full speed, and one at a time to a reader in this process and over a server
    Stream {
        #[command(flatten)]
        store: Store,

        /// Number of executions that append frames concurrently
        #[arg(long, value_name = "N", default_value_t = 4, value_parser = positive)]
        workers: usize,

        /// Size of each frame in bytes
        #[arg(long, value_name = "BYTES", default_value_t = 100, value_parser = frame)]
        frame: usize,

        /// Total number of frames
        #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = positive)]
        count: usize,

        /// Number of readers that follow one execution over a server; also measures the server's memory
        #[arg(long, value_name = "N", default_value_t = 0, value_parser = any_number)]
        readers: usize,
    },
    /// A chain of executions, one flow at a time and then all at once
    Chain {
        #[command(flatten)]
        store: Store,

        /// Number of concurrent executions
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
        workers: usize,

        /// Number of members per flow
        #[arg(long, value_name = "N", default_value_t = 10, value_parser = positive)]
        nodes: usize,

        /// Number of flows one after the other, and then at once
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = positive)]
        flows: usize,
    },
    /// Fan-out to many executions and a join of all, compared with many small flows
    Fanout {
        #[command(flatten)]
        store: Store,

        /// Number of concurrent executions
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
        workers: usize,

        /// Number of executions between fan-out and join
        #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = positive)]
        width: usize,
    },
    /// Time to cancel the other running upstreams once a quorum is reached
    QuorumCancel {
        #[command(flatten)]
        store: Store,

        /// Number of upstreams to cancel
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = positive)]
        width: usize,

        /// Number of flows, one after the other
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = positive)]
        flows: usize,
    },
    /// First page of a search by tag, state and time among many executions
    Search {
        #[command(flatten)]
        store: Store,

        /// Number of executions to search
        #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = positive)]
        executions: usize,
    },
    /// Work that few workers can run, next to work that all can run
    Routing {
        #[command(flatten)]
        store: Store,

        /// Number of workers, each with one execution at a time
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = positive)]
        workers: usize,

        /// One worker in this many is capable
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = positive)]
        one_in: usize,

        /// Total number of executions, of which a tenth needs a capable worker
        #[arg(long, value_name = "N", default_value_t = 5_000, value_parser = positive)]
        count: usize,

        /// Duration of each execution
        #[arg(long, value_name = "SPAN", default_value = "5ms", value_parser = span::parse)]
        work: Duration,
    },
    /// Memory use while finished executions are deleted soon
    Retention {
        #[command(flatten)]
        store: Store,

        /// Number of concurrent submitters, and of concurrent executions
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
        workers: usize,

        /// Total number of executions
        #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = positive)]
        count: usize,

        /// How long finished executions are kept
        #[arg(long, value_name = "SPAN", default_value = "1s", value_parser = span::parse)]
        kept: Duration,
    },
    /// An idle engine and an idle worker
    Idle {
        #[command(flatten)]
        store: Store,

        /// Number of executions the worker could run at once
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
        workers: usize,

        /// Duration of the measurement
        #[arg(long = "for", value_name = "SPAN", default_value = "30s", value_parser = span::parse)]
        span: Duration,
    },
}

/// Shape of the jobs
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
