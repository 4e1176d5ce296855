//! `ff flow replay`: runs a member of a flow again.

use clap::Args;
use ff_core::contracts::ReplayedExecution;
use ff_core::types::NodeName;

use crate::args::FlowIdArg;
use crate::exit::Exit;
use crate::output;
use crate::settings::Settings;

/// Run an ended member of a flow again
#[derive(Args)]
pub(super) struct Replay {
    /// The flow: the uuid printed by `ff flow submit`, or its first digits
    id: FlowIdArg,

    /// Name of the member
    node: NodeName,

    /// Also replay its finished dependents
    #[arg(long)]
    reopen_downstream: bool,

    /// Reason, stored with the execution
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

impl Replay {
    pub(super) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let flowfabric = settings.connect().await?;
        let flow = flowfabric.client().flow(&self.id.find(settings, &flowfabric).await?);
        // This call fails for a missing flow, so that its error differs from that of a missing member.
        flow.describe().await?;
        let (node, reason) = (self.node.as_str(), self.reason.as_deref());
        let replayed = match self.reopen_downstream {
            true => flow.replay_from(node, reason).await?,
            false => flow.replay(node, reason).await?,
        };
        let ReplayedExecution { public_state, replays } = replayed;
        settings
            .answer(&replayed, || output::line(format_args!("{} is {public_state} again, replay {replays}", self.node)))
    }
}
