//! Tests of promises that only the Postgres store makes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod dispatch;
mod flows;
mod hints;
mod inbox;
mod lanes;
mod load;
mod losing;
mod opening;
mod plans;
mod pool;
mod restart;
mod schema;
#[path = "../../../ff-backend-sql/tests/shared/mod.rs"]
mod shared;
mod staying;
#[path = "../support/mod.rs"]
mod support;
mod trying_again;
mod updates;

use std::future::poll_fn;

use ff_backend_postgres::{PostgresBackend, PostgresOptions};
use ff_core::partition::PartitionConfig;
use shared::{at, claim_on, findings, signal, stopped_clock, suspended, work};
use support::Postgres;
use tokio::sync::mpsc;
use tokio_postgres::{AsyncMessage, Client, NoTls};

/// The server of one test, and the schema of its store.
struct StoreLocation(Postgres);

impl StoreLocation {
    fn new() -> Self {
        Self(Postgres::quick())
    }

    fn url(&self) -> String {
        self.0.url("flowfabric")
    }

    async fn open(&self) -> PostgresBackend {
        self.open_with(PostgresOptions::default()).await
    }

    async fn open_with(&self, options: PostgresOptions) -> PostgresBackend {
        ff_backend_postgres::connect(&self.url(), options).await.unwrap()
    }

    /// Opens the store as the tests of both SQL stores do.
    async fn open_store(&self, partitions: Option<PartitionConfig>) -> PostgresBackend {
        self.open_with(PostgresOptions { partitions, ..PostgresOptions::default() }).await
    }

    /// Fills the feed of a store with copies of its only delivery, up to `full` deliveries.
    async fn fill_feed(&self, full: usize) {
        let fill = "
            INSERT INTO delivery SELECT partition, recorded_at, more.seq - 1, more.seq, record
            FROM delivery, generate_series(2, $1::int8) AS more(seq)";
        let filled = self.look().await.execute(fill, &[&i64::try_from(full).unwrap()]).await.unwrap();
        assert_eq!(filled, full as u64 - 1);
    }

    /// Opens a connection to the database, for changing it without the store.
    async fn look(&self) -> Client {
        let url = format!("postgres://postgres@127.0.0.1:{}/postgres", self.0.port);
        let (client, conversation) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        tokio::spawn(conversation);
        client.batch_execute("SET search_path = flowfabric").await.unwrap();
        client
    }

    /// Returns the notes that programs send from now on.
    async fn overhear(&self) -> (Client, mpsc::UnboundedReceiver<String>) {
        let url = format!("postgres://postgres@127.0.0.1:{}/postgres", self.0.port);
        let (client, mut conversation) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        let (hear, notes) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|cx| conversation.poll_message(cx)).await {
                if let AsyncMessage::Notification(note) = message {
                    hear.send(note.payload().to_owned()).unwrap();
                }
            }
        });
        client.batch_execute("LISTEN flowfabric_hints").await.unwrap();
        (client, notes)
    }
}
