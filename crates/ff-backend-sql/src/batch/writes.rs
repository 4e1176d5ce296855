//! Writing what a batch has decided: each table once, in the order of its keys.

use std::collections::HashMap;

use ff_core::change::{KeyEntry, Write};
use ff_core::execution::Attempt;
use ff_core::payload::Payload;
use ff_core::types::ExecutionId;

use crate::desk::{Desk, Waits};
use crate::error::SqlError;
use crate::execution::{body_of, put};
use crate::lease::{event_of, trim};
use crate::record;
use crate::schema::{
    ATTEMPT, EXECUTION, IDEMPOTENCY, KEY_RING, LEASE_EVENT, PAYLOAD, RESULT, SIGNAL, SIGNAL_KEY, SUSPEND_KEY, WAITPOINT,
};
use crate::session::{Put, Session, key_of};
use crate::signal::{signal_key_of, signal_of, tell};
use crate::suspension::{ring_of, suspend_key_of, waitpoint_of};
use crate::table::Table;
use crate::value::Value;

/// Writes everything the desk has beyond what is stored, and says whether that is anything.
pub(super) async fn write<S: Session>(session: &mut S, desk: &mut Desk) -> Result<bool, SqlError> {
    let mut executions: Vec<_> = desk.rewritten().collect();
    executions.sort_unstable_by_key(|(_, after)| in_order(&after.id));
    let executions = executions.into_iter().map(|(before, after)| put(before, after));
    let mut written = put_all(session, &EXECUTION, executions.collect::<Result<_, _>>()?).await?;

    let beside = std::mem::take(&mut desk.beside);
    written |= write_bodies(session, &PAYLOAD, beside.payloads).await?;
    written |= write_bodies(session, &RESULT, beside.results).await?;
    let attempts = beside.attempts.iter().map(attempt_of).collect::<Result<_, _>>()?;
    written |= put_all(session, &ATTEMPT, attempts).await?;
    let leases = beside.leases.iter().map(|(id, event)| event_of(id, event)).collect::<Result<_, _>>()?;
    written |= put_all(session, &LEASE_EVENT, leases).await?;
    trim(session, &beside.leases).await?;
    written |= put_all(session, &IDEMPOTENCY, beside.keys.values().map(key_entry).collect()).await?;
    written |= write_waits(session, &desk.waits).await?;
    Ok(written)
}

async fn write_waits<S: Session>(session: &mut S, waits: &Waits) -> Result<bool, SqlError> {
    let waitpoints = waits.waitpoints.written().map(|(_, waitpoint)| waitpoint_of(waitpoint));
    let mut written = put_all(session, &WAITPOINT, waitpoints.collect::<Result<_, _>>()?).await?;
    let keys = waits.suspend_keys.written().map(|(_, entry)| suspend_key_of(entry));
    written |= put_all(session, &SUSPEND_KEY, keys.collect::<Result<_, _>>()?).await?;
    let rings = waits.rings.written().map(|(partition, ring)| ring_of(*partition, ring));
    written |= put_all(session, &KEY_RING, rings.collect::<Result<_, _>>()?).await?;
    let signals = waits.signals.iter().map(signal_of);
    written |= put_all(session, &SIGNAL, signals.collect::<Result<_, _>>()?).await?;
    let keys = waits.signal_keys.written().map(|(_, entry)| signal_key_of(entry));
    written |= put_all(session, &SIGNAL_KEY, keys.collect()).await?;
    tell(session, &waits.signals).await?;
    Ok(written)
}

async fn put_all<S: Session>(session: &mut S, table: &'static Table, rows: Vec<Put>) -> Result<bool, SqlError> {
    if rows.is_empty() {
        return Ok(false);
    }
    session.put(table, &rows).await?;
    Ok(true)
}

async fn write_bodies<S: Session>(
    session: &mut S,
    table: &'static Table,
    writes: HashMap<ExecutionId, Write<Payload>>,
) -> Result<bool, SqlError> {
    let mut writes: Vec<_> = writes.into_iter().collect();
    writes.sort_unstable_by_key(|(id, _)| in_order(id));
    let (mut rows, mut removed) = (Vec::new(), Vec::new());
    for (id, write) in &writes {
        match write {
            Write::Keep => {}
            Write::Put(payload) => rows.push(body_of(id, payload)),
            Write::Remove => removed.push(key_of(id)),
        }
    }
    if !removed.is_empty() {
        session.delete(table, &removed).await?;
    }
    Ok(put_all(session, table, rows).await? | !removed.is_empty())
}

fn attempt_of((id, attempt): &(ExecutionId, Attempt)) -> Result<Put, SqlError> {
    let mut values = key_of(id);
    values.push(Value::Int(attempt.index.0.into()));
    values.push(record::written(attempt)?);
    Ok(Put::whole(values))
}

fn key_entry(entry: &KeyEntry) -> Put {
    Put::whole(vec![
        entry.execution_id.partition().into(),
        entry.namespace.as_str().into(),
        entry.key.as_str().into(),
        Value::Uuid(entry.execution_id.uuid()),
        entry.until.into(),
    ])
}

/// The order of keys in a table.
fn in_order(id: &ExecutionId) -> (uuid::Uuid, u16) {
    (id.uuid(), id.partition())
}
