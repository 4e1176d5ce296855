//! Benchmark of the delay of ticks.

use std::time::Duration;

use clap::Args;
use ff_bench::{Report, ScheduleLateness};

use super::args::{Store, positive};
use crate::args::span;

/// Delay of the ticks of many schedules, compared with a timer of the same process
#[derive(Args)]
pub(super) struct BenchSchedules {
    #[command(flatten)]
    store: Store,

    /// Number of schedules, each of which ticks once
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = positive)]
    count: usize,

    /// Span over which the ticks are spread
    #[arg(long, value_name = "SPAN", default_value = "60s", value_parser = span::parse)]
    span: Duration,
}

impl BenchSchedules {
    pub(super) async fn measure(self) -> anyhow::Result<Report> {
        let Self { store, count, span } = self;
        ScheduleLateness { store: store.store, count, span }.measure().await
    }
}
