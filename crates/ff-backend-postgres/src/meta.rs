//! The metadata of a store: its schema version, partition counts, latest times written and token secrets.

use std::collections::BTreeMap;

use ff_backend_sql::{RINGS, Value, missing_rings};
use ff_core::backend::entropy::Entropy;
use ff_core::partition::PartitionConfig;
use tokio_postgres::{Client, GenericClient};

use crate::statement::value::Parameter;

/// Query for the server's time and the latest time written, in milliseconds.
pub(crate) const LATEST: &str = "\
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::int8, (SELECT max(at) FROM clock)";

/// Statement that stores the time of a commit, so that time does not run backwards when a clock does.
pub(crate) const REMEMBER: &str = "UPDATE clock SET at = greatest(at, $1) WHERE slot = $2";

/// Number of rows in `clock`. There are several, so that writers seldom wait for each other.
pub(crate) const SLOTS: i32 = 16;

const SCHEMA_VERSION: &str = "schema_version";
const FLOW: &str = "num_flow_partitions";
const BUDGET: &str = "num_budget_partitions";
const QUOTA: &str = "num_quota_partitions";

/// Returns the version of the schema, 0 if there is no schema.
pub(crate) async fn schema_version(client: &impl GenericClient) -> Result<i64, tokio_postgres::Error> {
    let present = client.query_one("SELECT to_regclass('meta') IS NOT NULL", &[]).await?;
    if present.get(0) { Ok(get(client, SCHEMA_VERSION).await?.unwrap_or(0)) } else { Ok(0) }
}

pub(crate) async fn set_schema_version(client: &impl GenericClient, version: i64) -> Result<(), tokio_postgres::Error> {
    set(client, SCHEMA_VERSION, version).await
}

/// Returns the partition counts that the store was made with.
pub(crate) async fn partitions(client: &impl GenericClient) -> Result<Option<PartitionConfig>, tokio_postgres::Error> {
    let count = async |key| Ok::<_, tokio_postgres::Error>(get(client, key).await?.and_then(|n| u16::try_from(n).ok()));
    let (Some(flow), Some(budget), Some(quota)) = (count(FLOW).await?, count(BUDGET).await?, count(QUOTA).await?)
    else {
        return Ok(None);
    };
    Ok(Some(PartitionConfig { num_flow_partitions: flow, num_budget_partitions: budget, num_quota_partitions: quota }))
}

pub(crate) async fn set_partitions(
    client: &impl GenericClient,
    config: &PartitionConfig,
) -> Result<(), tokio_postgres::Error> {
    set(client, FLOW, config.num_flow_partitions.into()).await?;
    set(client, BUDGET, config.num_budget_partitions.into()).await?;
    set(client, QUOTA, config.num_quota_partitions.into()).await
}

async fn get(client: &impl GenericClient, key: &str) -> Result<Option<i64>, tokio_postgres::Error> {
    let row = client.query_opt("SELECT value FROM meta WHERE key = $1", &[&key]).await?;
    Ok(row.map(|row| row.get(0)))
}

async fn set(client: &impl GenericClient, key: &str, value: i64) -> Result<(), tokio_postgres::Error> {
    let upsert = "INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    client.execute(upsert, &[&key, &value]).await.map(drop)
}

/// Returns whether any partition has no secrets.
pub(crate) async fn are_missing(
    client: &impl GenericClient,
    partitions: &PartitionConfig,
) -> Result<bool, tokio_postgres::Error> {
    let count = "SELECT count(*) < $1 FROM key_ring WHERE partition < $1";
    Ok(client.query_one(count, &[&i64::from(partitions.num_flow_partitions)]).await?.get(0))
}

/// Writes secrets for every partition that has none. Fails if the existing ones cannot be read.
pub(crate) async fn settle(
    client: &impl GenericClient,
    partitions: &PartitionConfig,
    entropy: &dyn Entropy,
) -> Result<(), String> {
    let message = |error: tokio_postgres::Error| crate::connect::driver_error::message_of(&error);
    let below = i32::from(partitions.num_flow_partitions);
    let rows = client.query(RINGS, &[&below]).await.map_err(message)?;
    let stored = rows.iter().map(|row| (u16::try_from(row.get::<_, i32>(0)).unwrap_or(u16::MAX), row.get(1)));
    let stored: BTreeMap<u16, String> = stored.collect();
    let missing = missing_rings(&stored, partitions, entropy).map_err(|error| error.to_string())?;
    // The driver logs bound values, and a ring holds secrets. A `Parameter` does not show them.
    let partitions = Parameter::each(missing.iter().map(|(partition, _)| Value::from(*partition)));
    let records = Parameter::each(missing.iter().map(|(_, record)| Value::from(record.as_str())));
    let insert = "INSERT INTO key_ring (partition, record) SELECT * FROM unnest($1::int4[], $2::text[])";
    client.execute(insert, &[&partitions, &records]).await.map_err(message)?;
    Ok(())
}

/// Settings that must not be `off` for the connections of a store. Otherwise a crash of the machine loses acknowledged work, or
/// leaves half-written pages in the case of `full_page_writes`.
const SETTINGS: [&str; 3] = ["fsync", "full_page_writes", "synchronous_commit"];

/// Returns the settings that may lose acknowledged work, with the safe values.
pub(crate) async fn find(client: &Client) -> Result<Vec<String>, tokio_postgres::Error> {
    let settings = "SELECT name FROM unnest($1::text[]) AS s(name) WHERE current_setting(name) = 'off'";
    let rows = client.query(settings, &[&SETTINGS.as_slice()]).await?;
    Ok(rows.iter().map(|row| format!("{} is off: set it to on", row.get::<_, &str>(0))).collect())
}
