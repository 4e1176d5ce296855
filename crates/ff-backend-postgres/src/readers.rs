//! The reading connections. Their number is bounded; each is opened when it is first needed and used for one question at a time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use ff_backend_sql::{Load, Question, Read, ReadContext, Row, SqlError};
use ff_core::backend::Answer;
use ff_core::engine_error::EngineError;
use futures_util::future::BoxFuture;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::connect::connection::Connection;
use crate::connect::connector::{Connector, READER};
use crate::connect::driver_error::DriverError;
use crate::statement::dialect::StatementCache;
use crate::statement::request::Request;

/// Maximum time that a question waits for a connection.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum number of times a question is tried when its connection is lost before the first answer.
const ATTEMPTS_MAX: usize = 4;

/// Begins a transaction with one snapshot.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// Pool of the reading connections.
pub(crate) struct Readers {
    connector: Arc<Connector>,
    permits: Semaphore,
    idle: Mutex<Vec<ReaderConnection>>,
}

impl Readers {
    pub(crate) fn new(connector: Arc<Connector>) -> Self {
        let permits = Semaphore::new(connector.place.readers);
        Self { connector, permits, idle: Mutex::default() }
    }

    /// Answers a question from the committed data.
    pub(crate) async fn read<Q: Question>(&self, question: Q, at: ReadContext) -> Answer<Q::Answer> {
        let (_permit, mut reading) = self.take().await?;
        let answer = question.ask(&mut reading, &at).await;
        self.give_back(reading).await;
        answer
    }

    /// Takes a connection for one question. Boxed, as is `give_back`, so that both are compiled once and not for every question.
    fn take(&self) -> BoxFuture<'_, Answer<(SemaphorePermit<'_>, ReaderConnection)>> {
        Box::pin(async {
            let permit = match timeout(PATIENCE, self.permits.acquire()).await {
                Ok(Ok(permit)) => permit,
                Ok(Err(_)) => return Err(EngineError::Unavailable("the store is closed".into())),
                Err(_) => return Err(self.exhausted()),
            };
            let idle = self.idle().pop();
            Ok((permit, idle.unwrap_or_else(|| ReaderConnection::new(self.connector.clone()))))
        })
    }

    fn give_back(&self, mut reading: ReaderConnection) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            reading.end().await;
            self.idle().push(reading);
        })
    }

    /// Waits for running reads and accepts no more.
    pub(crate) async fn close(&self) {
        let all = u32::try_from(self.connector.place.readers).unwrap_or(u32::MAX);
        // Fails if the pool is closed already; then no read is running.
        if let Ok(all) = self.permits.acquire_many(all).await {
            self.permits.close();
            self.idle().clear();
            drop(all);
        }
    }

    fn exhausted(&self) -> EngineError {
        let readers = self.connector.place.readers;
        EngineError::Unavailable(format!(
            "all {readers} connections that read have been in use for {} s; readers=NUMBER in the URL allows more",
            PATIENCE.as_secs()
        ))
    }

    /// Returns the idle connections. They stay valid even if a holder of the lock panicked.
    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<ReaderConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reading connection, reopened after it is lost.
struct ReaderConnection {
    connector: Arc<Connector>,
    connection: Option<Connection>,
    statement_cache: StatementCache,
    /// The statement that follows the first one of every transaction.
    settle: Option<String>,
    /// Whether the current question has read anything, which fixes its snapshot.
    began: bool,
}

impl ReaderConnection {
    fn new(connector: Arc<Connector>) -> Self {
        let settle = connector.settle(READER);
        Self { connector, connection: None, statement_cache: StatementCache::default(), settle, began: false }
    }

    fn settle(
        &mut self,
        outcome: Result<Result<Vec<Vec<Row>>, SqlError>, DriverError>,
    ) -> Result<Vec<Vec<Row>>, SqlError> {
        match outcome {
            Ok(found) => found,
            Err(error) => {
                if error.is_lost() {
                    self.connection = None;
                }
                Err(SqlError::Failed(error.why().to_owned()))
            }
        }
    }

    async fn try_to_find(&mut self, load: &Load) -> Result<Result<Vec<Vec<Row>>, SqlError>, DriverError> {
        if self.began && self.connection.is_none() {
            return Err(DriverError::Lost("the connection was lost".into()));
        }
        let mut connection = match self.connection.take().filter(|connection| self.began || !connection.is_closed()) {
            Some(connection) => connection,
            None => self.connector.open(READER).await?,
        };
        let mut sent = Vec::new();
        if !self.began {
            for sql in [Some(BEGIN), self.settle.as_deref()].into_iter().flatten() {
                sent.push(connection.send(sql, vec![]).await?);
            }
        }
        let reply = Request::of(&mut self.statement_cache, &mut connection, load).await?.send(&mut connection).await?;
        for before in sent {
            before.await?;
        }
        let found = reply.rows().await;
        self.connection = Some(connection);
        self.began |= found.is_ok();
        found
    }

    /// Ends the question's transaction without waiting for the answer. The next question is answered after it.
    async fn end(&mut self) {
        let began = std::mem::take(&mut self.began);
        if let Some(connection) = &mut self.connection
            && (!began || connection.send("COMMIT", vec![]).await.is_err())
        {
            // Nothing was read, or the transaction cannot be ended. Its state on the server is unknown.
            self.connection = None;
        }
    }
}

#[async_trait]
impl Read for ReaderConnection {
    async fn answer(&mut self, request: Load) -> Result<Vec<Vec<Row>>, SqlError> {
        for _ in 1..ATTEMPTS_MAX {
            match self.try_to_find(&request).await {
                Err(error) if error.is_lost() && !self.began => self.connection = None,
                found => return self.settle(found),
            }
        }
        let found = self.try_to_find(&request).await;
        self.settle(found)
    }
}
