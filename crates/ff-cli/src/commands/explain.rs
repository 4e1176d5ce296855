//! `ff explain`: why an execution, or the work of a lane, does not run.

use clap::Args;
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::explain::{Explanation, LaneExplanation, NextEvent, SuggestedAction};
use ff_core::types::{LaneId, TimestampMs};

use crate::args::{IdArg, span};
use crate::exit::Exit;
use crate::output::{self, Table, or_dash, printable};
use crate::settings::Settings;

/// Explain why an execution or the work of a lane does not run, and suggest actions
#[derive(Args)]
#[command(override_usage = "ff explain [OPTIONS] <ID>\n       ff explain [OPTIONS] --lane <LANE>")]
pub(crate) struct Explain {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    #[arg(required_unless_present = "lane", conflicts_with = "lane")]
    id: Option<IdArg>,

    /// Explain a whole lane
    #[arg(long, value_name = "LANE")]
    lane: Option<LaneId>,
}

impl Explain {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let client = settings.connect().await?.client();
        if let Some(lane) = self.lane {
            let explained = client.explain_lane(&settings.namespace(), &lane).await?;
            return settings.answer(&explained, || show_lane(&explained));
        }
        let Some(id) = self.id else { return Ok(Exit::Error) };
        let explained = client.explain(&id.find(settings, &client).await?).await?;
        settings.answer(&explained, || show(&explained, SystemClock.now()))
    }
}

fn show(explained: &Explanation, now: TimestampMs) -> anyhow::Result<()> {
    output::line(printable(&explained.summary))?;
    let since = span::relative(explained.since, now);
    output::line(format_args!("state: {} since {since}, {}", explained.public_state, explained.blocking_reason))?;
    if let Some(NextEvent { event, at }) = &explained.next {
        let at = at.map_or(String::new(), |at| format!(", {}", span::relative(at, now)));
        output::line(format_args!("next: {event}{at}"))?;
    }
    if !explained.terms.is_empty() {
        let mut table = Table::new(&["TERM", "VERDICT", "UNTIL", "DETAIL"]);
        for term in &explained.terms {
            let until = or_dash(term.until.map(|at| span::relative(at, now)));
            table.row([term.term.to_string(), term.verdict.to_string(), until, term.detail.clone()]);
        }
        table.print()?;
    }
    if !explained.holders.is_empty() {
        let mut table = Table::new(&["HELD BY", "EXECUTION", "SINCE"]);
        for holder in &explained.holders {
            let since = span::relative(holder.since, now);
            table.row([holder.worker_instance_id.to_string(), holder.execution_id.to_string(), since]);
        }
        table.print()?;
    }
    suggest(&explained.actions)
}

fn show_lane(explained: &LaneExplanation) -> anyhow::Result<()> {
    output::line(printable(&explained.summary))?;
    if !explained.causes.is_empty() {
        let mut table = Table::new(&["COUNT", "CAUSE", "DETAIL"]);
        for cause in &explained.causes {
            let over = if cause.more { "over " } else { "" };
            table.row([format!("{over}{}", cause.count), cause.term.to_string(), cause.detail.clone()]);
        }
        table.print()?;
    }
    suggest(&explained.actions)
}

/// Prints the suggested actions, with their commands.
fn suggest(actions: &[SuggestedAction]) -> anyhow::Result<()> {
    actions.iter().try_for_each(|action| output::line(format_args!("{}:\n  {}", action.what, action.command)))
}
