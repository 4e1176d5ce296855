//! Short reads beside the writer, on threads that may block. A read is one transaction that ends with its answer, because a long
//! one would keep the log from being emptied.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use ff_backend_sql::{Question, ReadContext, SqlError};
use ff_core::backend::Answer;
use ff_core::engine_error::EngineError;
use tokio::sync::Semaphore;

use crate::connection::{Connection, Meter, open_to_read};
use crate::session::ReaderSession;

/// Maximum number of concurrent reads.
const READERS: u32 = 4;

/// Pool of the reading connections, which are opened when they are first needed.
pub(crate) struct Readers(Arc<Pool>);

struct Pool {
    path: PathBuf,
    meter: Arc<Meter>,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<ReaderSession>>,
}

impl Readers {
    pub(crate) fn new(path: PathBuf, meter: Arc<Meter>) -> Self {
        let permits = Arc::new(Semaphore::new(READERS as usize));
        Self(Arc::new(Pool { path, meter, permits, idle: Mutex::default() }))
    }

    /// Answers a question from the committed data.
    pub(crate) async fn read<Q: Question>(&self, question: Q, at: ReadContext) -> Answer<Q::Answer> {
        let permit = self.0.permits.clone().acquire_owned().await.map_err(|_| closed())?;
        let pool = self.0.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let answer = pool.answer(question, at);
            drop(permit);
            answer
        });
        reading.await.map_err(|error| EngineError::Unavailable(format!("a read stopped half-way: {error}")))?
    }

    /// Waits for running reads and accepts no more.
    pub(crate) async fn close(&self) {
        // Fails if the pool is closed already; then no read is running.
        if let Ok(all) = self.0.permits.acquire_many(READERS).await {
            self.0.permits.close();
            self.0.idle().clear();
            drop(all);
        }
    }
}

impl Pool {
    fn answer<Q: Question>(&self, question: Q, at: ReadContext) -> Answer<Q::Answer> {
        let idle = self.idle().pop();
        let mut reading = match idle {
            Some(reading) => reading,
            None => self.open()?,
        };
        reading.connection.run("BEGIN")?;
        let answer = pollster::block_on(question.ask(&mut reading, &at));
        reading.connection.run("COMMIT")?;
        self.idle().push(reading);
        answer
    }

    fn open(&self) -> Answer<ReaderSession> {
        let failed = |error: rusqlite::Error| SqlError::Failed(error.to_string());
        let sqlite = open_to_read(&self.path).map_err(failed)?;
        Ok(ReaderSession::over(Connection::new(sqlite, self.meter.clone())))
    }

    /// Returns the idle connections. They stay valid even if a holder of the lock panicked.
    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<ReaderSession>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn closed() -> EngineError {
    EngineError::Unavailable("the store is closed".into())
}
