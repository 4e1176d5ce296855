//! Changing what becomes of an execution, or of many: stop it, run it again, take it from its worker.

use clap::Args;
use ff_core::contracts::ReplayArgs;
use ff_core::types::ExecutionId;
use ff_sdk::{Bulk, Client, Search};

use super::many;
use crate::exit::Exit;
use crate::filter::Term;
use crate::output;
use crate::settings::Settings;

/// Stop an execution, or every one a filter means; a running worker is told at once
#[derive(Args)]
pub(crate) struct Cancel {
    #[command(flatten)]
    what: OneOrMany,
}

/// Run an execution again after it ended, or every one a filter means
#[derive(Args)]
pub(crate) struct Replay {
    #[command(flatten)]
    what: OneOrMany,

    /// What depends on it in its flow runs again too
    #[arg(long)]
    reopen_downstream: bool,
}

/// Take an execution from the worker that holds it, so that another can have it
#[derive(Args)]
pub(crate) struct Revoke {
    #[command(flatten)]
    what: Steer,
}

#[derive(Args)]
struct OneOrMany {
    #[arg(required_unless_present = "filter", conflicts_with = "filter")]
    id: Option<ExecutionId>,

    /// Every one of which this is true: lane=, state=, kind=, tag.KEY=, since=, until=, or all; given again, all of it
    #[arg(long, value_name = "FIELD=VALUE")]
    filter: Vec<Term>,

    /// Only say to how many it would be done
    #[arg(long, requires = "filter")]
    dry_run: bool,

    /// Why; it is kept with the execution
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Args)]
struct Steer {
    id: ExecutionId,

    /// Why; it is kept with the execution
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

impl Cancel {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let OneOrMany { id, filter, dry_run, reason } = self.what;
        let Some(id) = id else {
            let begin = |client: &Client, search: Search| because(client.cancel_all(search)?, reason.as_deref());
            return many::act(settings, (filter, dry_run), "cancelled", begin).await;
        };
        let cancelled = settings.connect().await?.client().cancel(&id, reason.as_deref()).await?;
        if settings.json {
            output::json(&cancelled)?;
        } else {
            let already = if cancelled.already { " already" } else { "" };
            output::line(format_args!("{id} is{already} cancelled"))?;
        }
        Ok(Exit::Done)
    }
}

impl Replay {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let OneOrMany { id, filter, dry_run, reason } = self.what;
        let reopen_downstream = self.reopen_downstream;
        let Some(id) = id else {
            let begin = |client: &Client, search: Search| {
                let replaying = client.replay_all(search)?;
                let replaying = if reopen_downstream { replaying.reopen_downstream() } else { replaying };
                because(replaying, reason.as_deref())
            };
            return many::act(settings, (filter, dry_run), "replayed", begin).await;
        };
        let args = ReplayArgs { execution_id: id, reason, requested_by: None, reopen_downstream };
        let replayed = settings.connect().await?.backend().replay(args).await?;
        if settings.json {
            output::json(&replayed)?;
        } else {
            output::line(format_args!("{id} is {} again, replay {}", replayed.public_state, replayed.replays))?;
        }
        Ok(Exit::Done)
    }
}

impl Revoke {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let Steer { id, reason } = self.what;
        let revoked = settings.connect().await?.client().revoke(&id, reason.as_deref()).await?;
        if settings.json {
            output::json(&revoked)?;
        } else {
            let already = if revoked.already { " had already been" } else { " was" };
            output::line(format_args!("lease {} of {id}{already} revoked", revoked.lease_epoch))?;
        }
        Ok(Exit::Done)
    }
}

/// The same with a reason, when there is one.
fn because(bulk: Bulk, reason: Option<&str>) -> Result<Bulk, ff_sdk::Error> {
    Ok(match reason {
        Some(reason) => bulk.reason(reason),
        None => bulk,
    })
}
