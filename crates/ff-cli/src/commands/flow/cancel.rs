//! Stopping a flow.

use std::time::Duration;

use clap::Args;
use ff_core::flow::CancelPolicy;

use super::watch;
use crate::exit::Exit;
use crate::id::FlowIdArg;
use crate::settings::Settings;
use crate::{output, span};

/// Stop a flow; once this is answered, nothing starts that the policy does not spare
#[derive(Args)]
pub(super) struct Cancel {
    /// The flow, by the uuid that `ff flow submit` printed, or its first digits
    id: FlowIdArg,

    /// What becomes of its members: cancel_all, cancel_pending, let_active_finish, flow_only
    #[arg(long, value_name = "POLICY", default_value = "cancel_all")]
    policy: CancelPolicy,

    /// Why; it is kept with the flow
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// Wait until its last member has ended
    #[arg(long)]
    wait: bool,

    /// Wait no longer than this
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
            // The flow was to end as cancelled, so that is no failure.
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
