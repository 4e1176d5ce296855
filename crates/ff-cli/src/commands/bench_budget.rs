//! Measuring budgets.

use clap::Args;
use ff_bench::{BudgetCost, Report};

use super::bench_args::{Store, positive};

/// Executions under a budget, beside executions without one; and how long a report of usage takes
#[derive(Args)]
pub(super) struct BudgetArgs {
    #[command(flatten)]
    store: Store,

    /// Callers that submit at once, and executions worked on at once
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
    workers: usize,

    /// Executions under the budget in all, as many without, and as many that report
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = positive)]
    count: usize,
}

impl BudgetArgs {
    pub(super) async fn measure(self) -> anyhow::Result<Report> {
        let Self { store, workers, count } = self;
        BudgetCost { store: store.store, workers, count }.measure().await
    }
}
