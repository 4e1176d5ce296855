//! Checking the invariants of a store.

use std::path::Path;

use anyhow::bail;
use clap::Args;
use ff_sdk::http::wire::DoctorReport;
use ff_sdk::{Connect, FlowFabric};
use indicatif::ProgressBar;

use crate::exit::{Exit, Usage};
use crate::output;
use crate::settings::Settings;
use crate::table::Table;

/// Check the invariants of a store, through its server or directly
#[derive(Args)]
pub(crate) struct Doctor {
    /// A store no server has open, as sqlite:PATH, instead of the server's
    #[arg(long, value_name = "URL", value_parser = super::server::store)]
    store: Option<String>,
}

impl Doctor {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let flowfabric = match &self.store {
            Some(store) => open(store).await?,
            None => settings.connect().await?,
        };
        let report = examine(&flowfabric).await?;
        if settings.json {
            output::json(&report)?
        } else {
            print(&report)?
        }
        Ok(if report.findings.is_empty() { Exit::Done } else { Exit::Trouble })
    }
}

/// Opens a store that is there. Connecting alone would make one that is not, and find nothing wrong with it.
async fn open(store: &str) -> anyhow::Result<FlowFabric> {
    let file = store.strip_prefix("sqlite:").ok_or_else(|| Usage(format!("{store:?} is no file; give sqlite:PATH")))?;
    let file = file.strip_prefix("//").unwrap_or(file);
    let file = file.split('?').next().unwrap_or(file);
    if !Path::new(file).exists() {
        bail!("there is no store at {file}");
    }
    Ok(Connect::to(store).without_engine().connect().await?)
}

/// Examines a store, showing how far it is to whoever looks.
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
