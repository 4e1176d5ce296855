//! Reading an execution and its other records.

use std::sync::Arc;

use bytes::Bytes;
use ff_core::execution::{
    Attempt, AttemptSlot, BlockDetail, DelayReason, Execution, ExecutionDefinition, FinishedBy, Hold, Origin, Outcome,
    Phase, Progress, Tags,
};
use ff_core::lease::{ClaimGrant, LeaseEvent};
use ff_core::payload::{Fingerprint, Payload};
use ff_core::policy::Policy;
use ff_core::singleton::{DebounceState, QueuePlace};
use ff_core::state::PublicState;
use ff_core::types::{AttemptIndex, ContentType, ExecutionId, LaneId, Namespace, Priority, TimestampMs};

use super::lease::{attempt, failure, origin, under_way};
use super::member::{MembershipFields, blocked};
use super::{Hash, lease, suspension, trace_of};
use crate::reply::Fields;
use crate::{ScriptError, Value, budget, step};

/// An execution and its other records, from one consistent read.
pub struct StoredExecution {
    pub execution: Execution,
    pub payload: Option<Payload>,
    pub result: Option<Payload>,
    /// Attempts that ended, oldest first.
    pub attempts: Vec<Attempt>,
    /// Ended leases, oldest first.
    pub leases: Vec<LeaseEvent>,
    /// Whether it ever had a waitpoint. Otherwise it has no waitpoints and no signals.
    pub waited: bool,
    /// Inconsistencies in the stored fields.
    pub strays: Vec<String>,
}

/// The stored suspensions of an execution.
#[derive(Default)]
struct SuspensionFields {
    current: Hash,
    tally: Hash,
    last: Hash,
    signals: u32,
}

impl SuspensionFields {
    /// Reads the fields; none when the execution never had a waitpoint.
    fn read(fields: &mut Fields) -> Result<Option<Self>, ScriptError> {
        let value = match fields.value()? {
            Value::Nil => return Ok(None),
            value => value,
        };
        let mut part = fields.part(value)?;
        let mut hash = || Hash::parse(part.list()?);
        Ok(Some(Self { current: hash()?, tally: hash()?, last: hash()?, signals: part.read()? }))
    }
}

impl StoredExecution {
    /// Reads the answer of `ff_read_execution`.
    pub(crate) fn read(id: ExecutionId, mut fields: Fields) -> Result<Self, ScriptError> {
        let core = Hash::parse(fields.list()?)?;
        let lease = Hash::parse(fields.list()?)?;
        let attempt_fields = Hash::parse(fields.list()?)?;
        let tags = Hash::parse(fields.list()?)?;
        let policy = fields.maybe_bytes()?;
        let payload_bytes = fields.read()?;
        let payload = fields.maybe_bytes()?;
        let result = fields.maybe_bytes()?;
        let mut attempts = Vec::new();
        for (index, value) in (0..).zip(fields.list()?) {
            let Value::List(values) = value else { return Err(ScriptError::parse("a try is not a hash")) };
            let written = Hash::parse(values)?;
            if written.bytes("ended_at").is_some() {
                attempts.push(attempt(AttemptIndex(index), &written)?);
            }
        }
        let leases = fields.list()?.into_iter().map(event).collect::<Result<_, _>>()?;
        let waits = SuspensionFields::read(&mut fields)?;
        let waited = waits.is_some();
        let waits = waits.unwrap_or_default();
        let place = MembershipFields::read(&mut fields)?;
        let mut execution = execution(id, &core, &lease, &attempt_fields, &tags, policy.as_ref(), &waits)?;
        execution.payload_bytes = payload_bytes;
        execution.membership = place.membership(&core)?;
        execution.usage = budget::usage(&core, fields.list()?)?;
        let strays = strays(&execution, &core, &lease, &waits);
        Ok(Self {
            execution,
            payload: payload.map(|bytes| body(&core, "content_type", bytes)).transpose()?,
            result: result.map(|bytes| body(&core, "result_type", bytes)).transpose()?,
            attempts,
            leases,
            waited,
            strays,
        })
    }
}

