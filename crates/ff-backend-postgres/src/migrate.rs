//! Migrates a database to the schema this program knows. When several programs start at once, one migrates and the others wait
//! and find the database migrated.

use ff_core::backend::entropy::Entropy;
use ff_core::partition::PartitionConfig;
use tokio_postgres::{Client, Transaction};

use crate::connect::connection::drive;
use crate::connect::connector::{Connector, failed};
use crate::connect::driver_error::DriverError;
use crate::connect::pooler;
use crate::connect::url::StoreLocation;
use crate::{ConnectError, PostgresOptions, meta};

/// The migrations, in order. The first makes the version after [`UNRELEASED`].
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_executions_and_leases.sql"),
    include_str!("../migrations/0002_suspensions_and_signals.sql"),
    include_str!("../migrations/0003_inbox_and_notices.sql"),
    include_str!("../migrations/0004_flows.sql"),
    include_str!("../migrations/0005_lanes_workers_events.sql"),
    include_str!("../migrations/0006_api_keys.sql"),
    include_str!("../migrations/0007_streams.sql"),
    include_str!("../migrations/0008_steps.sql"),
    include_str!("../migrations/0009_requirement_classes.sql"),
    include_str!("../migrations/0010_quotas.sql"),
    include_str!("../migrations/0011_key_queues.sql"),
    include_str!("../migrations/0012_turns.sql"),
    include_str!("../migrations/0013_schedules.sql"),
    include_str!("../migrations/0014_budgets.sql"),
    include_str!("../migrations/0015_feed_times.sql"),
];

/// The last unreleased version. Stores up to this version have other tables, or suspensions with another meaning.
const UNRELEASED: i64 = 40;

/// Advisory lock for changing a schema of the database.
const TURN: i64 = 0x666c_6f77_6661_6272;

/// The oldest supported server version.
const LEAST_SERVER: i32 = 150_000;

/// The result of a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MigrationReport {
    /// The version before; zero if there was no schema.
    pub from: i64,
    /// The version after.
    pub to: i64,
}

/// Migrates the database at a URL to the schema this program knows, and does nothing else.
pub async fn migrate(url: &str, options: PostgresOptions) -> Result<MigrationReport, ConnectError> {
    let place = StoreLocation::parse(url)?;
    Ok(prepare(&Connector::new(place), &options).await?.migrated)
}

/// A store that is ready to be used.
pub(crate) struct PreparedStore {
    pub(crate) partitions: PartitionConfig,
    /// First key of this store's advisory locks, which tells them apart from those of other stores in the database.
    pub(crate) class: i32,
    /// Settings of the server that may lose acknowledged work.
    pub(crate) risks: Vec<String>,
    migrated: MigrationReport,
}

/// Applies missing migrations, and writes missing partition counts and secrets, in one transaction. A complete store is only
/// read, so that a user without rights to change tables can open it.
pub(crate) async fn prepare(connector: &Connector, options: &PostgresOptions) -> Result<PreparedStore, ConnectError> {
    let place = &connector.place;
    let config = match (options.partitions, place.flow_partitions) {
        (None, Some(num_flow_partitions)) => {
            Some(PartitionConfig { num_flow_partitions, ..PartitionConfig::default() })
        }
        (config, _) => config,
    };
    if let Some(config) = config.filter(|config| counts(config).contains(&0)) {
        return Err(ConnectError::NoPartitions { requested: config });
    }
    let mut client = open(connector).await?;
    let failed = |error: tokio_postgres::Error| failed(place, &error);
    let risks = meta::find(&client).await.map_err(failed)?;
    if options.strict_durability && !risks.is_empty() {
        return Err(ConnectError::NotDurable { address: place.address(), why: risks.join("; ") });
    }
    let found = find(&mut client, place).await.map_err(failed)?;
    let known = version(MIGRATIONS.len());
    if found.version > known {
        return Err(ConnectError::TooNew { found: found.version, known });
    }
    if (1..=UNRELEASED).contains(&found.version) {
        return Err(ConnectError::Unreleased { found: found.version });
    }
    if found.closed {
        let why = format!("permission denied for schema {}", place.schema);
        return Err(ConnectError::NotAllowed { address: place.address(), why });
    }
    if found.version == 0 && found.other_tables {
        return Err(ConnectError::NotAStore { schema: place.schema.clone() });
    }
    if found.version == 0 && options.existing {
        return Err(ConnectError::NoStore { schema: place.schema.clone() });
    }
    let migrated = if found.version == known && found.complete {
        MigrationReport { from: known, to: known }
    } else {
        change(&mut client, place, config, &*options.entropy).await?
    };
    let SchemaState { partitions, class, .. } = find(&mut client, place).await.map_err(failed)?;
    let unmade = || ConnectError::NoStore { schema: place.schema.clone() };
    let stored = partitions.ok_or_else(unmade)?;
    match config {
        Some(config) if config != stored => Err(ConnectError::Partitions { stored, requested: config }),
        _ => Ok(PreparedStore { partitions: stored, class, risks, migrated }),
    }
}

