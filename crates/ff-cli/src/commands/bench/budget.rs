//! Benchmark of budgets.

use clap::Args;
use ff_bench::{BudgetCost, Report};

use super::args::{Store, positive};

/// Executions under a budget, compared with executions without one, and the time of a usage report
#[derive(Args)]
pub(super) struct BudgetArgs {
    #[command(flatten)]
    store: Store,

    /// Number of concurrent submitters, and of concurrent executions
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
    workers: usize,

    /// Total number of executions under the budget, of executions without, and of executions that report
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = positive)]
    count: usize,
}

impl BudgetArgs {
    pub(super) async fn measure(self) -> anyhow::Result<Report> {
        let Self { store, workers, count } = self;
        BudgetCost { store: store.store, workers, count }.measure().await
    }
}