fn event(line: Value) -> Result<LeaseEvent, ScriptError> {
    let line = if let Value::Bytes(line) = &line { str::from_utf8(line).ok() } else { None };
    line.map_or_else(|| Err(ScriptError::parse("a lease history has a line that is not text")), lease::event)
}

fn execution(
    id: ExecutionId,
    core: &Hash,
    lease: &Hash,
    attempt: &Hash,
    tags: &Hash,
    policy: Option<&Bytes>,
    waits: &SuspensionFields,
) -> Result<Execution, ScriptError> {
    let phase = phase(core, lease, waits)?;
    let attempts_made = core.maybe::<u32>("current_attempt_index")?.map_or(0, |index| index + 1);
    let definition = ExecutionDefinition {
        id,
        namespace: core.maybe("namespace")?.unwrap_or_else(Namespace::default_name),
        lane: core.maybe("lane_id")?.unwrap_or_else(LaneId::default_name),
        kind: core.read("kind")?,
        priority: priority(core.count("priority")?)?,
        tags: tags.all()?.into_iter().collect::<Tags>(),
        policy: read_policy(policy)?,
        lane_retention_ms: core.maybe("lane_retention_ms")?,
        fair_key: core.maybe("fair_key")?.unwrap_or_default(),
        trace: trace_of(core)?,
        idempotency_key: core.maybe("idempotency_key")?,
        fingerprint: fingerprint(core)?,
        payload_bytes: 0,
        created_at: TimestampMs(core.read("created_at")?),
        deadline_at: core.maybe("deadline_at")?.map(TimestampMs),
        forked_from: step::fork_origin(core)?,
    };
    Ok(Execution {
        definition: Arc::new(definition),
        started_at: core.maybe("started_at")?.map(TimestampMs),
        changed_at: changed_at(core, lease)?,
        attempt: slot(&phase, core, lease, attempt, attempts_made)?,
        phase,
        attempts_made,
        retries: core.count("retries")?,
        reclaims: core.count("reclaims")?,
        replays: core.count("replays")?,
        last_lease: lease::last(core, attempt)?,
        progress: progress(core)?,
        failure: failure(core)?,
        streamed: core.bytes("streamed").is_some(),
        steps: step::counter(core)?,
        usage: None,
        last_suspension: suspension::past(&waits.last)?,
        pending_waitpoints: suspension::pending(core)?,
        signals_taken: waits.signals,
        membership: None,
        queue_place: queue_place(core)?,
        hold: hold(core)?,
        blocked_by: detail(core)?,
    })
}

/// Returns the time of the last change of phase: the start of the current lease, otherwise the recorded time, otherwise
/// the creation.
fn changed_at(core: &Hash, lease: &Hash) -> Result<TimestampMs, ScriptError> {
    let changed_at = match lease.maybe("acquired_at")? {
        Some(acquired_at) => Some(acquired_at),
        None => core.maybe("changed_at")?,
    };
    changed_at.map_or_else(|| core.read("created_at"), Ok).map(TimestampMs)
}

fn phase(core: &Hash, lease: &Hash, waits: &SuspensionFields) -> Result<Phase, ScriptError> {
    let finished = |outcome| Ok(Phase::Finished { outcome, at: changed_at(core, lease)?, by: finished_by(core)? });
    match core.read::<PublicState>("public_state")? {
        PublicState::Waiting if core.bytes("blocked_on").is_none() => Ok(Phase::Waiting),
        PublicState::Delayed => {
            let until = TimestampMs(core.read("delayed_until")?);
            Ok(Phase::Delayed { until, why: delay_reason(&core.read::<String>("delayed_why")?)? })
        }
        PublicState::Active => Ok(Phase::Running { lease: lease::current(lease)? }),
        PublicState::Suspended => {
            Ok(Phase::Suspended { suspension: Box::new(suspension::current(&waits.current, &waits.tally)?) })
        }
        PublicState::Waiting | PublicState::RateLimited | PublicState::WaitingChildren => blocked(core),
        PublicState::Completed => finished(Outcome::Success),
        PublicState::Failed => finished(Outcome::Failed),
        PublicState::Cancelled => finished(Outcome::Cancelled),
        PublicState::Expired => finished(Outcome::Expired),
        PublicState::Skipped => finished(Outcome::Skipped),
    }
}

