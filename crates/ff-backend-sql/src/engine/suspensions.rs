//! Suspensions and signals in a snapshot of a partition.

use ff_core::backend::snapshot::Snapshot;
use ff_core::rule::index::pending_waitpoints;
use ff_core::signal::FeedCursor;
use ff_core::types::{ExecutionId, IdempotencyKey, WaitpointId};

use crate::error::{SqlError, unreadable};
use crate::queries::{SIGNAL_KEYS_OF, SIGNALS_OF, SUSPEND_KEYS_OF, WAITPOINTS_OF};
use crate::session::{Read, key_of};
use crate::signal::{read_signal, read_signal_key, unread};
use crate::suspension::{load_ring, read_suspend_key};
use crate::table::record;
use crate::table::value::Row;

/// Adds suspensions and signals to a snapshot that has the executions. An unreadable record becomes a stray, and the rest is still added.
pub(super) async fn add_waits(
    reader: &mut dyn Read,
    snapshot: &mut Snapshot,
    partition: u16,
    ids: &[ExecutionId],
) -> Result<(), SqlError> {
    // No table is an index of pending waitpoints: the record of their execution names them.
    snapshot.pending_waitpoints = snapshot.executions.values().flat_map(pending_waitpoints).collect();
    let keys: Vec<_> = ids.iter().map(key_of).collect();
    let tables: [(&str, Add); 4] = [
        (WAITPOINTS_OF, add_waitpoint),
        (SUSPEND_KEYS_OF, add_suspend_key),
        (SIGNALS_OF, add_signal),
        (SIGNAL_KEYS_OF, add_signal_key),
    ];
    for (sql, add) in tables {
        for (id, rows) in ids.iter().zip(reader.query(sql, &keys).await?) {
            for row in &rows {
                if let Err(error) = add(snapshot, *id, row) {
                    snapshot.strays.push((*id, error.to_string()));
                }
            }
        }
    }
    let feeds = unread(reader, vec![partition], &FeedCursor::default(), usize::MAX).await?;
    snapshot.deliveries = feeds.into_iter().flat_map(|(_, deliveries)| deliveries).collect();
    snapshot.ring = load_ring(reader, partition).await?;
    Ok(())
}

/// A function that adds one row of an execution to a snapshot.
type Add = fn(&mut Snapshot, ExecutionId, &Row) -> Result<(), SqlError>;

fn add_waitpoint(snapshot: &mut Snapshot, id: ExecutionId, row: &Row) -> Result<(), SqlError> {
    let waitpoint_id = WaitpointId::from_uuid(row.uuid(0)?);
    snapshot.waitpoints.insert((id, waitpoint_id), record::read(row.text(1)?)?);
    Ok(())
}

fn add_suspend_key(snapshot: &mut Snapshot, id: ExecutionId, row: &Row) -> Result<(), SqlError> {
    let key = IdempotencyKey::parse(row.text(0)?).map_err(unreadable("a key"))?;
    snapshot.suspend_keys.insert((id, key.clone()), read_suspend_key(id, key, row, 1)?);
    Ok(())
}

fn add_signal(snapshot: &mut Snapshot, id: ExecutionId, row: &Row) -> Result<(), SqlError> {
    let received = read_signal(row)?;
    let signal_id = received.signal.id;
    snapshot.signal_payloads.extend(received.payload.map(|payload| ((id, signal_id), payload)));
    let signals = snapshot.signals.entry(id).or_default();
    let (nth, counted) = (row.int(3)?, signals.len());
    signals.push(received.signal);
    if usize::try_from(nth) != Ok(counted) {
        return Err(SqlError::Unreadable(format!("nth of signal {signal_id} should be {counted}, is {nth}")));
    }
    Ok(())
}

fn add_signal_key(snapshot: &mut Snapshot, id: ExecutionId, row: &Row) -> Result<(), SqlError> {
    let waitpoint_id = WaitpointId::from_uuid(row.uuid(0)?);
    let key = IdempotencyKey::parse(row.text(1)?).map_err(unreadable("a key"))?;
    let entry = read_signal_key(id, waitpoint_id, key.clone(), row, 2)?;
    snapshot.signal_keys.insert((id, waitpoint_id, key), entry);
    Ok(())
}
