//! Waitpoints, and those an execution has made ahead.

use ff_core::suspension::{BoundWaitpoint, PendingWaitpoint, Waitpoint, WaitpointClosed};
use ff_core::token::{Mac, WaitpointToken};
use ff_core::types::{ExecutionId, TimestampMs, WaitpointId};

use super::Hash;
use crate::ScriptError;

/// A waitpoint, without the signals that wait for its suspension.
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

/// The waitpoints an execution keeps in mind: id, expiry and key of each on a line.
pub(super) fn pending(core: &Hash) -> Result<Vec<PendingWaitpoint>, ScriptError> {
    let read = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let id = words.next()?.parse().ok()?;
        let expires_at = TimestampMs(words.next()?.parse().ok()?);
        Some(PendingWaitpoint { id, expires_at, key: words.next()?.parse().ok()? })
    };
    lines(core.text("pending_waitpoints")?, read)
}

/// The waitpoints of a suspension: id and key of each on a line.
pub(super) fn bound(fields: &Hash) -> Result<Vec<BoundWaitpoint>, ScriptError> {
    let read = |line: &str| {
        let (id, key) = line.split_once(' ')?;
        Some(BoundWaitpoint { id: id.parse().ok()?, key: key.parse().ok()? })
    };
    lines(fields.text("waitpoints")?, read)
}

/// A list that is kept in one field.
pub(super) fn lines<T>(text: Option<&str>, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, ScriptError> {
    let read: Option<_> = text.into_iter().flat_map(|text| text.split('\n')).map(read).collect();
    read.ok_or_else(|| ScriptError::parse("a list in a field cannot be read"))
}
