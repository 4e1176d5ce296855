//! Measuring fair lanes.

use clap::Args;
use ff_bench::{Fairness, Report};

use super::bench_args::{Store, positive};

/// Tenants with little work beside one with much in a fair lane, shares by weight, and claims with many keys
#[derive(Args)]
pub(super) struct FairnessArgs {
    #[command(flatten)]
    store: Store,

    /// Executions worked on at once
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
    workers: usize,

    /// Tenants; all but one have one execution
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = positive)]
    tenants: usize,

    /// Executions of the one with much work
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = positive)]
    count: usize,

    /// Keys on one partition, beside ten
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = positive)]
    keys: usize,
}

impl FairnessArgs {
    pub(super) async fn measure(self) -> anyhow::Result<Report> {
        let Self { store, workers, tenants, count, keys } = self;
        Fairness { store: store.store, workers, tenants, count, keys }.measure().await
    }
}