/// Returns the execution's place in the queue of its singleton or debounce key.
fn queue_place(core: &Hash) -> Result<Option<Box<QueuePlace>>, ScriptError> {
    let Some(queue) = core.maybe("queue_key")? else { return Ok(None) };
    let debounced = match core.maybe("debounced_by")? {
        Some(submission) => Some(DebounceState { latest_start: TimestampMs(core.read("latest_start")?), submission }),
        None => None,
    };
    Ok(Some(Box::new(QueuePlace { queue, behind: core.maybe("behind")?, debounced })))
}

/// Returns the hold of an operator, if there is one.
fn hold(core: &Hash) -> Result<Option<Box<Hold>>, ScriptError> {
    let Some(at) = core.maybe("held_at")?.map(TimestampMs) else { return Ok(None) };
    let (requested_by, reason) = (core.owned("held_by")?, core.owned("hold_reason")?);
    Ok(Some(Box::new(Hold { at, requested_by, reason })))
}

/// Returns the details of what blocks the execution. A grant is stored in its own record.
fn detail(core: &Hash) -> Result<Option<Box<BlockDetail>>, ScriptError> {
    if let Some(worker_instance_id) = core.maybe("claim_grant:worker_instance_id")? {
        return Ok(Some(Box::new(BlockDetail::Assignment(ClaimGrant {
            worker_instance_id,
            granted_at: TimestampMs(core.read("claim_grant:granted_at")?),
            expires_at: TimestampMs(core.read("claim_grant:expires_at")?),
            requested_by: core.owned("claim_grant:requested_by")?,
            reason: core.owned("claim_grant:reason")?,
        }))));
    }
    let read = core.bytes("blocking_detail").map(|json| serde_json::from_slice(json)).transpose();
    read.map_err(|error| ScriptError::parse(format!("what an execution is blocked on cannot be read: {error}")))
}

fn delay_reason(word: &str) -> Result<DelayReason, ScriptError> {
    match word {
        "submitted" => Ok(DelayReason::Submitted),
        "backoff" => Ok(DelayReason::Backoff),
        "holder" => Ok(DelayReason::Holder),
        "resume" => Ok(DelayReason::Resume),
        other => Err(ScriptError::parse(format!("nothing is delayed for {other}"))),
    }
}

fn finished_by(core: &Hash) -> Result<FinishedBy, ScriptError> {
    match core.text("finished_by")? {
        None => Ok(FinishedBy::Holder),
        Some("cancel") => Ok(FinishedBy::Cancel {
            reason: core.owned("cancellation_reason")?,
            requested_by: core.owned("cancelled_by")?,
        }),
        Some("deadline") => Ok(FinishedBy::Deadline),
        Some("attempt_timeout") => Ok(FinishedBy::AttemptTimeout),
        Some("reclaim_cap") => Ok(FinishedBy::ReclaimCap),
        Some("suspension_timeout") => Ok(FinishedBy::SuspensionTimeout),
        Some("dependencies") => Ok(FinishedBy::Dependencies),
        Some("flow_cancel") => Ok(FinishedBy::FlowCancel),
        Some("join") => Ok(FinishedBy::Join),
        Some(other) => Err(ScriptError::parse(format!("nothing is finished by {other}"))),
    }
}

