//! Reading suspensions and waitpoints: the current suspension with its counted signals, and the last one that ended.

use std::collections::BTreeMap;

use ff_core::contracts::Resumption;
use ff_core::suspension::{
    BoundWaitpoint, Condition, CountedSignal, Distinct, PastSuspension, PendingWaitpoint, ResumePolicy, Suspension,
    SuspensionEnd, Tally, Waitpoint, WaitpointClosed,
};
use ff_core::token::{Mac, WaitpointToken};
use ff_core::types::{ExecutionId, LeaseEpoch, TimestampMs, WaitpointId};

use super::Hash;
use crate::ScriptError;
use crate::reply::Fields;

/// Reads the current suspension of an execution.
pub(super) fn current(fields: &Hash, counted: &Hash) -> Result<Suspension, ScriptError> {
    let json = fields.read::<String>("condition")?;
    let condition = Condition::parse(json.as_bytes()).map_err(|error| unreadable("a condition", &error))?;
    let resume_policy = fields.bytes("policy").map(|json| ResumePolicy::parse(json)).transpose();
    let mut lists = lists(counted)?;
    let tally = condition.leaves().into_iter().zip(1..).map(|(leaf, nth)| of_leaf(leaf, lists.remove(&nth))).collect();
    let uncounted = lists.remove(&0).unwrap_or_default();
    Ok(Suspension {
        id: fields.read("suspension_id")?,
        at: TimestampMs(fields.read("suspended_at")?),
        reason: fields.read("reason_code")?,
        requested_by: fields.read("requested_by")?,
        waitpoints: bound(fields)?,
        resume_policy: resume_policy.map_err(|error| unreadable("a policy", &error))?.unwrap_or_default(),
        timeout_at: fields.maybe("timeout_at")?.map(TimestampMs),
        timeout_behavior: fields.read("timeout_behavior")?,
        escalated_at: fields.maybe("escalated_at")?.map(TimestampMs),
        continuation: fields.owned("continuation")?,
        tally: whole(tally)?,
        uncounted: uncounted.into_iter().map(|counted| CountedSignal { counts_as: None, ..counted }).collect(),
        condition,
    })
}

/// Reads the last suspension that ended, if there was one.
pub(super) fn past(fields: &Hash) -> Result<Option<Box<PastSuspension>>, ScriptError> {
    if fields.is_empty() {
        return Ok(None);
    }
    let ended = match fields.read::<String>("how")?.as_str() {
        "already_satisfied" => SuspensionEnd::AlreadySatisfied,
        "satisfied" => SuspensionEnd::Satisfied,
        "operator" => SuspensionEnd::Operator {
            decision: fields.read("decision")?,
            requested_by: fields.maybe("requested_by")?,
            reason: fields.owned("reason")?,
        },
        "timed_out" => SuspensionEnd::TimedOut,
        "execution_ended" => SuspensionEnd::ExecutionEnded,
        other => return Err(ScriptError::parse(format!("no suspension ends as {other}"))),
    };
    let signal = |line: &str| {
        let (signal_id, bytes) = line.split_once(' ')?;
        Some(CountedSignal { signal_id: signal_id.parse().ok()?, payload_bytes: bytes.parse().ok()?, counts_as: None })
    };
    Ok(Some(Box::new(PastSuspension {
        id: fields.read("suspension_id")?,
        waitpoints: bound(fields)?,
        lease_epoch: LeaseEpoch(fields.read("lease_epoch")?),
        ended_at: TimestampMs(fields.read("ended_at")?),
        ended,
        paused_by_budget: fields.text("paused_by_budget")?.is_some(),
        continuation: fields.owned("continuation")?,
        signals: lines(fields.text("signals")?, signal)?,
    })))
}

/// Reads the end of the last suspension from a claim's answer, where the signals follow it.
pub(crate) fn resumption(fields: &mut Fields) -> Result<Resumption, ScriptError> {
    Ok(Resumption {
        suspension_id: fields.read()?,
        by: fields.read()?,
        at: TimestampMs(fields.read()?),
        continuation: fields.maybe_free()?,
        with_payload: fields.read()?,
        signals: vec![],
    })
}

