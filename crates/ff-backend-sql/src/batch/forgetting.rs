//! Deleting executions with all their rows. Writes of the batch under the same ids come afterwards.

use ff_core::rule::change::KeyEntry;

use crate::batch_state::{BatchState, Flows};
use crate::error::SqlError;
use crate::execution::NARROW_TABLES;
use crate::session::{Key, Session, delete_all, key_of};
use crate::table::Table;
use crate::table::schema::{
    ATTEMPT, FLOW_EVENT, FLOW_KEY, FRAME, IDEMPOTENCY, LEASE_EVENT, SIGNAL, SIGNAL_KEY, STREAM, SUBMISSION,
    SUSPEND_KEY, USAGE_REPORT, WAITPOINT,
};
use crate::table::value::Value;

/// The tables of side rows whose keys begin with the key of the execution.
static RELATED: [&Table; 7] = [&SUBMISSION, &ATTEMPT, &LEASE_EVENT, &WAITPOINT, &SUSPEND_KEY, &SIGNAL, &SIGNAL_KEY];

/// Deletes the side rows of the deleted executions, but not their own rows. Returns whether there are any deleted executions.
pub(super) async fn forget(session: &mut dyn Session, state: &BatchState) -> Result<bool, SqlError> {
    let keys: Vec<Key> = state.going().map(|(id, _)| key_of(id)).collect();
    if keys.is_empty() {
        return Ok(false);
    }
    for table in RELATED {
        session.delete(table, &keys).await?;
    }
    for narrow in &NARROW_TABLES {
        let left = state.going().filter_map(|(_, stored)| stored).flat_map(narrow.rows);
        delete_all(session, narrow.table, left.collect()).await?;
    }
    let streamed = state.going().filter(|(_, stored)| stored.is_some_and(|execution| execution.streamed));
    let streamed: Vec<Key> = streamed.map(|(id, _)| key_of(id)).collect();
    let spent = state.going().filter(|(_, stored)| stored.is_some_and(|execution| execution.usage.is_some()));
    delete_all(session, &USAGE_REPORT, spent.map(|(id, _)| key_of(id)).collect()).await?;
    delete_all(session, &STREAM, streamed.clone()).await?;
    delete_all(session, &FRAME, streamed).await?;
    delete_all(session, &IDEMPOTENCY, state.side_writes.freed.iter().map(key_of_entry).collect()).await?;
    Ok(true)
}

/// Deletes the events and the remembered changes of the deleted flows. Returns whether there are any.
pub(super) async fn forget_flows(session: &mut dyn Session, flows: &Flows) -> Result<bool, SqlError> {
    let keys: Vec<Key> = flows.gone.iter().map(|id| vec![Value::Uuid(*id.as_uuid())]).collect();
    Ok(delete_all(session, &FLOW_EVENT, keys.clone()).await? | delete_all(session, &FLOW_KEY, keys).await?)
}

pub(super) fn key_of_entry(entry: &KeyEntry) -> Key {
    vec![entry.execution_id.partition().into(), entry.namespace.as_str().into(), entry.key.as_str().into()]
}
