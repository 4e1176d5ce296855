//! Benchmark of fair lanes.

use clap::Args;
use ff_bench::{Fairness, Report};

use super::args::{Store, positive};

/// Fair lanes: small tenants next to a large one, shares by weight, and claims with many keys
#[derive(Args)]
pub(super) struct FairnessArgs {
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
}

impl FairnessArgs {
    pub(super) async fn measure(self) -> anyhow::Result<Report> {
        let Self { store, workers, tenants, count, keys } = self;
        Fairness { store: store.store, workers, tenants, count, keys }.measure().await
    }
}
