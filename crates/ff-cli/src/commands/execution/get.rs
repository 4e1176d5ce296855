//! `ff get`: an execution and its state.

use clap::Args;
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::contracts::{Attempts, ExecutionInfo};
use ff_core::execution::{BlockDetail, FinishedBy, Hold};
use ff_core::state::{BlockingReason, PublicState};
use ff_core::types::TimestampMs;

use crate::args::{IdArg, span};
use crate::commands::suspension::{times_out, waitpoints, waits_for};
use crate::exit::Exit;
use crate::output::{self, Table};
use crate::settings::Settings;

/// Show an execution and its state
#[derive(Args)]
pub(crate) struct Get {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    id: IdArg,

    /// Print the submitted payload instead, byte for byte
    #[arg(long)]
    payload: bool,
}

impl Get {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let client = settings.connect().await?.client();
        let id = self.id.find(settings, &client).await?;
        match (self.payload, settings.json) {
            (true, true) => {
                let payload = client.payload(&id).await?;
                output::json(&ff_api::PayloadView::of(&payload, ff_api::Encoding::Json))?;
            }
            (true, false) => output::bytes(&client.payload(&id).await?.bytes)?,
            (false, true) => output::json(&client.get(&id).await?)?,
            (false, false) => {
                let (info, attempts) = (client.get(&id).await?, client.attempts(&id).await?);
                describe(&info, revoked(&attempts), SystemClock.now()).print()?;
            }
        }
        Ok(Exit::Done)
    }
}

/// Tabulates the properties, one per line. Properties that do not apply are left out.
fn describe(info: &ExecutionInfo, revoked: Option<String>, now: TimestampMs) -> Table {
    let mut table = Table::of_properties();
    let mut row = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            table.row([name, &value]);
        }
    };
    let moment = |at: Option<TimestampMs>| at.map(|at| span::relative(at, now));
    row("id", Some(info.execution_id.to_string()));
    row("kind", Some(info.kind.to_string()));
    row("namespace", (!info.namespace.is_default()).then(|| info.namespace.to_string()));
    row("lane", Some(info.lane_id.to_string()));
    row("priority", Some(info.priority.to_string()));
    row("flow", info.flow_id.as_ref().map(ToString::to_string));
    row("node", info.node.as_ref().map(ToString::to_string));
    row("state", Some(state(info)));
    row("held", info.hold.as_deref().map(|hold| held(hold, now)));
    row("kept back", info.blocking_detail.as_deref().map(blocked_by));
    row("until", moment(info.delayed_until));
    row("worker", info.lease.as_ref().map(|lease| lease.worker_instance_id.to_string()));
    row("lease ends", moment(info.lease.as_ref().map(|lease| lease.expires_at)));
    if let Some(suspension) = &info.suspension {
        row("waits for", Some(waits_for(suspension)));
        row("waits at", Some(waitpoints(suspension)));
        row("waits since", moment(Some(suspension.suspended_at)));
        row("times out", Some(times_out(suspension, now)));
        row("signals", Some(format!("{} counted", suspension.signals_counted)));
        row("suspension", Some(suspension.suspension_id.to_string()));
    }
    row(
        "progress",
        info.progress.as_ref().map(|progress| progress_line(progress.percent, progress.message.as_deref())),
    );
    row("attempts", Some(attempts(info)));
    row("revoked", revoked);
    row("failure", info.failure.as_ref().map(|failure| format!("{}: {}", failure.category, failure.message)));
    row("cancelled", cancelled(info.finished_by.as_ref()));
    row("submitted", moment(Some(info.created_at)));
    row("started", moment(info.started_at));
    row("ended", moment(info.finished_at));
    row("deadline", moment(info.deadline_at));
    row("payload", Some(output::counted(info.payload_bytes, "byte")));
    row("trace", info.trace.as_ref().map(|trace| trace.trace_id().to_owned()));
    row("key", info.idempotency_key.as_ref().map(ToString::to_string));
    row("submission key", info.submission_key.as_ref().map(ToString::to_string));
    for (key, value) in &info.tags {
        row("tag", Some(format!("{key}={value}")));
    }
    table
}

