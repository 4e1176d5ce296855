//! Walks over everything that waits and everything that depends on each other: the store in memory and one on a server are
//! asked the same, in an order that follows from a seed, and must answer the same and hold the same.

mod chance;
mod choice;
mod flow;
mod graph;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use ff_backend_memory::MemoryBackend;
use ff_backend_valkey::{ValkeyBackend, ValkeyOptions};
use ff_core::backend::{Answer, EngineStore, Perform};
use ff_core::clock::{Clock, ManualClock};
use ff_core::contracts::{DeliveriesArgs, GrantedWaitpoint, SignalsArgs};
use ff_core::dice::{Dice, Nonce, SeededDice};
use ff_core::doctor::examine;
use ff_core::lease::Fence;
use ff_core::partition::PartitionConfig;
use ff_core::signal::FeedCursor;
use ff_core::types::{ExecutionId, FlowId, TimestampMs};

use self::chance::Chance;
use crate::support::{Flavour, Process};

/// Few, so that executions meet.
const PARTITIONS: PartitionConfig =
    PartitionConfig { num_flow_partitions: 2, num_budget_partitions: 1, num_quota_partitions: 1 };

const STEPS: usize = 500;

/// How often everything is compared that both hold.
const LOOK_EVERY: usize = 20;

#[tokio::test]
async fn a_server_answers_and_holds_what_memory_does() {
    let mut seen = Seen::default();
    for seed in 0..6 {
        seen.extend(Walk::take(Flavour::Valkey, Theme::Waits, seed).await);
    }
    shows(&seen, EXPECTED);
}

#[tokio::test]
async fn a_server_runs_flows_as_memory_does() {
    let mut seen = Seen::default();
    for seed in 200..208 {
        seen.extend(Walk::take(Flavour::Valkey, Theme::Flows, seed).await);
    }
    shows(&seen, EXPECTED_OF_FLOWS);
}

#[tokio::test]
async fn so_does_the_oldest_server_that_is_promised_to_work() {
    for seed in 100..102 {
        Walk::take(Flavour::Redis, Theme::Waits, seed).await;
        Walk::take(Flavour::Redis, Theme::Flows, seed).await;
    }
}

fn shows(seen: &Seen, expected: &[&str]) {
    let rare: Vec<_> = expected.iter().filter(|what| !seen.contains(**what)).collect();
    assert!(rare.is_empty(), "a comparison in which this never happened proves little: {rare:?}");
}

/// What a walk is mostly about.
#[derive(Clone, Copy)]
enum Theme {
    Waits,
    Flows,
}

/// What happened on a walk: methods that answered, refusals, effects of signals.
type Seen = BTreeSet<String>;

/// What must have happened.
const EXPECTED: &[&str] = &[
    "suspend",
    "create_waitpoint",
    "close_waitpoint",
    "resume",
    "rotate_secret",
    "deliver",
    "replay",
    "suspended",
    "already satisfied",
    "resumed by signals",
    "resumed by operator",
    "resumed by timeout",
    "appended_to_waitpoint",
    "resume_condition_satisfied",
    "buffered_for_pending_waitpoint",
    "appended_to_waitpoint_duplicate",
    "signal_ignored_not_in_condition",
    "signal_ignored_matcher_failed",
    "duplicate",
    "execution_not_active",
    "stale_lease",
    "lease_expired",
    "lease_revoked",
    "waitpoint_not_found",
    "waitpoint_not_pending",
    "waitpoint_already_exists",
    "pending_waitpoint_expired",
    "waitpoint_closed",
    "invalid_waitpoint_key",
    "invalid_input",
    "invalid_token",
    "missing_token",
    "token_expired",
    "target_not_signalable",
    "execution_not_suspended",
    "limit_exceeded",
];

/// What must have happened on walks over flows.
const EXPECTED_OF_FLOWS: &[&str] = &[
    "submit_flow",
    "create_flow",
    "grow_flow",
    "close_flow",
    "cancel_flow",
    "set_flow_tags",
    "wait_for_children",
    "cascade",
    "replay",
    "children pending",
    "children satisfied",
    "cancelled by cancel_all",
    "cancelled by cancel_pending",
    "cancelled by let_active_finish",
    "cancelled by flow_only",
    "flow_not_found",
    "flow_already_terminal",
    "idempotency_conflict",
    "stale_graph_revision",
    "self_referencing_edge",
    "cycle_detected",
    "dependency_already_exists",
    "execution_already_in_flow",
    "not_runnable",
    "deps_not_satisfied",
    "invalid_dependency",
    "execution_not_terminal",
];

/// Both stores, and what a walk remembers of them.
struct Walk {
    memory: MemoryBackend,
    store: ValkeyBackend,
    clock: Arc<ManualClock>,
    dice: Arc<Shown>,
    chance: Chance,
    jobs: Vec<Job>,
    /// Which of them were claimed, in order.
    taken: Vec<usize>,
    flows: Vec<Played>,
    seen: Seen,
    seed: u64,
    step: usize,
}

/// One execution, with every fence and every waitpoint that was handed out for it.
struct Job {
    id: ExecutionId,
    fences: Vec<Fence>,
    granted: Vec<GrantedWaitpoint>,
}

