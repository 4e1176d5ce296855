//! A store in a Postgres database.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use ff_backend_postgres::{PostgresBackend, PostgresOptions, StoreLocation};
use ff_sdk::ConnectError;
use serde_json::Value;
use tokio_postgres::Client;

use super::StoreUsage;
use crate::processor::processor_time_of;

/// The database of a store, the store itself, and a separate connection.
pub(crate) struct Database {
    store: Arc<PostgresBackend>,
    place: StoreLocation,
    client: Client,
    backends: BackendTimes,
}

/// Processor time of the server's processes: the last reading of each, and the total. The total includes time before the first
/// reading, so only differences count. Empty when the server is on another machine.
#[derive(Default)]
struct BackendTimes {
    last: HashMap<i32, Duration>,
    total: Duration,
}

impl BackendTimes {
    /// Adds the time each process has used since its last reading. Time between the last reading and the end of a process is
    /// not counted.
    fn look(&mut self, processes: impl Iterator<Item = i32>) {
        let now: HashMap<_, _> = processes.filter_map(|id| Some((id, processor_time_of(id, "postgres")?))).collect();
        for (id, used) in &now {
            self.total += used.saturating_sub(self.last.get(id).copied().unwrap_or_default());
        }
        self.last = now;
    }
}

impl Database {
    pub(super) async fn connect(url: &str) -> anyhow::Result<(Arc<PostgresBackend>, Self)> {
        let connected = ff_backend_postgres::connect(url, PostgresOptions::default()).await;
        let store = Arc::new(connected.map_err(ConnectError::from)?);
        let place = StoreLocation::parse(url)?;
        let client = place.connect().await?;
        Ok((store.clone(), Self { store, place, client, backends: BackendTimes::default() }))
    }

    /// Opens another connection like those of the store.
    pub(crate) async fn another(&self) -> anyhow::Result<Client> {
        Ok(self.place.connect().await?)
    }

    /// Returns the number of write connections of the store.
    pub(crate) fn writers(&self) -> usize {
        self.place.writers()
    }

    /// Returns the number of statements sent by the store.
    pub(crate) fn statements(&self) -> u64 {
        self.store.statements()
    }

    pub(super) async fn reading(&mut self) -> anyhow::Result<StoreUsage> {
        let sizes = "
            SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::int8 FROM pg_class c
            JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'";
        let bytes: i64 = self.client.query_one(sizes, &[&self.place.schema()]).await?.get(0);
        let processes = self.client.query("SELECT pid FROM pg_stat_activity", &[]).await?;
        self.backends.look(processes.iter().map(|row| row.get(0)));
        let busy_us = u64::try_from(self.backends.total.as_micros())?;
        let commits = self.store.commits();
        Ok(StoreUsage { bytes: u64::try_from(bytes)?, commits, busy_us, ..StoreUsage::default() })
    }

    pub(super) async fn settings(&self) -> anyhow::Result<BTreeMap<&'static str, Value>> {
        let sql =
            "SELECT name, setting FROM pg_settings WHERE name IN ('server_version', 'fsync', 'synchronous_commit')";
        let settings: BTreeMap<String, String> =
            self.client.query(sql, &[]).await?.iter().map(|row| (row.get(0), row.get(1))).collect();
        let set = |name: &str| settings.get(name).map(String::as_str).context("a server does not tell its settings");
        let durability = format!("fsync {}, synchronous_commit {}", set("fsync")?, set("synchronous_commit")?);
        Ok(BTreeMap::from([
            ("server", format!("Postgres {}", set("server_version")?).into()),
            ("durability", durability.into()),
            ("writers", self.place.writers().into()),
            ("server_time", "processor time of the server's processes, when they are on this machine".into()),
        ]))
    }

    pub(super) async fn close(self) {
        self.store.close().await;
    }
}
