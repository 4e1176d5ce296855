//! Many concurrent callers, and a ledger of their replies. The ledger must agree with the store at the end, after any
//! failure of the servers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use ff_backend_valkey::ValkeyBackend;
use ff_core::backend::{Answer, EngineStore, Perform};
use ff_core::contracts::{ClaimedExecution, CompleteArgs, SubmitArgs};
use ff_core::engine_error::EngineError;
use ff_core::execution::AttemptOutcome;
use ff_core::payload::Payload;
use ff_core::types::{ExecutionId, LeaseId};
use tokio::sync::watch;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::{PATIENCE, claim_on, findings, insist, work};

/// Number of concurrent callers.
const CALLERS: usize = 16;

/// The callers of one store, and the replies they got.
pub(crate) struct Load {
    pub(crate) store: Arc<ValkeyBackend>,
    ledger: Mutex<Ledger>,
    /// Number of answers so far.
    answers: watch::Sender<usize>,
    /// Whether all servers are running. A caller without an answer waits for that before it repeats its call.
    up: watch::Sender<bool>,
}

#[derive(Default)]
struct Ledger {
    submitted: BTreeSet<ExecutionId>,
    /// The leases by which each execution was completed, according to the replies.
    completed: BTreeMap<ExecutionId, BTreeSet<LeaseId>>,
    /// Number of times that a caller had to repeat a call.
    repeated: usize,
}

impl Load {
    pub(crate) fn on(store: ValkeyBackend) -> Arc<Self> {
        Arc::new(Self {
            store: Arc::new(store),
            ledger: Mutex::default(),
            answers: watch::Sender::new(0),
            up: watch::Sender::new(true),
        })
    }

    /// Starts the callers. Each submits `jobs_each` jobs and does all waiting work of their partitions.
    pub(crate) fn start(self: &Arc<Self>, jobs_each: usize) -> JoinSet<()> {
        let mut callers = JoinSet::new();
        for _ in 0..CALLERS {
            let load = self.clone();
            callers.spawn(async move {
                for _ in 0..jobs_each {
                    // Jobs go to all partitions, so that the failure of every server is noticed.
                    let id = load.submit(SubmitArgs { uuid: Uuid::now_v7(), ..work() }).await;
                    load.do_what_waits(id.partition()).await;
                }
            });
        }
        callers
    }

    /// Waits for a number of further answers.
    pub(crate) async fn goes_on(&self, answers: usize) {
        let mut seen = self.answers.subscribe();
        let enough = *seen.borrow_and_update() + answers;
        let going = seen.wait_for(|count| *count >= enough);
        tokio::time::timeout(PATIENCE, going).await.expect("the load goes on").expect("the counter lives");
    }

    /// Sets whether all servers are running.
    pub(crate) fn all_there(&self, up: bool) {
        self.up.send_replace(up);
    }

    /// Does one job on a partition whose server is running: no answer may be missing.
    pub(crate) async fn works_on(&self, partition: u16) {
        let args = loop {
            let args = work();
            if args.execution_id(&self.store.partitions()).partition() == partition {
                break args;
            }
        };
        let id = self.store.submit(args).await.unwrap().execution_id;
        self.ledger.lock().unwrap().submitted.insert(id);
        for claimed in self.store.claim(claim_on(partition, 1)).await.unwrap().claimed {
            self.complete(claimed).await;
        }
    }

    /// Returns the number of times that a caller had to repeat a call.
    pub(crate) fn repeated(&self) -> usize {
        self.ledger.lock().unwrap().repeated
    }

    async fn submit(&self, args: SubmitArgs) -> ExecutionId {
        let id = self.ask(|| self.store.submit(args.clone())).await.execution_id;
        assert!(self.ledger.lock().unwrap().submitted.insert(id), "{id} was handed out twice");
        id
    }

    /// Claims and completes waiting work. A claim without an answer is not repeated: its executions return when their
    /// leases expire.
    async fn do_what_waits(&self, partition: u16) {
        match self.store.claim(claim_on(partition, 3)).await {
            Ok(claims) => {
                self.answered();
                for claimed in claims.claimed {
                    self.complete(claimed).await;
                }
            }
            Err(error) => self.may_be_repeated(&error),
        }
    }

    async fn complete(&self, claimed: ClaimedExecution) {
        let (execution_id, fence) = (claimed.task.execution_id, claimed.task.fence);
        let args = CompleteArgs { execution_id, fence, result: Some(result_of(&fence.lease_id)) };
        self.ask(|| self.store.complete(args.clone())).await;
        self.ledger.lock().unwrap().completed.entry(execution_id).or_default().insert(fence.lease_id);
    }

    /// Repeats a call until there is an answer.
    async fn ask<T, Fut: Future<Output = Answer<T>>>(&self, ask: impl Fn() -> Fut) -> T {
        loop {
            match ask().await {
                Ok(answer) => {
                    self.answered();
                    return answer;
                }
                Err(error) => self.may_be_repeated(&error),
            }
            self.up.subscribe().wait_for(|up| *up).await.expect("the test brings the servers back");
            tokio::task::yield_now().await;
        }
    }

    fn answered(&self) {
        self.answers.send_modify(|count| *count += 1);
    }

    fn may_be_repeated(&self, error: &EngineError) {
        let repeatable = matches!(error, EngineError::Unavailable(_) | EngineError::Unknown(_));
        assert!(repeatable, "a caller was told what it cannot repeat: {error:?}");
        self.ledger.lock().unwrap().repeated += 1;
    }

    /// Ends all work that is left: reclaims expired leases, and does all waiting work.
    pub(crate) async fn drain(&self) {
        for partition in 0..self.store.partitions().num_flow_partitions {
            while insist(|| self.store.pump(partition)).await.fired > 0 {}
            loop {
                let claimed = insist(|| self.store.claim(claim_on(partition, 1_000))).await.claimed;
                if claimed.is_empty() {
                    break;
                }
                for one in claimed {
                    self.complete(one).await;
                }
            }
        }
    }

    /// Compares the store with the ledger: everything acknowledged exists, and each job ended once, as the replies say.
    pub(crate) async fn holds(&self) {
        let (submitted, completed) = {
            let ledger = self.ledger.lock().unwrap();
            (ledger.submitted.clone(), ledger.completed.clone())
        };
        let mut ids = BTreeSet::new();
        for partition in 0..self.store.partitions().num_flow_partitions {
            let snapshot = insist(|| self.store.snapshot(partition)).await;
            for (id, attempts) in &snapshot.attempts {
                let successes = attempts.iter().filter_map(|attempt| attempt.end.as_ref());
                let successes = successes.filter(|end| end.outcome == AttemptOutcome::Success).count();
                assert_eq!(successes, 1, "{id} ended otherwise than once");
                let leases: Vec<_> = completed.get(id).into_iter().flatten().collect();
                let [lease] = leases[..] else { panic!("{id} was completed by {leases:?}") };
                assert!(snapshot.results[id] == result_of(lease), "{id} has another result than was acknowledged");
            }
            ids.extend(snapshot.executions.keys().copied());
            assert_eq!(snapshot.executions.len(), snapshot.attempts.len(), "everything was tried");
        }
        assert_eq!(ids, submitted, "what is kept is what was acknowledged");
        assert_eq!(findings(&self.store).await, []);
    }
}

/// Returns the result that the holder of a lease reports.
fn result_of(lease: &LeaseId) -> Payload {
    Payload::bytes(lease.to_string())
}
