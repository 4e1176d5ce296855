//! `ff flow cancel`: cancels a flow.

use std::time::Duration;

use clap::Args;
use ff_core::flow::CancelPolicy;

use super::watch;
use crate::args::{FlowIdArg, span};
use crate::exit::Exit;
use crate::output;
use crate::settings::Settings;

/// Cancel a flow; when the command returns, no member starts unless the policy allows it
#[derive(Args)]
pub(super) struct Cancel {
    /// The flow: the uuid printed by `ff flow submit`, or its first digits
    id: FlowIdArg,

    /// What happens to its members: cancel_all, cancel_pending, let_active_finish, flow_only
    #[arg(long, value_name = "POLICY", default_value = "cancel_all")]
    policy: CancelPolicy,

    /// Reason, stored with the flow
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// Wait until its last member has ended
    #[arg(long)]
    wait: bool,

    /// Maximum time to wait
    #[arg(long, value_name = "SPAN", value_parser = span::parse, requires = "wait")]
    timeout: Option<Duration>,
}

impl Cancel {
    pub(super) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let flowfabric = settings.connect().await?;
        let id = self.id.find(settings, &flowfabric).await?;
        let flow = flowfabric.client().flow(&id);
        let cancelled = flow.cancel(self.policy, self.reason.as_deref()).await?;
        if self.wait {
            // A cancelled flow is the purpose of this command, so its exit code is that of success.
            return Ok(match watch::until_members_ended(settings, &flowfabric, id, self.timeout).await? {
                Exit::Cancelled => Exit::Done,
                exit => exit,
            });
        }
        let already = if cancelled.already { " already" } else { "" };
        let scheduled = match cancelled.scheduled {
            0 => String::new(),
            scheduled => format!(", {scheduled} more on their way"),
        };
        let (stopped, policy) = (cancelled.cancelled, cancelled.policy.as_str().replace('_', " "));
        let line = format!("{id} is{already} cancelled ({policy}): {stopped} members stopped{scheduled}");
        settings.answer(&cancelled, || output::line(line))
    }
}
