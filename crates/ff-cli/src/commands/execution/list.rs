//! `ff list`: lists executions.

use clap::Args;
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::contracts::{Cursor, ExecutionInfo, Filter};
use ff_core::state::{BlockingReason, EligibilityState, PublicState};
use ff_core::types::{Kind, LaneId, TagKey, TagValue, TimestampMs};

use super::get::blocked_on;
use super::submit::tag;
use crate::args::filter::{self, Term, TimeArg};
use crate::args::{Paging, span, tell_more};
use crate::exit::Exit;
use crate::output::{Table, screen};
use crate::settings::Settings;

/// List executions, newest first
#[derive(Args)]
pub(crate) struct List {
    /// Only executions in this state: waiting, delayed, rate_limited, waiting_children, active, suspended, completed,
    /// failed, cancelled, expired, skipped
    #[arg(long, value_name = "STATE")]
    state: Option<PublicState>,

    /// Only executions blocked for this reason: route, quota, budget, hold or assignment
    #[arg(long, value_name = "REASON", value_parser = filter::reason)]
    reason: Option<BlockingReason>,

    /// Only executions in this lane
    #[arg(long, value_name = "LANE")]
    lane: Option<LaneId>,

    /// Only executions of this kind
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,

    /// Only executions with this tag (repeatable; all must match)
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = tag)]
    tags: Vec<(TagKey, TagValue)>,

    /// Only executions submitted since this time: 2h for two hours ago, or 2026-12-24T18:00:00Z
    #[arg(long, value_name = "WHEN")]
    since: Option<TimeArg>,

    /// Only executions submitted before this time: 10m for ten minutes ago, or 2026-12-24T18:00:00Z
    #[arg(long, value_name = "WHEN")]
    until: Option<TimeArg>,

    #[command(flatten)]
    paging: Paging<Cursor>,
}

impl List {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let (filter, paging) = self.into_filter(settings)?;
        let page = filter::read(&settings.connect().await?.client(), &filter, paging).await?;
        settings.answer(&page, || {
            show(&page.executions, SystemClock.now())?;
            tell_more(page.next_cursor.as_ref());
            Ok(())
        })
    }

    fn into_filter(self, settings: &Settings) -> anyhow::Result<(Filter, Paging<Cursor>)> {
        let terms = [
            self.state.map(Term::State),
            self.reason.map(Term::Reason),
            self.lane.map(Term::Lane),
            self.kind.map(Term::Kind),
            self.since.map(Term::Since),
            self.until.map(Term::Until),
        ];
        let tags = self.tags.into_iter().map(|(key, value)| Term::Tag(key, value));
        let terms = terms.into_iter().flatten().chain(tags).collect();
        Ok((filter::build(settings.namespace(), terms, SystemClock.now())?, self.paging))
    }
}

/// Prints a row for each execution. The failure is in an additional column in a pipe, and on an additional line on a screen.
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

/// Returns the state, with a short reason if the execution is blocked.
fn state(info: &ExecutionInfo) -> String {
    match info.public_state {
        PublicState::WaitingChildren => format!("waiting ({})", blocked_on(info.started_at)),
        state => match info.state.eligibility_state {
            EligibilityState::BlockedByOperator => format!("{state} (held)"),
            EligibilityState::BlockedByRoute => format!("{state} (no capable worker)"),
            EligibilityState::BlockedByQuota => format!("{state} (quota)"),
            EligibilityState::BlockedByBudget => format!("{state} (budget)"),
            _ => state.to_string(),
        },
    }
}

/// Returns the failure of a failed execution.
fn why(info: &ExecutionInfo) -> Option<String> {
    let failure = info.failure.as_ref().filter(|_| info.public_state == PublicState::Failed)?;
    Some(format!("{}: {}", failure.category, failure.message))
}
