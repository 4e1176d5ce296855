//! One of many clients. It makes random calls, in time or too late.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ff_core::backend::clock::ManualClock;
use ff_core::backend::{EngineBackend, EngineStore};
use ff_core::contracts::{
    CancelArgs, ClaimArgs, CompleteArgs, DelayArgs, DeliverArgs, FailArgs, GrantedWaitpoint, ProgressArgs, RenewArgs,
    ReplayArgs, ResumeArgs, RevokeArgs, Start, SubmitArgs, SuspendArgs, SuspendedExecution, WaitpointRef,
};
use ff_core::execution::Failure;
use ff_core::lease::{Fence, Holder};
use ff_core::payload::Payload;
use ff_core::policy::{Backoff, Policy, RetryPolicy};
use ff_core::suspension::{Condition, Distinct, OperatorDecision};
use ff_core::token::PresentedToken;
use ff_core::types::{ExecutionId, IdempotencyKey, Kind, SignalName, WaitpointKey};
use uuid::Uuid;

use super::ledger::{Ledger, LedgerAction};
use crate::Chance;

/// How many of the latest fences and waitpoints clients remember. Most of these are no longer valid.
const REMEMBERED: usize = 64;

/// State shared by all clients.
pub struct ClientContext {
    /// The connections to the store, one per program.
    ways: Vec<Arc<dyn EngineBackend>>,
    pub ledger: Ledger,
    pub jobs: Vec<SubmitArgs>,
    fences: Mutex<Vec<(ExecutionId, Fence)>>,
    waitpoints: Mutex<Vec<(ExecutionId, GrantedWaitpoint)>>,
}

impl ClientContext {
    /// Creates the context of clients that use one or several connections to one store, for these jobs.
    pub fn new(ways: Vec<Arc<dyn EngineBackend>>, jobs: Vec<SubmitArgs>) -> Self {
        Self { ways, ledger: Ledger::default(), jobs, fences: Mutex::default(), waitpoints: Mutex::default() }
    }

    fn remember(&self, held: impl Iterator<Item = (ExecutionId, Fence)>) {
        remember(&self.fences, held);
    }

    fn remember_waitpoints(&self, id: ExecutionId, suspended: &SuspendedExecution) {
        remember(&self.waitpoints, suspended.waitpoints.iter().map(|granted| (id, granted.clone())));
    }
}

fn remember<T>(known: &Mutex<Vec<T>>, more: impl Iterator<Item = T>) {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    known.extend(more);
    let surplus = known.len().saturating_sub(REMEMBERED);
    known.drain(..surplus);
}

/// Returns jobs that can be failed, reclaimed and replayed without end.
pub fn jobs(count: u64) -> Vec<SubmitArgs> {
    let policy = Policy {
        retry_policy: RetryPolicy {
            max_retries: 1_000_000,
            backoff: Backoff::Fixed { delay_ms: 0, jitter: false },
            ..RetryPolicy::default()
        },
        max_reclaim_count: 1_000_000,
        max_replay_count: 1_000_000,
        ..Policy::default()
    };
    let job = |nth: u64| SubmitArgs {
        uuid: Uuid::now_v7(),
        policy: policy.clone(),
        ..SubmitArgs::new(Kind::parse("shove").unwrap(), Payload::json(nth.to_string()))
    };
    (0..count).map(job).collect()
}

/// One client.
pub struct Client {
    shared: Arc<ClientContext>,
    /// The connection that this client uses.
    store: Arc<dyn EngineBackend>,
    chance: Chance,
    holder: Holder,
}

impl Client {
    /// Creates the client with this number. The number determines its random choices and its connection to the store.
    pub fn new(shared: Arc<ClientContext>, nth: u64) -> Self {
        let ways = &shared.ways;
        let store = ways[usize::try_from(nth).unwrap() % ways.len()].clone();
        let holder = Holder::parse("client", &format!("client-{nth}")).unwrap();
        Self { shared, store, chance: Chance::new(nth), holder }
    }

    /// Makes the given number of calls, one after the other.
    pub async fn ask(mut self, times: usize) {
        for _ in 0..times {
            match self.chance.below(12) {
                0 => self.submit().await,
                1..4 => self.claim().await,
                4..9 => self.hold().await,
                9..11 => self.signal().await,
                _ => self.interfere().await,
            }
        }
    }

    async fn submit(&mut self) {
        let shared = &self.shared;
        let args = self.chance.pick(&shared.jobs).clone();
        let began = shared.ledger.moment();
        let answer = self.store.submit(args).await;
        shared.ledger.note(began, answer, |reply| {
            vec![(reply.execution_id, LedgerAction::Submitted { duplicate: reply.duplicate })]
        });
    }

    async fn claim(&mut self) {
        let shared = &self.shared;
        let partitions = self.store.partitions().num_flow_partitions;
        let args = ClaimArgs {
            kinds: Vec::new(),
            max: usize::try_from(1 + self.chance.below(3)).unwrap(),
            lease_ttl_ms: 1_000,
            ..ClaimArgs::new(u16::try_from(self.chance.below(partitions.into())).unwrap(), self.holder.clone())
        };
        let began = shared.ledger.moment();
        let answer = self.store.claim(args).await;
        shared.ledger.note(began, answer, |reply| {
            let held = || reply.claimed.iter().map(|claimed| (claimed.task.execution_id, claimed.task.fence));
            shared.remember(held());
            held().map(|(id, fence)| (id, LedgerAction::Claimed(fence))).collect()
        });
    }

