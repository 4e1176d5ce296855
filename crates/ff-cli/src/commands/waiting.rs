//! What waits for people or the outside world.

use clap::Args;
use ff_core::clock::{Clock, SystemClock};
use ff_core::contracts::{Cursor, ExecutionInfo, Filter, ListArgs, Page, SuspensionInfo};
use ff_core::limits;
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, LaneId, TimestampMs, WaitpointId, WaitpointKey};
use ff_sdk::Client;
use serde::Serialize;

use super::list::every_page;
use crate::exit::{Exit, tell};
use crate::input::{cursor, whole};
use crate::settings::Settings;
use crate::table::Table;
use crate::{output, span};

/// List what waits: for whom or what, since when, and for how long it may
#[derive(Args)]
pub(crate) struct Waiting {
    /// Only those of this lane
    #[arg(long, value_name = "LANE")]
    lane: Option<LaneId>,

    /// Print the approval link of every open waitpoint instead; whoever has one can answer
    #[arg(long)]
    links: bool,

    /// How many at most
    #[arg(long, value_name = "N", default_value_t = limits::PAGE_DEFAULT, value_parser = whole::<usize>)]
    limit: usize,

    /// Go on where another listing ended
    #[arg(long, value_name = "CURSOR", value_parser = cursor::<Cursor>)]
    cursor: Option<Cursor>,

    /// All there are, however many
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

impl Waiting {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let flowfabric = settings.connect().await?;
        let client = flowfabric.client();
        let args = ListArgs {
            filter: Filter {
                lane: self.lane,
                state: Some(PublicState::Suspended),
                ..Filter::everything(settings.namespace())
            },
            after: self.cursor,
            limit: if self.all { limits::PAGE } else { self.limit },
        };
        let page = if self.all { every_page(&client, args).await? } else { client.list(args).await? };
        let next = page.next;
        if self.links {
            let base = flowfabric.public_url().unwrap_or(&settings.server);
            show_links(settings, &client, page, base).await?;
        } else if settings.json {
            output::json(&ff_api::Page::from(page))?;
        } else {
            tabulate(&page.executions, SystemClock.now()).print()?;
        }
        if let Some(next) = next.filter(|_| !settings.json) {
            tell(format_args!("more: --cursor {next}, or --all"));
        }
        Ok(Exit::Done)
    }
}

fn tabulate(executions: &[ExecutionInfo], now: TimestampMs) -> Table {
    let mut table = Table::new(&["ID", "KIND", "LANE", "WAITS FOR", "AT", "SINCE", "TIMES OUT", "SIGNALS", "QUESTION"]);
    for info in executions {
        // One that went on while it was listed waits no more.
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

/// Why it waits, in words.
pub(super) fn waits_for(suspension: &SuspensionInfo) -> String {
    let reason = suspension.reason.as_str().replace('_', " ");
    let reason = reason.strip_prefix("waiting for ").unwrap_or(&reason).to_owned();
    if suspension.escalated_at.is_some() { format!("{reason}, escalated") } else { reason }
}

/// Where it can be signalled, by the keys outsiders know.
pub(super) fn waitpoints(suspension: &SuspensionInfo) -> String {
    suspension.waitpoints.iter().map(|bound| bound.key.as_str()).collect::<Vec<_>>().join(", ")
}

/// When its patience ends, and what happens then.
pub(super) fn times_out(suspension: &SuspensionInfo, now: TimestampMs) -> String {
    let behavior = suspension.timeout_behavior.as_str().replace('_', " ");
    suspension.timeout_at.map_or("never".to_owned(), |at| format!("{}, then {behavior}", span::relative(at, now)))
}

/// The link to one waitpoint's page.
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

async fn show_links(settings: &Settings, client: &Client, page: Page, base: &str) -> anyhow::Result<()> {
    let mut links = Vec::new();
    for execution_id in page.executions.iter().map(|info| info.execution_id) {
        for open in client.waitpoints(&execution_id).await? {
            let waitpoint = client.open_waitpoint(&execution_id, &open).await?;
            let approval_url = waitpoint.approval_url(base)?;
            let (waitpoint_id, waitpoint_key) = (waitpoint.waitpoint_id, waitpoint.waitpoint_key);
            links.push(Link { execution_id, waitpoint_id, waitpoint_key, approval_url });
        }
    }
    if settings.json {
        return output::json(&Links { links, next_cursor: page.next.map(|cursor| cursor.to_string()) });
    }
    let mut table = Table::new(&["ID", "AT", "LINK"]);
    for link in links {
        table.row([link.execution_id.to_string(), link.waitpoint_key.to_string(), link.approval_url]);
    }
    table.print()
}
