//! Having an execution go before or after others.

use clap::Args;
use ff_core::contracts::ChangePriorityArgs;
use ff_core::types;

use super::submit::priority;
use crate::exit::Exit;
use crate::id::IdArg;
use crate::output;
use crate::settings::Settings;

/// Have a live execution go before or after others of its lane
#[derive(Args)]
pub(crate) struct Priority {
    /// The execution: {fp:N}:<uuid>, quoted for the shell, or the uuid alone
    id: IdArg,

    /// 0 to 9000; the highest goes first
    #[arg(value_name = "N", value_parser = priority, allow_hyphen_values = true)]
    priority: types::Priority,
}

impl Priority {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let flowfabric = settings.connect().await?;
        let execution_id = self.id.find(&flowfabric.client()).await?;
        let args = ChangePriorityArgs { execution_id, priority: self.priority };
        let changed = flowfabric.backend().change_priority(args).await?;
        if settings.json {
            output::json(&changed)?;
        } else {
            output::line(format_args!("{} has priority {}; it had {}", execution_id, changed.priority, changed.from))?;
        }
        Ok(Exit::Done)
    }
}
