//! `ff doctor`: checks the invariants of a store.

use clap::Args;
use ff_api::DoctorReport;
use ff_sdk::{Connect, FlowFabric};
use indicatif::ProgressBar;

use crate::exit::Exit;
use crate::output::{self, Table};
use crate::settings::Settings;

/// Check the invariants of a store, through its server or directly
#[derive(Args)]
pub(crate) struct Doctor {
    /// Use this store directly, such as sqlite:PATH or postgres://HOST/DATABASE; no other process may have a file open
    #[arg(long, value_name = "URL", value_parser = super::server::store)]
    store: Option<String>,
}

impl Doctor {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let flowfabric = match &self.store {
            // Without `existing`, connecting would create a missing store, and the check would find nothing wrong with it.
            Some(store) => Connect::to(store).existing().without_engine().connect().await?,
            None => settings.connect().await?,
        };
        let report = examine(&flowfabric).await?;
        settings.answer(&report, || print(&report))?;
        Ok(if report.findings.is_empty() { Exit::Done } else { Exit::Error })
    }
}

/// Examines a store with a progress bar, and closes the connection.
async fn examine(flowfabric: &FlowFabric) -> anyhow::Result<DoctorReport> {
    let bar = ProgressBar::new(flowfabric.backend().partitions().num_flow_partitions.into());
    let report = flowfabric.examine(|_| bar.inc(1)).await;
    bar.finish_and_clear();
    flowfabric.shutdown().await;
    Ok(report?)
}

fn print(report: &DoctorReport) -> anyhow::Result<()> {
    let seen = format!("{} executions on {} partitions", report.executions, report.partitions);
    if report.findings.is_empty() {
        return output::line(format_args!("{seen}: nothing is wrong"));
    }
    let mut table = Table::new(&["ABOUT", "INVARIANT", "WHAT"]);
    for finding in &report.findings {
        table.row([&finding.about, &finding.invariant, &finding.what]);
    }
    table.print()?;
    output::line(format_args!("{seen}: {} wrong", report.findings.len()))
}
