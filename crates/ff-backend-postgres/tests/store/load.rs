//! Load that continues while the server is restarted: submitters and workers repeat calls without an answer.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ff_backend_postgres::{PostgresBackend, PostgresOptions};
use ff_core::backend::{Answer, EngineStore, Perform};
use ff_core::contracts::{ClaimArgs, CompleteArgs};
use ff_core::engine_error::EngineError;
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_core::types::ExecutionId;
use futures_util::future::join_all;
use uuid::Uuid;

use crate::{claim_on, findings, work};

/// Few partitions, so that callers meet on them.
pub(crate) const PARTITIONS: u16 = 4;
const WORKERS: usize = 4;
const SUBMITTERS: usize = 2;

/// Returns the options of a store with few partitions.
pub(crate) fn few() -> PostgresOptions {
    let partitions = PartitionConfig { num_flow_partitions: PARTITIONS, ..PartitionConfig::default() };
    PostgresOptions { partitions: Some(partitions), ..PostgresOptions::default() }
}

/// A load on one store, through one or several programs.
pub(crate) struct Load {
    ways: Vec<PostgresBackend>,
    jobs: usize,
    submitted: Mutex<Vec<ExecutionId>>,
    completed: Mutex<BTreeMap<ExecutionId, usize>>,
    /// Number of answers with an unknown outcome, or that the store was unavailable.
    pub(crate) unanswered: AtomicUsize,
}

impl Load {
    pub(crate) fn new(ways: Vec<PostgresBackend>, jobs: usize) -> Self {
        let (submitted, completed) = (Mutex::default(), Mutex::default());
        Self { ways, jobs, submitted, completed, unanswered: AtomicUsize::new(0) }
    }

    /// Submits all jobs and completes them.
    pub(crate) async fn run(&self) {
        let submitting = join_all(self.ways.iter().cycle().take(SUBMITTERS).map(|store| self.submit(store)));
        let working = join_all(self.ways.iter().cycle().take(WORKERS).map(|store| self.work(store)));
        tokio::join!(submitting, working);
    }

    /// Returns the number of completed jobs.
    pub(crate) fn completed(&self) -> usize {
        self.completed.lock().unwrap().len()
    }

    /// Fails unless every acknowledged job exists with its result and the doctor finds nothing wrong.
    pub(crate) async fn check(&self) {
        let store = &self.ways[0];
        let submitted = self.submitted.lock().unwrap().clone();
        assert_eq!(submitted.len(), self.jobs / SUBMITTERS * SUBMITTERS);
        for id in &submitted {
            let info = store.describe(id).await.unwrap();
            assert_eq!(info.public_state, PublicState::Completed, "{id}");
            let result = store.result(id).await.unwrap().result.unwrap();
            assert_eq!(result, Payload::json(format!("\"{id}\"")), "{id}");
        }
        assert_eq!(findings(store).await, []);
    }

    async fn submit(&self, store: &PostgresBackend) {
        for _ in 0..self.jobs / SUBMITTERS {
            let args = work();
            let submitted = self.insist(async || store.submit(args.clone()).await).await.unwrap();
            self.submitted.lock().unwrap().push(submitted.execution_id);
        }
    }

    async fn work(&self, store: &PostgresBackend) {
        while self.completed() < self.jobs / SUBMITTERS * SUBMITTERS {
            for partition in 0..PARTITIONS {
                let any = ExecutionId::new(partition, Uuid::nil());
                let args = ClaimArgs { max: 4, lease_ttl_ms: 1_000, ..claim_on(&any) };
                // A claim without an answer is taken back when its lease expires.
                let Ok(claims) = self.once(store.claim(args).await) else { continue };
                if claims.claimed.is_empty() {
                    self.once(store.pump(partition).await).ok();
                }
                for claimed in claims.claimed {
                    let id = claimed.task.execution_id;
                    let result = Some(Payload::json(format!("\"{id}\"")));
                    let done = CompleteArgs { execution_id: id, fence: claimed.task.fence, result };
                    if self.insist(async || store.complete(done.clone()).await).await.is_ok() {
                        *self.completed.lock().unwrap().entry(id).or_default() += 1;
                    }
                }
            }
        }
        let completed = self.completed.lock().unwrap();
        let twice: Vec<_> = completed.iter().filter(|(_, times)| **times != 1).collect();
        assert!(twice.is_empty(), "another worker's completion was acknowledged: {twice:?}");
    }

    /// Repeats a call until it is answered: every change is safe to repeat.
    async fn insist<T>(&self, ask: impl AsyncFn() -> Answer<T>) -> Answer<T> {
        loop {
            match self.once(ask().await) {
                Err(EngineError::Unavailable(_) | EngineError::Unknown(_)) => {}
                answer => return answer,
            }
        }
    }

    fn once<T>(&self, answer: Answer<T>) -> Answer<T> {
        if let Err(EngineError::Unavailable(_) | EngineError::Unknown(_)) = &answer {
            self.unanswered.fetch_add(1, Ordering::Relaxed);
        }
        answer
    }
}
