//! A store in this process with its background parts: the scheduler hands out work, the notifier answers other long polls, and the
//! engine fires due work.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::backend::{Answer, EngineBackend, EngineStore, LongPoll};
use ff_core::types::TimestampMs;
use ff_engine::{Coordinator, Engine, EngineOptions, Examination};

use crate::long_poll::LongPolls;

/// A store and its background parts. Clones share them.
#[derive(Clone)]
pub struct Runtime(Arc<RuntimeParts>);

struct RuntimeParts {
    store: Arc<dyn EngineStore>,
    /// The same store, as callers see it.
    backend: Arc<dyn EngineBackend>,
    polls: Arc<LongPolls>,
    long_poll: Arc<dyn LongPoll>,
    engine: Mutex<Option<Engine>>,
}

impl Runtime {
    /// Starts without an engine: another process fires due work.
    pub fn without_engine(store: Arc<dyn EngineStore>) -> Self {
        Self::over(store, None)
    }

    /// Starts with an engine.
    pub fn start(store: Arc<dyn EngineStore>) -> Self {
        Self::start_with(store, EngineOptions::default())
    }

    /// Starts with an engine with these options.
    pub fn start_with(store: Arc<dyn EngineStore>, options: EngineOptions) -> Self {
        let engine = Engine::start_with(store.clone(), options);
        Self::over(store, Some(engine))
    }

    fn over(store: Arc<dyn EngineStore>, engine: Option<Engine>) -> Self {
        let polls = Arc::new(LongPolls::start(&store));
        let backend = Arc::new(Coordinator::over(store.clone()));
        let long_poll = polls.clone();
        Self(Arc::new(RuntimeParts { store, backend, polls, long_poll, engine: Mutex::new(engine) }))
    }

    pub fn backend(&self) -> &Arc<dyn EngineBackend> {
        &self.0.backend
    }

    pub fn long_poll(&self) -> &Arc<dyn LongPoll> {
        &self.0.long_poll
    }

    /// The store, as an engine uses it.
    pub fn engine_store(&self) -> &Arc<dyn EngineStore> {
        &self.0.store
    }

    /// Checks the invariants on one partition.
    pub async fn examine_partition(&self, partition: u16) -> Answer<Examination> {
        ff_engine::examine_partition(&*self.0.store, partition).await
    }

    /// Returns how long the oldest due work has been waiting to be fired; `None` where no engine runs in this process.
    pub fn pump_behind(&self, now: TimestampMs) -> Option<Duration> {
        self.engine().as_ref().map(|engine| engine.behind(now))
    }

    /// Returns the number of quota corrections by the engine of this process; zero where no engine runs in it.
    pub fn quota_corrections(&self) -> u64 {
        self.engine().as_ref().map_or(0, Engine::quota_corrections)
    }

    /// Answers every waiting caller, so that a server can stop at once.
    pub fn release_waiters(&self) {
        self.0.polls.stop();
    }

    /// Stops everything except the store, which belongs to the caller.
    pub async fn stop(&self) {
        self.0.polls.end().await;
        let engine = self.engine().take();
        if let Some(engine) = engine {
            engine.stop().await;
        }
    }

    fn engine(&self) -> MutexGuard<'_, Option<Engine>> {
        self.0.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
