//! `ff apply` and `ff export`: lanes, quotas, schedules and budgets in a file, and their differences from a store.

mod budget;
mod file;
mod lane;
mod plan;
mod quota;
mod resource;
mod schedule;

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use serde::Serialize;

use self::file::ConfigurationFile;
use self::plan::{Change, Plan};
use self::resource::Tenant;
use crate::exit::Exit;
use crate::output;
use crate::settings::Settings;

/// Apply the lanes, quotas, schedules and budgets of a file, and print the differences first
#[derive(Args)]
pub(crate) struct Apply {
    /// The configuration in YAML or JSON; - for standard input
    #[arg(short, long, value_name = "FILE")]
    file: PathBuf,

    /// Print what would change, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Also delete what is missing in the sections of the file
    #[arg(long)]
    prune: bool,
}

/// Print the lanes, quotas, schedules and budgets of the namespace as a file for apply
#[derive(Args)]
pub(crate) struct Export {}

/// The result as JSON.
#[derive(Serialize)]
struct AppliedFile<'a> {
    dry_run: bool,
    unchanged: usize,
    changes: &'a [Change],
}

impl Apply {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let wanted = ConfigurationFile::read(&self.file, &settings.namespace())?;
        let tenant = connect(settings).await?;
        let mut plan = Plan::of(wanted, &tenant, self.prune).await?;
        if !settings.json {
            plan.changes.iter().try_for_each(output::line)?;
        }
        if !self.dry_run {
            plan.carry_out(&tenant).await?;
        }
        let applied = AppliedFile { dry_run: self.dry_run, unchanged: plan.unchanged, changes: &plan.changes };
        settings.answer(&applied, || output::line(plan.summary(self.dry_run)))
    }
}

impl Export {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let stored = ConfigurationFile::stored(&connect(settings).await?).await?;
        settings.answer(&stored, || {
            let text = serde_saphyr::to_string(&stored).context("cannot write YAML")?;
            output::bytes(text.as_bytes())
        })
    }
}

/// Connects to the server. The namespace may be that of the key, which is known once connected.
async fn connect(settings: &Settings) -> anyhow::Result<Tenant> {
    let client = settings.connect().await?.client();
    Ok(Tenant { client, namespace: settings.namespace() })
}