    /// Makes a call with the fence of a current or former holder.
    async fn hold(&mut self) {
        let shared = self.shared.clone();
        let known = shared.fences.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if known.is_empty() {
            return;
        }
        let (execution_id, fence) = *self.chance.pick(&known);
        let (store, ledger) = (self.store.clone(), &shared.ledger);
        let began = ledger.moment();
        match self.chance.below(8) {
            0 => {
                let answer = store.renew(RenewArgs { execution_id, fence, lease_ttl_ms: None }).await;
                ledger.note(began, answer, |_| vec![(execution_id, LedgerAction::Renewed(fence))]);
            }
            1 => {
                let args = ProgressArgs { execution_id, fence, percent: Some(50), message: None };
                let answer = store.progress(args).await;
                ledger.note(began, answer, |_| vec![(execution_id, LedgerAction::Progressed(fence))]);
            }
            2 | 3 => {
                let result = Some(Payload::json(began.to_string()));
                let answer = store.complete(CompleteArgs { execution_id, fence, result }).await;
                ledger.note(began, answer, |_| vec![(execution_id, LedgerAction::Completed(fence, began))]);
            }
            4 => {
                let permanent = self.chance.one_in(2);
                let failure = Failure { category: Kind::parse("shoved").unwrap(), message: "away".into(), permanent };
                let answer = store.fail(FailArgs { execution_id, fence, failure }).await;
                ledger.note(began, answer, |reply| vec![(execution_id, LedgerAction::Failed(fence, reply))]);
            }
            5 | 6 => {
                let answer = store.suspend(self.wish(execution_id, fence)).await;
                ledger.note(began, answer, |reply| {
                    shared.remember_waitpoints(execution_id, &reply);
                    vec![(execution_id, LedgerAction::Suspended(fence, reply))]
                });
            }
            _ => {
                let start = Start::After(self.chance.below(2) * 100);
                let answer = store.delay(DelayArgs { execution_id, fence, start }).await;
                ledger.note(began, answer, |reply| vec![(execution_id, LedgerAction::Delayed(fence, reply))]);
            }
        }
    }

    /// Returns a suspension that waits for one vote or for two.
    fn wish(&mut self, execution_id: ExecutionId, fence: Fence) -> SuspendArgs {
        let key = WaitpointKey::parse("votes").unwrap();
        let n = 1 + u32::try_from(self.chance.below(2)).unwrap();
        let condition = Condition::Count { n, of: Distinct::Signals, waitpoints: vec![key.clone()], name: None };
        SuspendArgs { condition, ..SuspendArgs::new(execution_id, fence, key) }
    }

    /// Delivers a vote, possibly to a suspension that has ended, and possibly again.
    async fn signal(&mut self) {
        let shared = self.shared.clone();
        let known = shared.waitpoints.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if known.is_empty() {
            return;
        }
        let (execution_id, granted) = self.chance.pick(&known).clone();
        let (to, token) = (WaitpointRef::Id(granted.waitpoint_id), PresentedToken::from(&granted.waitpoint_token));
        let once = self.chance.one_in(2).then(|| self.chance.below(2).to_string());
        let args = DeliverArgs {
            idempotency_key: once.map(|key| IdempotencyKey::parse(&key).unwrap()),
            ..DeliverArgs::new(execution_id, to, token, SignalName::parse("vote").unwrap())
        };
        let key = args.idempotency_key.clone();
        let began = shared.ledger.moment();
        let answer = self.store.deliver(args).await;
        let signalled = |reply| vec![(execution_id, LedgerAction::Signalled(granted.waitpoint_id, key, reply))];
        shared.ledger.note(began, answer, signalled);
    }

    /// Cancels, revokes, resumes or replays an execution, as operators do.
    async fn interfere(&mut self) {
        let shared = self.shared.clone();
        let (store, ledger) = (self.store.clone(), &shared.ledger);
        let execution_id = self.chance.pick(&shared.jobs).execution_id(&store.partitions());
        let began = ledger.moment();
        match self.chance.below(5) {
            0 => {
                let answer = store.cancel(CancelArgs { execution_id, reason: None, requested_by: None }).await;
                ledger.note(began, answer, |reply| {
                    vec![(execution_id, LedgerAction::Cancelled { already: reply.already })]
                });
            }
            1 => {
                let answer = store.revoke(RevokeArgs { execution_id, lease_id: None, reason: None }).await;
                ledger.note(began, answer, |reply| {
                    vec![(execution_id, LedgerAction::Revoked { epoch: reply.lease_epoch, already: reply.already })]
                });
            }
            2 => {
                let answer = store.resume(ResumeArgs::new(execution_id, OperatorDecision::Resume)).await;
                ledger.note(began, answer, |reply| vec![(execution_id, LedgerAction::Decided(reply))]);
            }
            _ => {
                let answer = store.replay(ReplayArgs::new(execution_id)).await;
                ledger.note(began, answer, |_| vec![(execution_id, LedgerAction::Replayed)]);
            }
        }
    }
}

/// Advances the clock in small steps and pumps until `stop` is set. Returns the number of timers that fired.
pub async fn keep_time(store: Arc<dyn EngineStore>, clock: Arc<ManualClock>, stop: Arc<AtomicBool>) -> usize {
    let mut chance = Chance::new(0);
    let mut fired = 0;
    while !stop.load(Ordering::SeqCst) {
        clock.advance(*chance.pick(&[10, 200, 500, 900]));
        for partition in 0..store.partitions().num_flow_partitions {
            fired += store.pump(partition).await.unwrap().fired;
        }
        tokio::task::yield_now().await;
    }
    fired
}
