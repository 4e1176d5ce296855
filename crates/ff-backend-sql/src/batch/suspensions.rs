//! Misses of suspensions and signals, loaded with one query per kind of record.

use std::collections::BTreeSet;
use std::hash::Hash;

use ff_core::types::{ExecutionId, IdempotencyKey, WaitpointId};
use serde::de::DeserializeOwned;

use crate::batch_state::{RecordSet, SuspensionRecords};
use crate::error::SqlError;
use crate::session::{Key, Read, key_of, longer};
use crate::signal::{key_of_signal_key, read_signal_key};
use crate::suspension::{key_of_waitpoint, read_ring, read_suspend_key};
use crate::table::Table;
use crate::table::record;
use crate::table::schema::{KEY_RING, SIGNAL_KEY, SUSPEND_KEY, WAITPOINT};
use crate::table::value::Row;

/// The misses of a batch, each once, and always in the same order.
#[derive(Clone, Default)]
pub(super) struct SuspensionMisses {
    pub(super) waitpoints: BTreeSet<(ExecutionId, WaitpointId)>,
    pub(super) suspend_keys: BTreeSet<(ExecutionId, IdempotencyKey)>,
    pub(super) signal_keys: BTreeSet<(ExecutionId, WaitpointId, IdempotencyKey)>,
    pub(super) rings: BTreeSet<u16>,
}

impl SuspensionMisses {
    /// Loads all misses. An unreadable record fails only the operations that need it.
    pub(super) async fn load(self, reader: &mut dyn Read, suspensions: &mut SuspensionRecords) -> Result<(), SqlError> {
        let key = |(id, waitpoint): &(_, _)| key_of_waitpoint(id, waitpoint);
        load_records(reader, &mut suspensions.waitpoints, self.waitpoints, &WAITPOINT, key).await?;

        let key = |(id, key): &(_, IdempotencyKey)| longer(key_of(id), [key.as_str().into()]);
        let entry = |(id, key): &(_, IdempotencyKey), row: &Row| read_suspend_key(*id, key.clone(), row, 0);
        let table = (&SUSPEND_KEY, &["until", "answer"][..]);
        load(reader, &mut suspensions.suspend_keys, self.suspend_keys, table, key, entry).await?;

        let key = |(id, waitpoint, key): &(_, _, IdempotencyKey)| key_of_signal_key(id, waitpoint, key);
        let entry = |(id, waitpoint, key): &(_, _, IdempotencyKey), row: &Row| {
            read_signal_key(*id, *waitpoint, key.clone(), row, 0)
        };
        let table = (&SIGNAL_KEY, &["signal_id", "until"][..]);
        load(reader, &mut suspensions.signal_keys, self.signal_keys, table, key, entry).await?;

        let table = (&KEY_RING, &["record"][..]);
        let key = |partition: &u16| vec![(*partition).into()];
        load(reader, &mut suspensions.rings, self.rings, table, key, |_, row| read_ring(row.text(0)?)).await
    }
}

/// Loads the records of the named rows into a record set.
pub(super) async fn load_records<K: Eq + Hash + Ord, T: DeserializeOwned>(
    reader: &mut dyn Read,
    records: &mut RecordSet<K, T>,
    names: BTreeSet<K>,
    table: &'static Table,
    key: impl Fn(&K) -> Key,
) -> Result<(), SqlError> {
    load(reader, records, names, (table, &["record"]), key, |_, row| record::read(row.text(0)?)).await
}

/// Loads columns of the named rows into a record set.
pub(super) async fn load<K: Eq + Hash + Ord, T>(
    reader: &mut dyn Read,
    records: &mut RecordSet<K, T>,
    names: BTreeSet<K>,
    (table, columns): (&'static Table, &[&str]),
    key: impl Fn(&K) -> Key,
    read: impl Fn(&K, &Row) -> Result<T, SqlError>,
) -> Result<(), SqlError> {
    if names.is_empty() {
        return Ok(());
    }
    let keys: Vec<_> = names.iter().map(key).collect();
    let rows = reader.load(table, table.named(columns), &keys).await?;
    for (name, row) in names.into_iter().zip(rows) {
        let stored = row.map(|row| read(&name, &row)).transpose().map_err(|error| error.to_string());
        records.lay(name, stored);
    }
    Ok(())
}
