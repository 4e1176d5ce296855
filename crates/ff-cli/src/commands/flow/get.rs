//! `ff flow get`: a flow as a tree of its members.

use clap::Args;
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::contracts::{FlowInfo, GroupInfo, MemberInfo};
use ff_core::flow::{Counts, Join};
use ff_core::state::PublicState;
use ff_core::types::TimestampMs;

use super::snapshot::FlowSnapshot;
use super::tree::{Line, lines};
use crate::args::{FlowIdArg, span};
use crate::commands::execution::blocked_on;
use crate::exit::Exit;
use crate::output::{self, Table, or_dash, screen};
use crate::settings::Settings;

/// Show a flow as a tree of its members
#[derive(Args)]
pub(super) struct Get {
    /// The flow: the uuid printed by `ff flow submit`, or its first digits
    id: FlowIdArg,

    /// Show every member, even of a wide fan-out
    #[arg(long)]
    all: bool,
}

impl Get {
    pub(super) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let flowfabric = settings.connect().await?;
        let id = self.id.find(settings, &flowfabric).await?;
        let flow = FlowSnapshot::read(&flowfabric.client().flow(&id)).await?;
        if settings.json {
            output::json(&flow.into_view())?;
        } else {
            let now = SystemClock.now();
            describe(&flow.info, now).print()?;
            output::line("")?;
            show_members(&flow, self.all, now)?;
        }
        Ok(Exit::Done)
    }
}

/// Tabulates the properties of the flow itself. Properties that do not apply are left out.
fn describe(info: &FlowInfo, now: TimestampMs) -> Table {
    let mut table = Table::of_properties();
    let mut row = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            table.row([name, &value]);
        }
    };
    let moment = |at: Option<TimestampMs>| at.map(|at| span::relative(at, now));
    row("id", Some(info.flow_id.to_string()));
    row("kind", Some(info.kind.to_string()));
    row("namespace", (!info.namespace.is_default()).then(|| info.namespace.to_string()));
    row("state", Some(state(info)));
    row("members", Some(format!("{} ({})", info.nodes, counted(&info.counts))));
    row("revision", (info.graph_revision > 1).then(|| info.graph_revision.to_string()));
    row("submitted", moment(Some(info.created_at)));
    row("started", moment(info.started_at));
    row("ended", moment(info.ended_at));
    row("reason", info.cancel.as_ref().and_then(|cancel| cancel.reason.clone()));
    for (key, value) in &info.tags {
        row("tag", Some(format!("{key}={value}")));
    }
    table
}

/// Returns the state, with the cancel policy or a note that the flow is held open.
fn state(info: &FlowInfo) -> String {
    match (&info.cancel, info.held_open && info.ended_at.is_none()) {
        (Some(cancel), _) => format!("{}, {}", info.state, cancel.policy.as_str().replace('_', " ")),
        (None, true) => format!("{}, more members may come", info.state),
        (None, false) => info.state.to_string(),
    }
}

/// Formats the number of members in each state.
pub(super) fn counted(counts: &Counts) -> String {
    let each = counts.iter().map(|(state, count)| format!("{count} {}", counted_word(state)));
    let each: Vec<_> = each.collect();
    if each.is_empty() { "none".to_owned() } else { each.join(", ") }
}

fn counted_word(state: PublicState) -> String {
    match state {
        PublicState::WaitingChildren => "waiting for others".to_owned(),
        state => state.as_str().replace('_', " "),
    }
}

/// Prints a row for each member. The failure of a member is in an additional column in a pipe, and on an additional
/// line on a screen.
fn show_members(flow: &FlowSnapshot, all: bool, now: TimestampMs) -> anyhow::Result<()> {
    let tree = lines(flow, all);
    let reason = |line: &Line<'_>| match line {
        Line::Member { member, .. } => why(member),
        Line::More { .. } => None,
    };
    let Some(width) = screen::width() else {
        return tabulate(&tree, tree.iter().any(|line| reason(line).is_some()), false, now).print();
    };
    let whole = tabulate(&tree, false, false, now);
    let table = if whole.width() <= width { whole } else { tabulate(&tree, false, true, now) };
    table.print_with_reasons(width, tree.iter().map(reason))
}

/// Tabulates the members. A `short` table has shorter states, and uuids in place of ids; commands accept both.
fn tabulate(tree: &[Line<'_>], with_reason: bool, short: bool, now: TimestampMs) -> Table {
    let headings = ["MEMBER", "STATE", "TOOK", "ATTEMPTS", "WAITS FOR", "ID"];
    let headings: Vec<_> = headings.into_iter().chain(with_reason.then_some("WHY")).collect();
    let mut table = Table::new(&headings).fitting(&["WAITS FOR", "ATTEMPTS", "TOOK"], &["STATE", "MEMBER"]);
    for line in tree {
        match line {
            Line::Member { drawn, member, others } => {
                let id = member.execution_id;
                let cells = [
                    drawn.clone(),
                    member_state(member, short),
                    took(member, now),
                    member.attempts_made.to_string(),
                    waits_for(member, others),
                    if short { id.uuid().to_string() } else { id.to_string() },
                ];
                table.row(cells.into_iter().chain(with_reason.then(|| why(member).unwrap_or_default())));
            }
            Line::More { drawn, counts } => {
                let none = String::new;
                let cells = [drawn.clone(), counted(counts), none(), none(), none(), "--all shows them".to_owned()];
                table.row(cells.into_iter().chain(with_reason.then(none)));
            }
        }
    }
    table
}

/// Returns the state of a member. A blocked member has the noun for its upstreams or children and, if known, the number
/// done.
fn member_state(member: &MemberInfo, short: bool) -> String {
    if member.public_state != PublicState::WaitingChildren {
        return member.public_state.as_str().replace('_', " ");
    }
    let on = blocked_on(member.started_at);
    match member.group {
        Some(group) => {
            let done = group.succeeded + group.failed + group.skipped;
            if short {
                format!("waiting ({on} {done}/{})", group.n)
            } else {
                format!("waiting ({on} {done} of {} done)", group.n)
            }
        }
        None => format!("waiting ({on})"),
    }
}

/// Returns the failure of a failed member.
fn why(member: &MemberInfo) -> Option<String> {
    let failure = member.failure.as_ref().filter(|_| member.public_state == PublicState::Failed)?;
    Some(format!("{}: {}", failure.category, failure.message))
}

fn took(member: &MemberInfo, now: TimestampMs) -> String {
    let since = |started: TimestampMs| span::short(member.finished_at.unwrap_or(now).since(started));
    or_dash(member.started_at.map(since))
}

/// Describes the join of a member's upstreams, and names the upstreams that are drawn elsewhere in the tree.
fn waits_for(member: &MemberInfo, others: &[&MemberInfo]) -> String {
    let join = member.group.and_then(|group| joined(&group));
    let others = match others {
        [] => None,
        [one] => Some(format!("and {}", one.node)),
        [one, two] => Some(format!("and {}, {}", one.node, two.node)),
        [one, rest @ ..] => Some(format!("and {} and {} others", one.node, rest.len())),
    };
    join.into_iter().chain(others).collect::<Vec<_>>().join(", ")
}

/// Describes how the edges into a member join; `None` if it waits for all of at most one edge.
fn joined(group: &GroupInfo) -> Option<String> {
    let needs = match group.join {
        Join::AllOf if group.n <= 1 => return None,
        Join::AllOf => "all".to_owned(),
        Join::AnyOf { .. } => "any".to_owned(),
        Join::Quorum { k, .. } => k.to_string(),
    };
    Some(format!("{needs} of {}: {} succeeded", group.n, group.succeeded))
}
