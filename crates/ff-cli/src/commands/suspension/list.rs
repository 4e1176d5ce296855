//! `ff suspensions`: executions that are suspended until a person or another system answers.

use clap::Args;
use ff_api::Page;
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::contracts::{Cursor, ExecutionInfo, Filter, SuspensionInfo};
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, LaneId, TimestampMs, WaitpointId, WaitpointKey};
use ff_sdk::Client;
use serde::Serialize;

use crate::args::{Paging, filter, span, tell_more};
use crate::exit::Exit;
use crate::output::Table;
use crate::settings::Settings;

/// List suspended executions, with their reasons, waitpoints and timeouts
#[derive(Args)]
pub(crate) struct Suspensions {
    /// Only executions in this lane
    #[arg(long, value_name = "LANE")]
    lane: Option<LaneId>,

    /// Print the approval links of all open waitpoints instead; the holder of a link can answer
    #[arg(long)]
    links: bool,

    #[command(flatten)]
    paging: Paging<Cursor>,
}

impl Suspensions {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let flowfabric = settings.connect().await?;
        let client = flowfabric.client();
        let everything = Filter::everything(settings.namespace());
        let filter = Filter { lane: self.lane, state: Some(PublicState::Suspended), ..everything };
        let page = filter::read(&client, &filter, self.paging).await?;
        if self.links {
            let base = flowfabric.public_url().unwrap_or(&settings.server);
            let links = links(&client, page, base).await?;
            return settings.answer(&links, || links.print());
        }
        settings.answer(&page, || {
            tabulate(&page.executions, SystemClock.now()).print()?;
            tell_more(page.next_cursor.as_ref());
            Ok(())
        })
    }
}

fn tabulate(executions: &[ExecutionInfo], now: TimestampMs) -> Table {
    let mut table = Table::new(&["ID", "KIND", "LANE", "WAITS FOR", "AT", "SINCE", "TIMES OUT", "SIGNALS", "QUESTION"]);
    for info in executions {
        // An execution that resumed during the listing has no suspension.
        let Some(suspension) = &info.suspension else { continue };
        table.row([
            info.execution_id.to_string(),
            info.kind.to_string(),
            info.lane_id.to_string(),
            waits_for(suspension),
            waitpoints(suspension),
            span::relative(suspension.suspended_at, now),
            times_out(suspension, now),
            suspension.signals_counted.to_string(),
            info.progress.as_ref().and_then(|progress| progress.message.clone()).unwrap_or_default(),
        ]);
    }
    table
}

/// Describes the reason of a suspension in words.
pub(in crate::commands) fn waits_for(suspension: &SuspensionInfo) -> String {
    let reason = suspension.reason.as_str().replace('_', " ");
    let reason = reason.strip_prefix("waiting for ").unwrap_or(&reason).to_owned();
    if suspension.escalated_at.is_some() { format!("{reason}, escalated") } else { reason }
}

/// Lists the waitpoints of a suspension by their keys.
pub(in crate::commands) fn waitpoints(suspension: &SuspensionInfo) -> String {
    suspension.waitpoints.iter().map(|bound| bound.key.as_str()).collect::<Vec<_>>().join(", ")
}

/// Formats the timeout of a suspension, and the behavior at that time.
pub(in crate::commands) fn times_out(suspension: &SuspensionInfo, now: TimestampMs) -> String {
    let behavior = suspension.timeout_behavior.as_str().replace('_', " ");
    suspension.timeout_at.map_or("never".to_owned(), |at| format!("{}, then {behavior}", span::relative(at, now)))
}

/// The approval link of a waitpoint.
#[derive(Serialize)]
struct Link {
    execution_id: ExecutionId,
    waitpoint_id: WaitpointId,
    waitpoint_key: WaitpointKey,
    approval_url: String,
}

#[derive(Serialize)]
struct Links {
    links: Vec<Link>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Links {
    fn print(&self) -> anyhow::Result<()> {
        let mut table = Table::new(&["ID", "AT", "LINK"]);
        for link in &self.links {
            table.row([&link.execution_id.to_string(), link.waitpoint_key.as_str(), &link.approval_url]);
        }
        table.print()?;
        tell_more(self.next_cursor.as_ref());
        Ok(())
    }
}

async fn links(client: &Client, page: Page, base: &str) -> anyhow::Result<Links> {
    let mut links = Vec::new();
    for execution_id in page.executions.iter().map(|info| info.execution_id) {
        for open in client.waitpoints(&execution_id).await? {
            let waitpoint = client.open_waitpoint(&execution_id, &open).await?;
            let approval_url = waitpoint.approval_url(base)?;
            let (waitpoint_id, waitpoint_key) = (waitpoint.waitpoint_id, waitpoint.waitpoint_key);
            links.push(Link { execution_id, waitpoint_id, waitpoint_key, approval_url });
        }
    }
    Ok(Links { links, next_cursor: page.next_cursor })
}
