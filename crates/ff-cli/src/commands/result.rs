//! What came out of an execution.

use std::time::Duration;

use clap::Args;
use ff_core::types::ExecutionId;

use crate::exit::Exit;
use crate::settings::Settings;
use crate::{ending, span};

/// Print the result of an execution, or how else it ended
#[derive(Args)]
pub(crate) struct Result {
    id: ExecutionId,

    /// Wait for the end
    #[arg(long)]
    wait: bool,

    /// Wait no longer than this
    #[arg(long, value_name = "SPAN", value_parser = span::parse, requires = "wait")]
    timeout: Option<Duration>,
}

impl Result {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let client = settings.connect().await?.client();
        if self.wait {
            return ending::wait(settings, &client, &self.id, self.timeout).await;
        }
        let end = client.result(&self.id).await?;
        ending::show(settings, &end.0)
    }
}
