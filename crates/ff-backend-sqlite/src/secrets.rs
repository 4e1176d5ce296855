//! The first secret: a store has one before anybody can ask it for a token.

use std::collections::BTreeMap;

use ff_backend_sql::{RINGS, missing_rings};
use ff_core::dice::Dice;
use ff_core::partition::PartitionConfig;
use rusqlite::Transaction;

/// Gives secrets to every partition that has none.
pub(crate) fn settle(
    transaction: &Transaction<'_>,
    partitions: &PartitionConfig,
    dice: &dyn Dice,
) -> rusqlite::Result<()> {
    let mut rings = transaction.prepare(RINGS)?;
    let stored = rings.query_map([partitions.num_flow_partitions], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let stored = stored.collect::<rusqlite::Result<BTreeMap<u16, String>>>()?;
    let unwritable = |error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
    let mut insert = transaction.prepare("INSERT INTO key_ring (partition, record) VALUES (?1, ?2)")?;
    for missing in missing_rings(&stored, partitions, dice).map_err(unwritable)? {
        insert.execute(missing)?;
    }
    Ok(())
}
