//! The metadata of a store: its schema version, partition counts, latest moment and token secrets.

use std::collections::BTreeMap;

use ff_backend_sql::{RINGS, missing_rings};
use ff_core::backend::entropy::Entropy;
use ff_core::partition::PartitionConfig;
use ff_core::types::TimestampMs;
use rusqlite::{Connection, OptionalExtension, Transaction};

/// Statement that stores the moment of a commit, so that time does not run backwards over a restart.
pub(crate) const SET_CLOCK: &str =
    "INSERT INTO meta (key, value) VALUES ('clock', ?1) ON CONFLICT (key) DO UPDATE SET value = excluded.value";

const SCHEMA_VERSION: &str = "schema_version";
const CLOCK: &str = "clock";
const FLOW: &str = "num_flow_partitions";
const BUDGET: &str = "num_budget_partitions";
const QUOTA: &str = "num_quota_partitions";

/// Returns the version of the schema, 0 if there is no schema.
pub(crate) fn schema_version(sqlite: &Connection) -> rusqlite::Result<i64> {
    let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'meta'";
    let present: i64 = sqlite.query_row(tables, [], |row| row.get(0))?;
    if present == 0 { Ok(0) } else { Ok(get(sqlite, SCHEMA_VERSION)?.unwrap_or(0)) }
}

pub(crate) fn set_schema_version(sqlite: &Connection, version: i64) -> rusqlite::Result<()> {
    set(sqlite, SCHEMA_VERSION, version)
}

/// Returns the latest moment written.
pub(crate) fn clock(sqlite: &Connection) -> rusqlite::Result<TimestampMs> {
    Ok(TimestampMs(get(sqlite, CLOCK)?.unwrap_or_default()))
}

/// Returns the partition counts that the store was made with.
pub(crate) fn partitions(sqlite: &Connection) -> rusqlite::Result<Option<PartitionConfig>> {
    let count = |key| Ok::<_, rusqlite::Error>(get(sqlite, key)?.and_then(|count| u16::try_from(count).ok()));
    let (Some(flow), Some(budget), Some(quota)) = (count(FLOW)?, count(BUDGET)?, count(QUOTA)?) else {
        return Ok(None);
    };
    Ok(Some(PartitionConfig { num_flow_partitions: flow, num_budget_partitions: budget, num_quota_partitions: quota }))
}

pub(crate) fn set_partitions(sqlite: &Connection, config: &PartitionConfig) -> rusqlite::Result<()> {
    set(sqlite, FLOW, config.num_flow_partitions.into())?;
    set(sqlite, BUDGET, config.num_budget_partitions.into())?;
    set(sqlite, QUOTA, config.num_quota_partitions.into())
}

fn get(sqlite: &Connection, key: &str) -> rusqlite::Result<Option<i64>> {
    sqlite.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0)).optional()
}

fn set(sqlite: &Connection, key: &str, value: i64) -> rusqlite::Result<()> {
    let upsert = "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    sqlite.execute(upsert, (key, value)).map(drop)
}

/// Writes secrets for every partition that has none.
pub(crate) fn settle(
    transaction: &Transaction<'_>,
    partitions: &PartitionConfig,
    entropy: &dyn Entropy,
) -> rusqlite::Result<()> {
    let mut rings = transaction.prepare(RINGS)?;
    let stored = rings.query_map([partitions.num_flow_partitions], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let stored = stored.collect::<rusqlite::Result<BTreeMap<u16, String>>>()?;
    let unwritable = |error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
    let mut insert = transaction.prepare("INSERT INTO key_ring (partition, record) VALUES (?1, ?2)")?;
    for missing in missing_rings(&stored, partitions, entropy).map_err(unwritable)? {
        insert.execute(missing)?;
    }
    Ok(())
}
