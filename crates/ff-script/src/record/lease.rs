//! Reading leases and attempts: the current lease, the last one, the history, and stored attempts.

use ff_core::execution::{Attempt, AttemptEnd, AttemptOutcome, Failure, Origin};
use ff_core::lease::{Fence, Holder, LastLease, Lease, LeaseEnding, LeaseEvent};
use ff_core::limits;
use ff_core::types::{AttemptId, AttemptIndex, LeaseEpoch, LeaseId, TimestampMs};

use super::Hash;
use crate::ScriptError;
use crate::quota::slots_of;

/// Reads the current lease.
pub(super) fn current(fields: &Hash) -> Result<Lease, ScriptError> {
    Ok(Lease {
        fence: fence(fields.read("lease_id")?, &fields.read::<String>("attempt")?)?,
        holder: holder(fields)?,
        acquired_at: TimestampMs(fields.read("acquired_at")?),
        until: TimestampMs(fields.read("expires_at")?),
        ttl_ms: fields.maybe("ttl_ms")?.unwrap_or(limits::LEASE_TTL_MS),
        timeout_at: fields.maybe("timeout_at")?.map(TimestampMs),
        limited: fields.bytes("limited").is_some(),
        slots: match fields.text("slots")? {
            Some(text) => slots_of(text).ok_or_else(|| ScriptError::parse("the slots of a lease cannot be read"))?,
            None => Vec::new(),
        },
    })
}

/// Reads the last lease that ended, if there was one. The lease of a plain first attempt that completed is found in the
/// attempt's record.
pub(super) fn last(core: &Hash, attempt: &Hash) -> Result<Option<LastLease>, ScriptError> {
    let (lease_id, last_attempt) = match core.maybe("last_lease_id")? {
        Some(lease_id) => (lease_id, core.read::<String>("last_attempt")?),
        None => match attempt.maybe("lease_id")? {
            Some(lease_id) => (lease_id, attempt.read("attempt")?),
            None => return Ok(None),
        },
    };
    let ended = ending(core.text("last_lease_ended")?.unwrap_or("completed"), core.maybe("last_lease_until")?)?;
    Ok(Some(LastLease { fence: fence(lease_id, &last_attempt)?, ended }))
}

/// Parses a fence: the lease's id, and the text of epoch and attempt.
fn fence(lease_id: LeaseId, attempt: &str) -> Result<Fence, ScriptError> {
    let (lease_epoch, attempt_id) = held_attempt(attempt)?;
    Ok(Fence { lease_id, lease_epoch, attempt_id })
}

/// Parses the epoch and the attempt, which a space separates.
pub(super) fn held_attempt(text: &str) -> Result<(LeaseEpoch, AttemptId), ScriptError> {
    let read = || {
        let (epoch, attempt_id) = text.split_once(' ')?;
        Some((LeaseEpoch(epoch.parse().ok()?), attempt_id.parse().ok()?))
    };
    read().ok_or_else(|| ScriptError::parse("a fence cannot be read"))
}

/// Parses one line of the lease history.
pub(super) fn event(line: &str) -> Result<LeaseEvent, ScriptError> {
    let read = || {
        let mut words = line.splitn(11, ' ');
        let mut word = || words.next();
        Some(LeaseEvent {
            attempt_index: AttemptIndex(word()?.parse().ok()?),
            fence: Fence {
                lease_id: word()?.parse().ok()?,
                lease_epoch: LeaseEpoch(word()?.parse().ok()?),
                attempt_id: word()?.parse().ok()?,
            },
            holder: Holder { worker_id: word()?.parse().ok()?, worker_instance_id: word()?.parse().ok()? },
            acquired_at: TimestampMs(word()?.parse().ok()?),
            ended_at: TimestampMs(word()?.parse().ok()?),
            ended: ending(word()?, word().filter(|until| *until != "-").map(str::parse).transpose().ok()?).ok()?,
            reason: word().map(str::to_owned),
        })
    };
    read().ok_or_else(|| ScriptError::parse("a line of a lease history cannot be read"))
}

/// Returns the ending of a lease, by its word and the time that goes with it.
pub(crate) fn ending(word: &str, until: Option<i64>) -> Result<LeaseEnding, ScriptError> {
    let until = until.map(TimestampMs);
    Ok(match (word, until) {
        ("completed", _) => LeaseEnding::Completed,
        ("failed", retry_at) => LeaseEnding::Failed { retry_at },
        ("delayed", Some(until)) => LeaseEnding::Delayed { until },
        ("suspended", _) => LeaseEnding::Suspended,
        ("waiting_for_children", _) => LeaseEnding::WaitingForChildren,
        ("expired", _) => LeaseEnding::Expired,
        ("revoked", _) => LeaseEnding::Revoked,
        ("timed_out", _) => LeaseEnding::TimedOut,
        ("cancelled", _) => LeaseEnding::Cancelled,
        ("deadline_passed", _) => LeaseEnding::DeadlinePassed,
        (other, _) => return Err(ScriptError::parse(format!("no lease ends as {other}"))),
    })
}

/// Reads a stored attempt. An attempt that was delayed has no end yet.
pub(super) fn attempt(index: AttemptIndex, fields: &Hash) -> Result<Attempt, ScriptError> {
    let mut attempt = under_way(index, fields)?;
    if let Some(at) = fields.maybe("ended_at")?.map(TimestampMs) {
        let outcome = attempt_outcome(fields.read::<String>("outcome")?.as_str())?;
        attempt.end = Some(AttemptEnd { at, outcome, failure: failure(fields)? });
        // The running time of an attempt with a single lease is not stored: it is the time from start to end.
        attempt.ran_ms = fields.maybe("ran_ms")?.unwrap_or_else(|| at.since(attempt.started_at));
    }
    Ok(attempt)
}

/// Reads the attempt of a current lease, or of one that became the attempt's record. It started with the lease, unless
/// it was resumed.
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

/// Returns the origin of an attempt. It always refers to the previous attempt.
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

/// Reads the holder of a lease: the worker and its instance, with a space between.
pub(super) fn holder(fields: &Hash) -> Result<Holder, ScriptError> {
    let read = |text: &str| {
        let (worker_id, instance) = text.split_once(' ')?;
        Some(Holder { worker_id: worker_id.parse().ok()?, worker_instance_id: instance.parse().ok()? })
    };
    let holder = fields.text("holder")?.and_then(read);
    holder.ok_or_else(|| ScriptError::parse("the field holder cannot be read"))
}

/// Reads the failure in a record, if there is one.
pub(super) fn failure(fields: &Hash) -> Result<Option<Failure>, ScriptError> {
    let Some(category) = fields.maybe("failure_category")? else { return Ok(None) };
    let message = fields.owned("failure_message")?.unwrap_or_default();
    Ok(Some(Failure { category, message, permanent: fields.bytes("failure_permanent").is_some() }))
}

pub(crate) fn attempt_outcome(word: &str) -> Result<AttemptOutcome, ScriptError> {
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
