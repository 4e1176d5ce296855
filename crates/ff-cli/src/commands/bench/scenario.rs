//! The scenarios of `ff bench`, with their options.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use ff_bench::JobShape;
use ff_core::limits;

use crate::args::span;
use crate::commands::server;

#[derive(Subcommand)]
pub(super) enum Scenario {
    /// Submit, claim and complete, at full speed and one at a time; in a store, or over HTTP with --server
    Lifecycle {
        /// Store, unless --server is given; the test data stays in it
        #[arg(long, env = "FF_STORE", value_name = "URL", value_parser = server::store)]
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
    /// Fair lanes: small tenants next to a large one, shares by weight, and claims with many keys
    Fairness {
        #[command(flatten)]
        store: Store,

        /// Number of concurrent executions
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
        workers: usize,

        /// Number of tenants; all but one have one execution
        #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = positive)]
        tenants: usize,

        /// Number of executions of the large tenant
        #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = positive)]
        count: usize,

        /// Number of keys on one partition, compared with ten keys
        #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = positive)]
        keys: usize,
    },
    /// Delay of the ticks of many schedules, compared with a timer of the same process
    Schedules {
        #[command(flatten)]
        store: Store,

        /// Number of schedules, each of which ticks once
        #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = positive)]
        count: usize,

        /// Span over which the ticks are spread
        #[arg(long, value_name = "SPAN", default_value = "60s", value_parser = span::parse)]
        span: Duration,
    },
    /// Executions under a budget, compared with executions without one, and the time of a usage report
    Budget {
        #[command(flatten)]
        store: Store,

        /// Number of concurrent submitters, and of concurrent executions
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
        workers: usize,

        /// Total number of executions under the budget, of executions without, and of executions that report
        #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = positive)]
        count: usize,
    },
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
pub(super) enum Shape {
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

#[derive(Args)]
pub(super) struct Store {
    /// Store: sqlite:PATH, postgres://HOST/DATABASE or valkey://HOST:PORT; the test data stays in it
    #[arg(long, env = "FF_STORE", value_name = "URL", value_parser = server::store)]
    pub(super) store: String,
}

/// Upper limit of counts. A larger measurement would take more than a day.
const MOST: usize = 1_000_000_000;

fn positive(text: &str) -> Result<usize, String> {
    within(text, 1, MOST)
}

fn frame(text: &str) -> Result<usize, String> {
    within(text, 1, limits::FRAME_BYTES)
}

fn steps(text: &str) -> Result<usize, String> {
    within(text, 1, limits::STEPS as usize)
}

fn any_number(text: &str) -> Result<usize, String> {
    within(text, 0, MOST)
}

fn payload(text: &str) -> Result<usize, String> {
    within(text, 0, limits::PAYLOAD_BYTES)
}

fn within(text: &str, least: usize, most: usize) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("must be a whole number from {least} to {most}"))
}
