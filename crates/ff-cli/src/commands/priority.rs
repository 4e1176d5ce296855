//! Having an execution go before or after others.

use clap::Args;
use ff_core::contracts::ChangePriorityArgs;
use ff_core::types::{self, ExecutionId};

use super::submit::priority;
use crate::exit::Exit;
use crate::output;
use crate::settings::Settings;

/// Have a live execution go before or after others of its lane
#[derive(Args)]
pub(crate) struct Priority {
    id: ExecutionId,

    /// 0 to 9000; the highest goes first
    #[arg(value_name = "N", value_parser = priority, allow_hyphen_values = true)]
    priority: types::Priority,
}

impl Priority {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let args = ChangePriorityArgs { execution_id: self.id, priority: self.priority };
        let changed = settings.connect().await?.backend().change_priority(args).await?;
        if settings.json {
            output::json(&changed)?;
        } else {
            output::line(format_args!("{} has priority {}; it had {}", self.id, changed.priority, changed.from))?;
        }
        Ok(Exit::Done)
    }
}
