//! `ff assign`, `ff unassign` and `ff grants`: executions assigned to one worker instance.

use std::time::Duration;

use clap::Args;
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::contracts::{AssignArgs, GrantInfo, GrantRevoked};
use ff_core::limits;
use ff_core::types::{TimestampMs, WorkerInstanceId};
use serde::Serialize;

use crate::args::{IdArg, span};
use crate::exit::Exit;
use crate::output::{self, Table, or_dash};
use crate::settings::Settings;

/// Assign an execution to one worker instance; no other can claim it for a while
#[derive(Args)]
pub(crate) struct Assign {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    id: IdArg,

    /// Worker instance, as listed by ff workers
    #[arg(long, value_name = "INSTANCE")]
    worker: WorkerInstanceId,

    /// How long the instance has to claim it, from 1s to 1h
    #[arg(long = "for", value_name = "SPAN", default_value = "30s", value_parser = span::parse)]
    ttl: Duration,

    /// Reason, stored while the execution is assigned
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
}

impl Assign {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let client = settings.connect().await?.client();
        let id = self.id.find(settings, &client).await?;
        let args = AssignArgs {
            execution_id: id,
            worker_instance_id: self.worker.clone(),
            ttl_ms: u64::try_from(self.ttl.as_millis()).unwrap_or(limits::GRANT_TTL_MAX_MS + 1),
            reason: self.why,
            requested_by: None,
        };
        let issued = client.assign(args).await?;
        let already = if issued.already { " already" } else { "" };
        let until = span::relative(issued.expires_at, SystemClock.now());
        settings.answer(&issued, || {
            output::line(format_args!("{id} is{already} assigned to {}; any worker may claim it {until}", self.worker))
        })
    }
}

/// End the assignment of an execution before it expires
#[derive(Args)]
pub(crate) struct Unassign {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    id: IdArg,
}

impl Unassign {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let client = settings.connect().await?.client();
        let id = self.id.find(settings, &client).await?;
        let revoked = client.unassign(&id).await?;
        let GrantRevoked { public_state, already } = revoked;
        let was = if already { "was not assigned" } else { "is not assigned any longer" };
        settings.answer(&revoked, || output::line(format_args!("{id} {was}; it is {public_state}")))
    }
}

/// List executions assigned to worker instances
#[derive(Args)]
pub(crate) struct Grants {
    /// Only executions assigned to this worker instance
    #[arg(long, value_name = "INSTANCE")]
    worker: Option<WorkerInstanceId>,
}

#[derive(Serialize)]
struct GrantList {
    grants: Vec<GrantInfo>,
}

impl Grants {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let client = settings.connect().await?.client();
        let mut grants = client.grants(&settings.namespace()).await?;
        grants.retain(|one| self.worker.as_ref().is_none_or(|worker| one.grant.worker_instance_id == *worker));
        let list = GrantList { grants };
        let none = format!("nothing is assigned in namespace {}", settings.namespace());
        settings.answer(&list, || tabulate(&list.grants, SystemClock.now()).print_or(none))
    }
}

fn tabulate(grants: &[GrantInfo], now: TimestampMs) -> Table {
    let mut table = Table::new(&["ID", "WORKER", "KIND", "EXPIRES", "BY", "WHY"]);
    for GrantInfo { execution_id, kind, grant, .. } in grants {
        table.row([
            execution_id.to_string(),
            grant.worker_instance_id.to_string(),
            kind.to_string(),
            span::relative(grant.expires_at, now),
            or_dash(grant.requested_by.as_ref()),
            or_dash(grant.reason.as_ref()),
        ]);
    }
    table
}
