//! What a store remembers of itself: its schema, its partition counts, its last moments.

use ff_core::partition::PartitionConfig;
use tokio_postgres::GenericClient;

/// What time it is, and the latest moment anything was written at, in milliseconds.
pub(crate) const LATEST: &str = "\
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::int8, (SELECT max(at) FROM clock)";

/// Remembers the moment of a commit, so that time does not run backwards when a clock does.
pub(crate) const REMEMBER: &str = "UPDATE clock SET at = greatest(at, $1) WHERE slot = $2";

/// How many moments are remembered beside each other.
pub(crate) const SLOTS: i32 = 16;

const SCHEMA_VERSION: &str = "schema_version";
const FLOW: &str = "num_flow_partitions";
const BUDGET: &str = "num_budget_partitions";
const QUOTA: &str = "num_quota_partitions";

/// The version of the schema; none before there is one.
pub(crate) async fn schema_version(client: &impl GenericClient) -> Result<i64, tokio_postgres::Error> {
    let present = client.query_one("SELECT to_regclass('meta') IS NOT NULL", &[]).await?;
    if present.get(0) { Ok(get(client, SCHEMA_VERSION).await?.unwrap_or(0)) } else { Ok(0) }
}

pub(crate) async fn set_schema_version(client: &impl GenericClient, version: i64) -> Result<(), tokio_postgres::Error> {
    set(client, SCHEMA_VERSION, version).await
}

/// The partition counts the store was made with.
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
