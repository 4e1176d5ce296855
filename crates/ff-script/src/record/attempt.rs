//! Tries: the one under way, which its lease describes, and those that are written down.

use ff_core::execution::{Attempt, AttemptEnd, AttemptOutcome, Failure, Origin};
use ff_core::lease::Holder;
use ff_core::types::{AttemptIndex, TimestampMs};

use super::Hash;
use super::lease::held_attempt;
use crate::ScriptError;

/// A try that is written down. One that was put off has no end yet.
pub(super) fn attempt(index: AttemptIndex, fields: &Hash) -> Result<Attempt, ScriptError> {
    let mut attempt = under_way(index, fields)?;
    if let Some(at) = fields.maybe("ended_at")?.map(TimestampMs) {
        let outcome = outcome(fields.read::<String>("outcome")?.as_str())?;
        attempt.end = Some(AttemptEnd { at, outcome, failure: failure(fields)? });
        // A try of one lease ran from its start to its end, which need not be said.
        attempt.ran_ms = fields.maybe("ran_ms")?.unwrap_or_else(|| at.since(attempt.started_at));
    }
    Ok(attempt)
}

/// The try of a lease that lasts, or of one that became its record. It started with the lease unless it went on.
pub(super) fn under_way(index: AttemptIndex, fields: &Hash) -> Result<Attempt, ScriptError> {
    let started_at = match fields.maybe("started_at")? {
        Some(at) => TimestampMs(at),
        None => TimestampMs(fields.read("acquired_at")?),
    };
    let kind = fields.text("type")?.unwrap_or("initial");
    let (lease_epoch, id) = held_attempt(&fields.read::<String>("attempt")?)?;
    Ok(Attempt {
        index,
        id,
        origin: origin(kind, index, fields.owned("reason")?, fields.owned("requested_by")?)?,
        started_at,
        holder: holder(fields)?,
        lease_epoch,
        ran_ms: fields.count("ran_ms")?,
        end: None,
    })
}

/// Why there was a try. It always follows the one before it.
pub(crate) fn origin(
    kind: &str,
    index: AttemptIndex,
    reason: Option<String>,
    requested_by: Option<String>,
) -> Result<Origin, ScriptError> {
    let before = index.0.checked_sub(1).map(AttemptIndex);
    let of = || before.ok_or_else(|| ScriptError::parse(format!("the first try is a {kind}")));
    match kind {
        "initial" => Ok(Origin::Initial),
        "retry" => Ok(Origin::Retry { of: of()? }),
        "reclaim" => Ok(Origin::Reclaim { of: of()? }),
        "replay" => Ok(Origin::Replay { of: before, reason, requested_by }),
        other => Err(ScriptError::parse(format!("there is no try of type {other}"))),
    }
}

/// Who holds or held something: the worker and its instance, with a space between.
pub(super) fn holder(fields: &Hash) -> Result<Holder, ScriptError> {
    let read = |text: &str| {
        let (worker_id, instance) = text.split_once(' ')?;
        Some(Holder { worker_id: worker_id.parse().ok()?, worker_instance_id: instance.parse().ok()? })
    };
    let holder = fields.text("holder")?.and_then(read);
    holder.ok_or_else(|| ScriptError::parse("the field holder cannot be read"))
}

/// A failure among the fields of a record, if there is one.
pub(super) fn failure(fields: &Hash) -> Result<Option<Failure>, ScriptError> {
    let Some(category) = fields.maybe("failure_category")? else { return Ok(None) };
    let message = fields.owned("failure_message")?.unwrap_or_default();
    Ok(Some(Failure { category, message, permanent: fields.bytes("failure_permanent").is_some() }))
}

fn outcome(word: &str) -> Result<AttemptOutcome, ScriptError> {
    Ok(match word {
        "success" => AttemptOutcome::Success,
        "failure" => AttemptOutcome::Failure,
        "timed_out" => AttemptOutcome::TimedOut,
        "lease_expired" => AttemptOutcome::LeaseExpired,
        "lease_revoked" => AttemptOutcome::LeaseRevoked,
        "cancelled" => AttemptOutcome::Cancelled,
        "deadline_passed" => AttemptOutcome::DeadlinePassed,
        "suspension_timed_out" => AttemptOutcome::SuspensionTimedOut,
        other => return Err(ScriptError::parse(format!("no try ends as {other}"))),
    })
}