/// Reads the counted signals, by leaf and in order. A field `<leaf>|<as>` has the position, the id and the size of a
/// signal.
fn lists(counted: &Hash) -> Result<BTreeMap<usize, Vec<CountedSignal>>, ScriptError> {
    let mut lists = BTreeMap::<usize, BTreeMap<usize, CountedSignal>>::new();
    for (name, value) in counted.all::<String, String>()? {
        let Some((leaf, counts_as)) = name.split_once('|') else { continue };
        let read = || {
            let [nth, signal_id, bytes] = value.split(' ').collect::<Vec<_>>()[..] else { return None };
            let (signal_id, payload_bytes) = (signal_id.parse().ok()?, bytes.parse().ok()?);
            let counted = CountedSignal { signal_id, payload_bytes, counts_as: Some(counts_as.into()) };
            Some((leaf.parse().ok()?, nth.parse().ok()?, counted))
        };
        let (leaf, nth, counted) = read().ok_or_else(|| ScriptError::parse("what was counted cannot be read"))?;
        lists.entry(leaf).or_default().insert(nth, counted);
    }
    Ok(lists.into_iter().map(|(leaf, list)| (leaf, list.into_values().collect())).collect())
}

/// Returns the signals that one leaf has counted. `counts_as` is kept only where the leaf counts distinct waitpoints or
/// sources.
fn of_leaf(leaf: &Condition, counted: Option<Vec<CountedSignal>>) -> Vec<CountedSignal> {
    let tells_apart = matches!(leaf, Condition::Count { of: Distinct::Waitpoints | Distinct::Sources, .. });
    let counted = counted.unwrap_or_default().into_iter();
    counted.map(|one| CountedSignal { counts_as: one.counts_as.filter(|_| tells_apart), ..one }).collect()
}

/// Combines the lists of all leaves into a tally.
fn whole(lists: Vec<Vec<CountedSignal>>) -> Result<Tally, ScriptError> {
    let json = serde_json::to_value(lists).and_then(serde_json::from_value);
    json.map_err(|error| unreadable("a tally", &error))
}

fn unreadable(what: &str, error: &dyn std::fmt::Display) -> ScriptError {
    ScriptError::parse(format!("{what} cannot be read: {error}"))
}

/// Reads a waitpoint, without its buffered signals.
pub(crate) fn waitpoint(execution_id: ExecutionId, id: WaitpointId, fields: &Hash) -> Result<Waitpoint, ScriptError> {
    let mac = Mac::from_hex(&fields.read::<String>("token_mac")?);
    let mac = mac.ok_or_else(|| ScriptError::parse("the field token_mac cannot be read"))?;
    let closed = match fields.maybe("closed_at")? {
        Some(at) => Some(WaitpointClosed { at: TimestampMs(at), reason: fields.owned("closed_reason")? }),
        None => None,
    };
    Ok(Waitpoint {
        id,
        execution_id,
        key: fields.read("waitpoint_key")?,
        token: WaitpointToken { kid: fields.read("token_kid")?, mac },
        created_at: TimestampMs(fields.read("created_at")?),
        expires_at: fields.maybe("expires_at")?.map(TimestampMs),
        suspension_id: fields.maybe("suspension_id")?,
        closed,
        buffered: vec![],
    })
}

/// Reads the pending waitpoints of an execution: id, expiry and key of each on a line.
pub(super) fn pending(core: &Hash) -> Result<Vec<PendingWaitpoint>, ScriptError> {
    let read = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let id = words.next()?.parse().ok()?;
        let expires_at = TimestampMs(words.next()?.parse().ok()?);
        Some(PendingWaitpoint { id, expires_at, key: words.next()?.parse().ok()? })
    };
    lines(core.text("pending_waitpoints")?, read)
}

/// Reads the waitpoints of a suspension: id and key of each on a line.
pub(super) fn bound(fields: &Hash) -> Result<Vec<BoundWaitpoint>, ScriptError> {
    let read = |line: &str| {
        let (id, key) = line.split_once(' ')?;
        Some(BoundWaitpoint { id: id.parse().ok()?, key: key.parse().ok()? })
    };
    lines(fields.text("waitpoints")?, read)
}

/// Parses a list that one field holds, with one item per line.
pub(super) fn lines<T>(text: Option<&str>, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, ScriptError> {
    let read: Option<_> = text.into_iter().flat_map(|text| text.split('\n')).map(read).collect();
    read.ok_or_else(|| ScriptError::parse("a list in a field cannot be read"))
}