/// Returns the reason of the last revocation for which an operator gave one.
fn revoked(attempts: &Attempts) -> Option<String> {
    attempts.leases.iter().rev().find_map(|lease| lease.reason.clone())
}

/// Describes a hold: its time, and the requester and the reason if given.
fn held(hold: &Hold, now: TimestampMs) -> String {
    let by = hold.requested_by.as_ref().map(|who| format!("by {who}"));
    let why = hold.reason.as_ref().map(|why| format!("({why})"));
    [Some(span::relative(hold.at, now)), by, why].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Describes why an execution is blocked.
fn blocked_by(detail: &BlockDetail) -> String {
    match detail {
        BlockDetail::Route { class } => format!("no worker has {class}"),
        BlockDetail::Quota { name, key, used, limit, .. } if key.is_empty() => {
            format!("quota {name}: {used} of {limit} used")
        }
        BlockDetail::Quota { name, key, used, limit, .. } => format!("quota {name} for {key}: {used} of {limit} used"),
        BlockDetail::Singleton { key, behind } => format!("{behind} of the singleton key {key} has to end first"),
        BlockDetail::Budget { name, dimension, .. } => format!("budget {name}: no {dimension} left"),
        BlockDetail::Assignment(grant) => {
            let by = grant.requested_by.as_ref().map(|who| format!("by {who}"));
            let why = grant.reason.as_ref().map(|why| format!("({why})"));
            let to = format!("assigned to {}", grant.worker_instance_id);
            [Some(to), by, why].into_iter().flatten().collect::<Vec<_>>().join(" ")
        }
    }
}

/// Describes a cancellation: its reason and its requester, if given.
fn cancelled(by: Option<&FinishedBy>) -> Option<String> {
    let FinishedBy::Cancel { reason, requested_by } = by? else { return None };
    let by = requested_by.as_ref().map(|who| format!("(by {who})"));
    let parts: Vec<_> = reason.iter().cloned().chain(by).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Returns the noun for the members that an execution waits for: upstreams before its first attempt, later the children
/// that it added.
pub(in crate::commands) fn blocked_on(started_at: Option<TimestampMs>) -> &'static str {
    if started_at.is_none() { "upstreams" } else { "children" }
}

/// Returns the state, with the blocking reason if the state does not imply it.
pub(in crate::commands) fn state(info: &ExecutionInfo) -> String {
    match (info.public_state, info.state.blocking_reason) {
        (PublicState::Delayed | PublicState::Waiting | PublicState::RateLimited, reason)
            if reason != BlockingReason::None =>
        {
            format!("{}, {}", info.public_state, reason.as_str().replace('_', " "))
        }
        (PublicState::WaitingChildren, _) => format!("waiting ({})", blocked_on(info.started_at)),
        (state, _) => state.to_string(),
    }
}

/// Formats the reported progress.
pub(in crate::commands) fn progress_line(percent: Option<u8>, message: Option<&str>) -> String {
    let percent = percent.map(|percent| format!("{percent}%"));
    percent.into_iter().chain(message.map(str::to_owned)).collect::<Vec<_>>().join(" ")
}

/// Formats the number of attempts, with the numbers of retries, reclaims and replays.
pub(in crate::commands) fn attempts(info: &ExecutionInfo) -> String {
    let count = |number: u32, what: &str| (number > 0).then(|| format!("{number} {what}"));
    let why = [count(info.retries, "retried"), count(info.reclaims, "lost"), count(info.replays, "replayed")];
    let why: Vec<_> = why.into_iter().flatten().collect();
    if why.is_empty() { info.attempts_made.to_string() } else { format!("{} ({})", info.attempts_made, why.join(", ")) }
}
