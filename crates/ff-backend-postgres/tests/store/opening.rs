//! Opening a store: the required permissions, and the databases that are accepted.

use ff_backend_postgres::{ConnectError, MigrationReport, PostgresOptions, migrate};
use ff_core::backend::{EngineStore, Perform};
use ff_core::partition::PartitionConfig;
use futures_util::future::join_all;

use crate::{StoreLocation, findings, work};

fn with(partitions: PartitionConfig) -> PostgresOptions {
    PostgresOptions { partitions: Some(partitions), ..PostgresOptions::default() }
}

fn few() -> PartitionConfig {
    PartitionConfig { num_flow_partitions: 4, num_budget_partitions: 2, num_quota_partitions: 1 }
}

async fn refusal(place: &StoreLocation, options: PostgresOptions) -> ConnectError {
    match ff_backend_postgres::connect(&place.url(), options).await {
        Ok(_) => panic!("it was opened"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn programs_that_start_at_once_make_one_store() {
    let place = StoreLocation::new();
    let stores = join_all((0..6).map(|_| place.open_with(with(few())))).await;
    for store in &stores {
        store.submit(work()).await.unwrap();
    }
    let mut rings = Vec::new();
    for store in &stores {
        rings.push(store.snapshot(3).await.unwrap().ring.unwrap());
    }
    assert!(rings.iter().all(|ring| *ring == rings[0]), "they share their secrets");
    assert_eq!(findings(&stores[0]).await, []);
}

#[tokio::test]
async fn a_store_is_migrated_once() {
    let place = StoreLocation::new();
    let migrated = async || migrate(&place.url(), with(few())).await.unwrap();
    let MigrationReport { from, to } = migrated().await;
    assert!(from == 0 && to > 0);
    assert_eq!(migrated().await, MigrationReport { from: to, to });
    assert_eq!(place.open().await.partitions(), few());
}

#[tokio::test]
async fn a_schema_that_was_never_released_is_refused_and_left_alone() {
    let place = StoreLocation::new();
    drop(place.open().await);
    let client = place.look().await;
    client.execute("UPDATE meta SET value = 35 WHERE key = 'schema_version'", &[]).await.unwrap();
    let error = refusal(&place, PostgresOptions::default()).await;
    assert!(matches!(error, ConnectError::Unreleased { found: 35 }), "{error}");
    let version = client.query_one("SELECT value FROM meta WHERE key = 'schema_version'", &[]).await.unwrap();
    assert_eq!(version.get::<_, i64>(0), 35);
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let place = StoreLocation::new();
    drop(place.open().await);
    let client = place.look().await;
    client.execute("UPDATE meta SET value = 99 WHERE key = 'schema_version'", &[]).await.unwrap();
    let error = refusal(&place, PostgresOptions::default()).await;
    assert!(matches!(error, ConnectError::TooNew { found: 99, .. }), "{error}");
    let error = migrate(&place.url(), PostgresOptions::default()).await.unwrap_err();
    assert!(error.to_string().contains("use a newer program"), "{error}");
    let version = client.query_one("SELECT value FROM meta WHERE key = 'schema_version'", &[]).await.unwrap();
    assert_eq!(version.get::<_, i64>(0), 99);
}

#[tokio::test]
async fn partition_counts_are_those_the_store_was_made_with() {
    let place = StoreLocation::new();
    drop(place.open_with(with(few())).await);
    assert_eq!(place.open().await.partitions(), few(), "not said");
    let other = PartitionConfig { num_flow_partitions: 8, ..few() };
    let error = refusal(&place, with(other)).await;
    assert!(
        matches!(error, ConnectError::Partitions { stored, requested } if stored == few() && requested == other),
        "{error}"
    );
    let none = PartitionConfig { num_flow_partitions: 0, ..few() };
    assert!(matches!(refusal(&place, with(none)).await, ConnectError::NoPartitions { .. }));
}

#[tokio::test]
async fn the_existing_option_opens_a_store_but_creates_none() {
    let place = StoreLocation::new();
    let existing = || PostgresOptions { existing: true, ..PostgresOptions::default() };
    let error = refusal(&place, existing()).await;
    assert_eq!(error.to_string(), "the schema flowfabric holds no store: `ff migrate` makes one");
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'flowfabric'";
    assert_eq!(place.look().await.query_one(schemas, &[]).await.unwrap().get::<_, i64>(0), 0);
    drop(place.open().await);
    place.open_with(existing()).await;
}

#[tokio::test]
async fn tables_of_something_else_are_left_alone() {
    let place = StoreLocation::new();
    let client = place.look().await;
    client.batch_execute("CREATE SCHEMA flowfabric; CREATE TABLE flowfabric.diary (entry text)").await.unwrap();
    let error = refusal(&place, PostgresOptions::default()).await;
    assert!(matches!(error, ConnectError::NotAStore { .. }), "{error}");
    let tables = client.query("SELECT 1 FROM pg_tables WHERE schemaname = 'flowfabric'", &[]).await.unwrap();
    assert_eq!(tables.len(), 1);
}

/// A user that may not create tables can use a store that another user has created.
#[tokio::test]
async fn a_user_without_rights_to_change_tables_can_work() {
    let place = StoreLocation::new();
    drop(place.open().await);
    let client = place.look().await;
    client.batch_execute("CREATE ROLE worker LOGIN").await.unwrap();
    let url = place.url().replace("postgres@", "worker@");
    let stranger = ff_backend_postgres::connect(&url, PostgresOptions::default()).await.err().unwrap();
    assert!(
        stranger.to_string().ends_with("refuses the connection: permission denied for schema flowfabric"),
        "{stranger}"
    );
    let grant = "GRANT USAGE ON SCHEMA flowfabric TO worker;
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA flowfabric TO worker";
    client.batch_execute(grant).await.unwrap();
    let store = ff_backend_postgres::connect(&url, PostgresOptions::default()).await.unwrap();
    store.submit(work()).await.unwrap();
    let other = url.replace("schema=flowfabric", "schema=another");
    let error = ff_backend_postgres::connect(&other, PostgresOptions::default()).await.err().unwrap();
    assert!(matches!(error, ConnectError::NotAllowed { .. }), "{error}");
}

#[tokio::test]
async fn two_schemas_are_two_stores() {
    let place = StoreLocation::new();
    let other = ff_backend_postgres::connect(&place.0.url("other"), with(few())).await.unwrap();
    let id = place.open_with(with(few())).await.submit(work()).await.unwrap().execution_id;
    assert!(other.describe(&id).await.is_err());
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let mut place = StoreLocation::new();
    place.0.kill();
    let error = refusal(&place, PostgresOptions::default()).await;
    assert!(matches!(error, ConnectError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains(&format!("127.0.0.1:{}", place.0.port)), "{error}");
    let url = "postgres://postgres@127.0.0.1:1/nowhere?sslmode=require";
    assert!(matches!(
        ff_backend_postgres::connect(url, PostgresOptions::default()).await.err(),
        Some(ConnectError::Unreachable { .. })
    ));
}