/// Opens a connection and checks the pooler and the server's version. This program sets no time limit for its statements.
async fn open(connector: &Connector) -> Result<Client, ConnectError> {
    let place = &connector.place;
    let address = place.address();
    let refused = |error: DriverError| match (pooler::refused(connector, error.why()), error) {
        (Some(refused), _) => refused,
        (None, DriverError::Lost(why) | DriverError::Useless(why) | DriverError::Outdated(why)) => {
            ConnectError::Unreachable { address: address.clone(), why }
        }
        (None, DriverError::Undone(why) | DriverError::Failed(why)) => {
            ConnectError::NotAllowed { address: address.clone(), why }
        }
    };
    let (client, conversation) = connector.converse("migration").await.map_err(refused)?;
    drive(conversation);
    pooler::check(connector, &client).await?;
    let answer = client.query_one("SELECT current_setting('server_version_num')::int4", &[]).await;
    let server: i32 = answer.map_err(|error| failed(place, &error))?.get(0);
    if server < LEAST_SERVER {
        return Err(ConnectError::TooOld { address, found: (server / 10_000).to_string() });
    }
    Ok(client)
}

/// The state of the schema.
struct SchemaState {
    version: i64,
    partitions: Option<PartitionConfig>,
    /// Whether a migration would add nothing.
    complete: bool,
    /// Whether the schema has any tables.
    other_tables: bool,
    /// Whether the user may not read the schema, so that its contents are unknown.
    closed: bool,
    class: i32,
}

async fn find(client: &mut Client, place: &StoreLocation) -> Result<SchemaState, tokio_postgres::Error> {
    let transaction = begin(client, place).await?;
    // Read before the version: a store that another program makes in between must not look like tables without a version.
    let tables = "SELECT count(*) > 0 FROM pg_tables WHERE schemaname = $1";
    let other_tables: bool = transaction.query_one(tables, &[&place.schema]).await?.get(0);
    let version = meta::schema_version(&transaction).await?;
    let closed = "SELECT coalesce(NOT has_schema_privilege(to_regnamespace($1)::oid, 'USAGE'), false)";
    let closed: bool = transaction.query_one(closed, &[&place.schema]).await?.get(0);
    let class = "SELECT coalesce(to_regnamespace($1)::oid::int8, 0)";
    let oid: i64 = transaction.query_one(class, &[&place.schema]).await?.get(0);
    let (mut partitions, mut complete) = (None, false);
    if version > 0 {
        partitions = meta::partitions(&transaction).await?;
        if let Some(partitions) = partitions.as_ref().filter(|_| version == self::version(MIGRATIONS.len())) {
            complete = !meta::are_missing(&transaction, partitions).await?;
        }
    }
    // Lock keys are signed numbers, oids are unsigned.
    let class = u32::try_from(oid).unwrap_or_default().cast_signed();
    Ok(SchemaState { version, partitions, complete, other_tables, closed, class })
}

async fn change(
    client: &mut Client,
    place: &StoreLocation,
    config: Option<PartitionConfig>,
    entropy: &dyn Entropy,
) -> Result<MigrationReport, ConnectError> {
    let failed = |error: tokio_postgres::Error| failed(place, &error);
    let transaction = begin(client, place).await.map_err(failed)?;
    transaction.batch_execute("SET LOCAL statement_timeout = 0").await.map_err(failed)?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&TURN]).await.map_err(failed)?;
    // The name has only letters, digits and underscores.
    let make = format!("CREATE SCHEMA IF NOT EXISTS {}", place.schema);
    if !has_schema(&transaction, place).await.map_err(failed)? {
        transaction.batch_execute(&make).await.map_err(failed)?;
    }
    // Another program may have migrated meanwhile; a newer one may have gone further.
    let found = meta::schema_version(&transaction).await.map_err(failed)?;
    let known = version(MIGRATIONS.len());
    if found > known {
        return Err(ConnectError::TooNew { found, known });
    }
    for (step, sql) in (1..).zip(MIGRATIONS) {
        if version(step) > found {
            transaction.batch_execute(sql).await.map_err(failed)?;
            meta::set_schema_version(&transaction, version(step)).await.map_err(failed)?;
        }
    }
    let partitions = match meta::partitions(&transaction).await.map_err(failed)? {
        Some(stored) => stored,
        None => {
            let partitions = config.unwrap_or_default();
            meta::set_partitions(&transaction, &partitions).await.map_err(failed)?;
            partitions
        }
    };
    let unsettled = |why| ConnectError::Server { address: place.address(), why };
    meta::settle(&transaction, &partitions, entropy).await.map_err(unsettled)?;
    transaction.commit().await.map_err(failed)?;
    Ok(MigrationReport { from: found, to: known })
}

async fn begin<'c>(client: &'c mut Client, place: &StoreLocation) -> Result<Transaction<'c>, tokio_postgres::Error> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(&format!("SET LOCAL search_path = {}", place.schema)).await?;
    Ok(transaction)
}

async fn has_schema(transaction: &Transaction<'_>, place: &StoreLocation) -> Result<bool, tokio_postgres::Error> {
    Ok(transaction.query_one("SELECT to_regnamespace($1) IS NOT NULL", &[&place.schema]).await?.get(0))
}

fn counts(config: &PartitionConfig) -> [u16; 3] {
    [config.num_flow_partitions, config.num_budget_partitions, config.num_quota_partitions]
}

/// Returns the version after this number of migrations.
fn version(step: usize) -> i64 {
    i64::try_from(step).unwrap_or(i64::MAX).saturating_add(UNRELEASED)
}
