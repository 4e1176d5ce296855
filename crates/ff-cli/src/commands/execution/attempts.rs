//! `ff attempts`: all attempts of an execution.

use clap::Args;
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::contracts;
use ff_core::execution::{Attempt, AttemptOutcome, Origin};
use ff_core::lease::LeaseEnding;
use ff_core::types::TimestampMs;
use serde_json::json;

use crate::args::{IdArg, span};
use crate::exit::Exit;
use crate::output::{self, Table, or_dash};
use crate::settings::Settings;

/// Show all attempts of an execution, with their workers and outcomes
#[derive(Args)]
pub(crate) struct Attempts {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    id: IdArg,
}

impl Attempts {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let client = settings.connect().await?.client();
        let attempts = client.attempts(&self.id.find(settings, &client).await?).await?;
        settings.answer(&attempts, || show(&attempts, SystemClock.now()))
    }
}

fn show(found: &contracts::Attempts, now: TimestampMs) -> anyhow::Result<()> {
    let mut table = Table::new(&["ATTEMPT", "TYPE", "WORKER", "STARTED", "RAN", "END", "WHY"]);
    for attempt in &found.attempts {
        let ended_at = attempt.end.as_ref().map_or(now, |end| end.at);
        table.row([
            attempt.index.to_string(),
            origin(&attempt.origin).to_owned(),
            attempt.holder.worker_instance_id.to_string(),
            span::relative(attempt.started_at, now),
            span::short(ended_at.since(attempt.started_at)),
            or_dash(attempt.end.as_ref().map(|end| outcome(end.outcome))),
            why(attempt),
        ]);
    }
    table.print()?;
    if found.leases.is_empty() {
        return Ok(());
    }
    output::line("\nLeases that were taken away or given up:")?;
    let mut table = Table::new(&["ATTEMPT", "EPOCH", "WORKER", "ENDED", "HOW", "WHY"]);
    for lease in &found.leases {
        table.row([
            lease.attempt_index.to_string(),
            lease.fence.lease_epoch.to_string(),
            lease.holder.worker_instance_id.to_string(),
            span::relative(lease.ended_at, now),
            ending(lease.ended).to_owned(),
            lease.reason.clone().unwrap_or_default(),
        ]);
    }
    table.print()
}

fn origin(origin: &Origin) -> &'static str {
    match origin {
        Origin::Initial => "initial",
        Origin::Retry { .. } => "retry",
        Origin::Reclaim { .. } => "reclaim",
        Origin::Replay { .. } => "replay",
    }
}

/// Returns the word for an outcome in the API, with spaces.
fn outcome(outcome: AttemptOutcome) -> String {
    json!(outcome).as_str().unwrap_or_default().replace('_', " ")
}

fn ending(ending: LeaseEnding) -> &'static str {
    match ending {
        LeaseEnding::Completed => "completed",
        LeaseEnding::Failed { .. } => "failed",
        LeaseEnding::Delayed { .. } => "delayed",
        LeaseEnding::Suspended => "suspended",
        LeaseEnding::WaitingForChildren => "waits for children",
        LeaseEnding::Expired => "expired",
        LeaseEnding::Revoked => "revoked",
        LeaseEnding::TimedOut => "timed out",
        LeaseEnding::Cancelled => "cancelled",
        LeaseEnding::DeadlinePassed => "deadline passed",
    }
}

/// Returns the failure of an attempt, or else the reason of the replay that started it.
fn why(attempt: &Attempt) -> String {
    let failure = attempt.end.as_ref().and_then(|end| end.failure.as_ref());
    match (failure, &attempt.origin) {
        (Some(failure), _) => format!("{}: {}", failure.category, failure.message),
        (None, Origin::Replay { reason: Some(reason), .. }) => reason.clone(),
        _ => String::new(),
    }
}
