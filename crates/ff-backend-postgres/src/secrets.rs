//! The first secret: a store has one before anybody can ask it for a token.

use std::collections::BTreeMap;

use ff_backend_sql::{RINGS, Value, missing_rings};
use ff_core::dice::Dice;
use ff_core::partition::PartitionConfig;
use tokio_postgres::GenericClient;

use crate::value::Parameter;

/// Whether some partition has no secrets.
pub(crate) async fn are_missing(
    client: &impl GenericClient,
    partitions: &PartitionConfig,
) -> Result<bool, tokio_postgres::Error> {
    let count = "SELECT count(*) < $1 FROM key_ring WHERE partition < $1";
    Ok(client.query_one(count, &[&i64::from(partitions.num_flow_partitions)]).await?.get(0))
}

/// Gives secrets to every partition that has none. Fails when those that are there cannot be read.
pub(crate) async fn settle(
    client: &impl GenericClient,
    partitions: &PartitionConfig,
    dice: &dyn Dice,
) -> Result<(), String> {
    let said = |error: tokio_postgres::Error| crate::trouble::said(&error);
    let below = i32::from(partitions.num_flow_partitions);
    let rows = client.query(RINGS, &[&below]).await.map_err(said)?;
    let stored = rows.iter().map(|row| (u16::try_from(row.get::<_, i32>(0)).unwrap_or(u16::MAX), row.get(1)));
    let stored: BTreeMap<u16, String> = stored.collect();
    let missing = missing_rings(&stored, partitions, dice).map_err(|error| error.to_string())?;
    // The driver logs what is bound, and a ring holds secrets.
    let partitions = Parameter::each(missing.iter().map(|(partition, _)| Value::from(*partition)));
    let records = Parameter::each(missing.iter().map(|(_, record)| Value::from(record.as_str())));
    let insert = "INSERT INTO key_ring (partition, record) SELECT * FROM unnest($1::int4[], $2::text[])";
    client.execute(insert, &[&partitions, &records]).await.map_err(said)?;
    Ok(())
}
