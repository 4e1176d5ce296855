//! One connection to the server. Statements are sent as they come and answered in that order, so that several are under
//! way at once and a network is crossed once for all of them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::{BoxFuture, ready};
use futures_util::{FutureExt, TryStreamExt};
use tokio::time::timeout;
use tokio_postgres::{Client, Row, Statement};

use crate::driver_error::DriverError;
use crate::value::Parameter;

/// How long an answer may take. The server gives up on a statement sooner, so a server that is silent for longer is
/// gone.
const PATIENCE: Duration = Duration::from_secs(40);

/// Counters of the store, over all its connections.
#[derive(Default)]
pub(crate) struct Meter {
    pub(crate) statements: AtomicU64,
    pub(crate) commits: AtomicU64,
}

/// A connection with the statements it has prepared.
pub(crate) struct Connection {
    client: Arc<Client>,
    prepared: HashMap<Arc<str>, Statement>,
    meter: Arc<Meter>,
}

/// A statement under way.
pub(crate) type Answer = BoxFuture<'static, Result<Vec<Row>, DriverError>>;

impl Connection {
    pub(crate) fn new(client: Client, meter: Arc<Meter>) -> Self {
        Self { client: Arc::new(client), prepared: HashMap::new(), meter }
    }

    /// Whether the server is known to be gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// A statement as the server knows it.
    pub(crate) async fn prepare(&mut self, sql: &Arc<str>) -> Result<Statement, DriverError> {
        if let Some(statement) = self.prepared.get(sql) {
            return Ok(statement.clone());
        }
        let statement = answered(self.client.prepare(sql)).await?;
        self.prepared.insert(sql.clone(), statement.clone());
        Ok(statement)
    }

    /// Sends a statement, and gives what its answer is to be.
    pub(crate) async fn send(&mut self, sql: &Arc<str>, parameters: Vec<Parameter>) -> Result<Answer, DriverError> {
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
        // A statement is sent when its answer is first asked for.
        Ok(match answer.as_mut().now_or_never() {
            Some(at_once) => ready(at_once).boxed(),
            None => answer,
        })
    }

    /// Runs a statement.
    pub(crate) async fn run(&mut self, sql: &Arc<str>, parameters: Vec<Parameter>) -> Result<Vec<Row>, DriverError> {
        self.send(sql, parameters).await?.await
    }
}

async fn answered<T>(call: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, DriverError> {
    match timeout(PATIENCE, call).await {
        Ok(answer) => answer.map_err(|error| DriverError::of(&error)),
        Err(_) => Err(DriverError::Lost("the server does not answer".into())),
    }
}
