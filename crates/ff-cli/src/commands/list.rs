//! Which executions there are.

use clap::Args;
use ff_core::clock::{Clock, SystemClock};
use ff_core::contracts::{Cursor, ExecutionInfo, ListArgs, Page};
use ff_core::limits;
use ff_core::state::PublicState;
use ff_core::types::{Kind, LaneId, TagKey, TagValue, TimestampMs};
use ff_sdk::Client;

use super::get::blocked_on;
use super::submit::tag;
use crate::exit::{Exit, tell};
use crate::filter::{self, Term, TimeArg};
use crate::input::{cursor, whole};
use crate::settings::Settings;
use crate::table::Table;
use crate::{output, screen, span};

/// List executions, newest first
#[derive(Args)]
pub(crate) struct List {
    /// Only those in this state: waiting, delayed, waiting_children, active, suspended, completed, failed, cancelled, expired, skipped
    #[arg(long, value_name = "STATE")]
    state: Option<PublicState>,

    /// Only those of this lane
    #[arg(long, value_name = "LANE")]
    lane: Option<LaneId>,

    /// Only those of this kind
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,

    /// Only those with this label; given again, with all of them
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = tag)]
    tags: Vec<(TagKey, TagValue)>,

    /// Only those submitted since: 2h ago, or a moment in milliseconds since 1970
    #[arg(long, value_name = "WHEN")]
    since: Option<TimeArg>,

    /// Only those submitted before: 10m ago, or a moment in milliseconds since 1970
    #[arg(long, value_name = "WHEN")]
    until: Option<TimeArg>,

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

impl List {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let all = self.all;
        let args = self.into_args(settings)?;
        let client = settings.connect().await?.client();
        let page = if all { every_page(&client, args).await? } else { client.list(args).await? };
        if settings.json {
            output::json(&ff_api::Page::from(page))?;
        } else {
            show(&page.executions, SystemClock.now())?;
            if let Some(next) = page.next {
                tell(format_args!("more: --cursor {next}, or --all"));
            }
        }
        Ok(Exit::Done)
    }

    fn into_args(self, settings: &Settings) -> anyhow::Result<ListArgs> {
        let terms = [
            self.state.map(Term::State),
            self.lane.map(Term::Lane),
            self.kind.map(Term::Kind),
            self.since.map(Term::Since),
            self.until.map(Term::Until),
        ];
        let tags = self.tags.into_iter().map(|(key, value)| Term::Tag(key, value));
        let terms = terms.into_iter().flatten().chain(tags).collect();
        let filter = filter::meant(settings.namespace(), terms, SystemClock.now())?;
        Ok(ListArgs { filter, after: self.cursor, limit: if self.all { limits::PAGE } else { self.limit } })
    }
}

/// All pages as one.
pub(super) async fn every_page(client: &Client, mut args: ListArgs) -> anyhow::Result<Page> {
    let mut executions = Vec::new();
    loop {
        let page = client.list(args.clone()).await?;
        executions.extend(page.executions);
        if page.next.is_none() {
            return Ok(Page { executions, next: None });
        }
        args.after = page.next;
    }
}

/// A row for each. Why one failed is in a column of its own in a pipe, and on a line of its own on a screen.
fn show(executions: &[ExecutionInfo], now: TimestampMs) -> anyhow::Result<()> {
    match screen::width() {
        Some(width) => tabulate(executions, false, now).print_with_reasons(width, executions.iter().map(why)),
        None => tabulate(executions, executions.iter().any(|info| why(info).is_some()), now).print(),
    }
}

fn tabulate(executions: &[ExecutionInfo], with_reason: bool, now: TimestampMs) -> Table {
    let headings = ["ID", "STATE", "KIND", "SUBMITTED", "LANE", "ATTEMPTS", "WORKER"];
    let headings: Vec<_> = headings.into_iter().chain(with_reason.then_some("WHY")).collect();
    let mut table = Table::new(&headings).fitting(&["WORKER", "ATTEMPTS", "LANE", "SUBMITTED"], &["KIND"]);
    for info in executions {
        let cells = [
            info.execution_id.to_string(),
            state(info),
            info.kind.to_string(),
            span::relative(info.created_at, now),
            info.lane_id.to_string(),
            info.attempts_made.to_string(),
            info.lease.as_ref().map_or("-", |lease| lease.worker_instance_id.as_str()).to_owned(),
        ];
        table.row(cells.into_iter().chain(with_reason.then(|| why(info).unwrap_or_default())));
    }
    table
}

/// The state in a word or two.
fn state(info: &ExecutionInfo) -> String {
    match info.public_state {
        PublicState::WaitingChildren => format!("waiting ({})", blocked_on(info.started_at)),
        state => state.to_string(),
    }
}

/// What went wrong in one that failed.
fn why(info: &ExecutionInfo) -> Option<String> {
    let failure = info.failure.as_ref().filter(|_| info.public_state == PublicState::Failed)?;
    Some(format!("{}: {}", failure.category, failure.message))
}
