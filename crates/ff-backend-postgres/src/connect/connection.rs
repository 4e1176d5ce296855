//! One connection to the server. Statements are sent without waiting for earlier answers and are answered in order, so several
//! share one network round trip.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::{BoxFuture, ready};
use futures_util::{FutureExt, TryStreamExt};
use tokio::time::timeout;
use tokio_postgres::{Client, Row, Socket, Statement};

use super::driver_error::DriverError;
use super::tls::TlsChannel;
use crate::statement::value::Parameter;

/// Maximum time for an answer. The server's statement timeout is shorter, so a server that is silent for longer is gone.
const PATIENCE: Duration = Duration::from_secs(40);

/// Counters of the store, over all its connections.
#[derive(Default)]
pub(crate) struct Meter {
    pub(crate) statements: AtomicU64,
    pub(crate) commits: AtomicU64,
}

/// A connection with its prepared statements.
pub(crate) struct Connection {
    client: Arc<Client>,
    prepared: HashMap<String, Statement>,
    meter: Arc<Meter>,
}

/// The pending answer to a statement.
pub(crate) type Answer = BoxFuture<'static, Result<Vec<Row>, DriverError>>;

impl Connection {
    pub(crate) fn new(client: Client, meter: Arc<Meter>) -> Self {
        Self { client: Arc::new(client), prepared: HashMap::new(), meter }
    }

    /// Returns whether the connection is known to be closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Returns a prepared statement. Asks the server to prepare it the first time.
    pub(crate) async fn prepare(&mut self, sql: &str) -> Result<Statement, DriverError> {
        if let Some(statement) = self.prepared.get(sql) {
            return Ok(statement.clone());
        }
        let statement = answered(self.client.prepare(sql)).await?;
        self.prepared.insert(sql.into(), statement.clone());
        Ok(statement)
    }

    /// Sends a statement and returns its pending answer.
    pub(crate) async fn send(&mut self, sql: &str, parameters: Vec<Parameter>) -> Result<Answer, DriverError> {
        let statement = self.prepare(sql).await?;
        self.meter.statements.fetch_add(1, Ordering::Relaxed);
        let client = self.client.clone();
        let mut answer = Box::pin(async move {
            answered(async {
                let rows = client.query_raw(&statement, parameters).await?;
                rows.try_collect().await
            })
            .await
        });
        // The driver sends a statement when its future is first polled.
        Ok(match answer.as_mut().now_or_never() {
            Some(at_once) => ready(at_once).boxed(),
            None => answer,
        })
    }

    /// Sends a statement and waits for its answer.
    pub(crate) async fn run(&mut self, sql: &str, parameters: Vec<Parameter>) -> Result<Vec<Row>, DriverError> {
        self.send(sql, parameters).await?.await
    }
}

/// Drives a connection until it ends.
pub(crate) fn drive(conversation: tokio_postgres::Connection<Socket, TlsChannel>) {
    tokio::spawn(async move {
        if let Err(error) = conversation.await {
            tracing::debug!(%error, "a connection ended");
        }
    });
}

async fn answered<T>(call: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, DriverError> {
    match timeout(PATIENCE, call).await {
        Ok(answer) => answer.map_err(|error| DriverError::of(&error)),
        Err(_) => Err(DriverError::Lost("the server does not answer".into())),
    }
}
