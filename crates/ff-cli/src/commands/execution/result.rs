//! `ff result`: the result of an execution.

use std::time::Duration;

use clap::Args;

use crate::args::{IdArg, span};
use crate::ending;
use crate::exit::Exit;
use crate::settings::Settings;

/// Print the result of an execution, or how it ended
#[derive(Args)]
pub(crate) struct Result {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    id: IdArg,

    /// Wait until the execution ends
    #[arg(long)]
    wait: bool,

    /// Maximum time to wait
    #[arg(long, value_name = "SPAN", value_parser = span::parse, requires = "wait")]
    timeout: Option<Duration>,
}

impl Result {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let client = settings.connect().await?.client();
        let id = self.id.find(settings, &client).await?;
        if self.wait {
            return ending::wait(settings, &client, &id, self.timeout).await;
        }
        let end = client.result(&id).await?;
        ending::show(settings, &end.0)
    }
}