/// One flow, and how many nodes it has.
#[derive(Clone, Copy)]
struct Played {
    id: FlowId,
    nodes: usize,
}

/// Asks both stores the same and passes the answer on, when it is one.
macro_rules! both {
    ($walk:expr, $method:ident($($args:expr),*)) => {{
        $walk.dice.throw();
        let (memory, store) = ($walk.memory.$method($($args),*).await, $walk.store.$method($($args),*).await);
        $walk.same(stringify!($method), &format!("{:?}", ($($args,)*)), memory, store)
    }};
}
pub(crate) use both;

impl Walk {
    async fn take(flavour: Flavour, theme: Theme, seed: u64) -> Seen {
        let server = Process::start(flavour, &["--appendonly", "no"]);
        let clock = Arc::new(ManualClock::at(TimestampMs(1_700_000_000_000)));
        let dice = Arc::new(Shown::new(seed));
        let options = ValkeyOptions {
            partitions: Some(PARTITIONS),
            clock: Some(clock.clone()),
            dice: dice.clone(),
            ..ValkeyOptions::default()
        };
        let store = ValkeyBackend::connect(&server.url(), options).await.unwrap();
        let memory = MemoryBackend::new(PARTITIONS, clock.clone(), dice.clone());
        let (jobs, taken, flows) = (Vec::new(), Vec::new(), Vec::new());
        let (chance, seen) = (Chance::new(seed), Seen::new());
        let mut walk = Self { memory, store, clock, dice, chance, jobs, taken, flows, seen, seed, step: 0 };
        for step in 0..STEPS {
            walk.step = step;
            match theme {
                Theme::Waits => walk.choose().await,
                Theme::Flows => walk.choose_in_flows().await,
            }
            if step % LOOK_EVERY == 0 {
                walk.look().await;
            }
        }
        walk.look().await;
        walk.seen
    }

    /// The answer, once both are found to be the same.
    fn same<T: PartialEq + Debug>(
        &mut self,
        method: &str,
        asked: &str,
        memory: Answer<T>,
        store: Answer<T>,
    ) -> Option<T> {
        assert_eq!(memory, store, "seed {}, step {}: {method} {asked}", self.seed, self.step);
        self.seen.insert(store.as_ref().map_or_else(|error| error.code().to_string(), |_| method.into()));
        store.ok()
    }

    /// Compares all that both hold, and what callers read of it.
    async fn look(&mut self) {
        for partition in 0..PARTITIONS.num_flow_partitions {
            let memory = self.memory.snapshot(partition).await.unwrap();
            let store = self.store.snapshot(partition).await.unwrap();
            let at = format!("seed {}, step {}", self.seed, self.step);
            assert_eq!(memory.executions, store.executions, "executions, {at}");
            assert_eq!(memory.waitpoints, store.waitpoints, "waitpoints, {at}");
            assert_eq!(memory.signals, store.signals, "signals, {at}");
            assert_eq!(memory.flows, store.flows, "flows, {at}");
            assert_eq!(memory.edges, store.edges, "edges, {at}");
            assert_eq!(memory.groups, store.groups, "groups, {at}");
            assert_eq!(memory.flow_events, store.flow_events, "events, {at}");
            for index in memory.indexes.keys().chain(store.indexes.keys()) {
                assert_eq!(memory.indexes.get(index), store.indexes.get(index), "{index:?}, {at}");
            }
            assert!(memory == store, "contents, {at}:\n{memory:?}\n{store:?}");
            let mut findings = examine(&store, partition, self.clock.now());
            // A kid that is gone may come again with another secret, and then its old tokens look forged.
            findings.retain(|finding| finding.invariant != "I12");
            assert_eq!(findings, [], "{at}");
        }
        let beginning = DeliveriesArgs { after: Some(FeedCursor::default()), limit: 20 };
        both!(self, deliveries(beginning.clone()));
        both!(self, deliveries(DeliveriesArgs { after: None, limit: 1 }));
        both!(self, kids());
        let ids: Vec<_> = self.jobs.iter().rev().take(4).map(|job| job.id).collect();
        for id in ids {
            both!(self, describe(&id));
            both!(self, waitpoints(&id));
            both!(self, attempts(&id));
            let page = both!(self, signals(SignalsArgs { execution_id: id, skip: 1, limit: 2 }));
            for signal in page.into_iter().flat_map(|page| page.signals) {
                both!(self, signal(&id, &signal.id));
            }
        }
        self.look_at_flows().await;
    }
}

/// Dice that show both sides the same throw.
struct Shown {
    source: SeededDice,
    nonce: Mutex<Nonce>,
}

impl Shown {
    fn new(seed: u64) -> Self {
        let source = SeededDice::new(seed);
        let nonce = Mutex::new(source.nonce());
        Self { source, nonce }
    }

    fn throw(&self) {
        *self.nonce.lock().unwrap_or_else(PoisonError::into_inner) = self.source.nonce();
    }
}

impl Dice for Shown {
    fn nonce(&self) -> Nonce {
        *self.nonce.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn secret(&self) -> [u8; 32] {
        self.source.secret()
    }
}