/// Returns the open attempt, or the origin of the next one. For a finished execution the next one is a replay.
fn slot(phase: &Phase, core: &Hash, lease: &Hash, open: &Hash, attempts_made: u32) -> Result<AttemptSlot, ScriptError> {
    let last = attempts_made.checked_sub(1).map(AttemptIndex);
    match (phase, core.text("next_attempt")?) {
        (Phase::Running { .. }, _) => Ok(AttemptSlot::Open(under_way(last.unwrap_or_default(), lease)?)),
        (Phase::Finished { .. }, _) => {
            Ok(AttemptSlot::Next(Origin::Replay { of: last, reason: None, requested_by: None }))
        }
        (_, Some("resume")) => Ok(AttemptSlot::Open(attempt(last.unwrap_or_default(), open)?)),
        (_, next) => {
            let (reason, requested_by) = (core.owned("replay_reason")?, core.owned("replay_requested_by")?);
            let origin = origin(next.unwrap_or("initial"), AttemptIndex(attempts_made), reason, requested_by)?;
            Ok(AttemptSlot::Next(origin))
        }
    }
}

fn progress(core: &Hash) -> Result<Option<Progress>, ScriptError> {
    let Some(at) = core.maybe("progress_at")?.map(TimestampMs) else { return Ok(None) };
    let (percent, message) = (core.maybe("progress_percent")?, core.owned("progress_message")?);
    Ok(Some(Progress { percent, message, at }))
}

/// Returns a priority that was stored.
pub(crate) fn priority(stored: i64) -> Result<Priority, ScriptError> {
    Priority::new(stored).map_err(|error| ScriptError::parse(format!("the priority {error}")))
}

fn fingerprint(core: &Hash) -> Result<Fingerprint, ScriptError> {
    let digest = core.bytes("digest").and_then(|bytes| <[u8; 16]>::try_from(&bytes[..]).ok());
    let hex = digest.map(|digest| format!("{:032x}", u128::from_be_bytes(digest)));
    hex.and_then(|hex| hex.try_into().ok()).ok_or_else(|| ScriptError::parse("the field digest cannot be read"))
}

/// Reads a policy; the default policy is not stored.
pub(crate) fn read_policy(json: Option<&Bytes>) -> Result<Policy, ScriptError> {
    let read = json.map(|json| serde_json::from_slice(json));
    let policy = read.transpose().map_err(|error| ScriptError::parse(format!("a policy cannot be read: {error}")))?;
    Ok(policy.unwrap_or_default())
}

/// Returns a payload. Its content type is stored only when it is not JSON.
fn body(core: &Hash, field: &str, bytes: Bytes) -> Result<Payload, ScriptError> {
    Ok(Payload::new(core.maybe(field)?.unwrap_or_else(ContentType::json), bytes))
}

/// Returns the contradictions between values that are stored twice, and the values of a phase that the execution is not
/// in.
fn strays(execution: &Execution, core: &Hash, lease: &Hash, waits: &SuspensionFields) -> Vec<String> {
    let mut strays = lease_strays(execution, lease);
    let shown = match &execution.phase {
        Phase::Suspended { suspension } => suspension.waitpoints.first().map(|bound| bound.id.to_string()),
        _ if waits.current.is_empty() && waits.tally.is_empty() => None,
        _ => {
            strays.push("it is not suspended, yet it has a suspension".into());
            None
        }
    };
    if core.bytes("current_waitpoint_id").map(|id| &id[..]) != shown.as_ref().map(String::as_bytes) {
        strays.push("its current_waitpoint_id is not the first it waits on".into());
    }
    strays
}

/// Returns the contradictions between an execution and its lease. The lease repeats values of the execution, so that
/// the holder's calls need not read the execution.
fn lease_strays(execution: &Execution, lease: &Hash) -> Vec<String> {
    let mut strays = Vec::new();
    if !matches!(execution.phase, Phase::Running { .. }) {
        if !lease.is_empty() {
            strays.push("it is not running, yet it has a lease".into());
        }
        return strays;
    }
    let lane = Some(execution.lane_key()).filter(|lane| *lane != LaneId::default_name());
    let deadline = execution.deadline_at.map(|at| at.to_string());
    for (field, should) in [("lane", lane.as_ref().map(LaneId::as_str)), ("deadline_at", deadline.as_deref())] {
        let is = lease.bytes(field).map(|bytes| &bytes[..]);
        if is != should.map(str::as_bytes) {
            strays.push(format!("its lease has another {field} than itself"));
        }
    }
    strays
}
