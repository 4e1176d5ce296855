//! Changing what becomes of an execution: stop it, run it again, take it from its worker.

use clap::Args;
use ff_core::contracts::ReplayArgs;
use ff_core::types::ExecutionId;

use crate::exit::Exit;
use crate::output;
use crate::settings::Settings;

/// Stop an execution; a running worker is told at once
#[derive(Args)]
pub(crate) struct Cancel {
    #[command(flatten)]
    what: Steer,
}

/// Run an execution again after it ended
#[derive(Args)]
pub(crate) struct Replay {
    #[command(flatten)]
    what: Steer,

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
struct Steer {
    id: ExecutionId,

    /// Why; it is kept with the execution
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

impl Cancel {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let Steer { id, reason } = self.what;
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
        let Steer { id, reason } = self.what;
        let args =
            ReplayArgs { execution_id: id, reason, requested_by: None, reopen_downstream: self.reopen_downstream };
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
