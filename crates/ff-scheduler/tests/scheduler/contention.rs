//! Many workers and many submitters at once: everything is given out, once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ff_core::execution::contracts::SubmitArgs;
use ff_core::lease::contracts::NextArgs;
use ff_core::types::{ExecutionId, Kind, Namespace, Priority};
use ff_engine::{Orchestration, examine};
use ff_scheduler::Scheduler;
use tokio::time::timeout;

use crate::started;
use crate::support::{WatchedStore, holder, lane, work};

const LANES: [&str; 3] = ["a", "b", "c"];
const KINDS: [&str; 3] = ["x", "y", "z"];
const SUBMITTERS: usize = 4;
const EACH: usize = 1_000;

/// Numbers that repeat from a seed.
struct SeededNumbers(u64);

impl SeededNumbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn some<'a>(&mut self, of: &[&'a str]) -> Vec<&'a str> {
        let from = self.below(of.len());
        (0..=self.below(of.len())).map(|nth| of[(from + nth) % of.len()]).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_is_claimed_exactly_once_and_nothing_is_left() {
    for seed in 1..=3 {
        run(seed).await;
    }
}

async fn run(seed: u64) {
    let (store, scheduler) = started(16);
    let claimed = Arc::new(AtomicUsize::new(0));
    let mut workers = Vec::new();
    for nth in 0..8 {
        workers.push(tokio::spawn(worker(scheduler.clone(), claimed.clone(), seed, nth)));
    }
    let submitters: Vec<_> = (0..SUBMITTERS).map(|nth| tokio::spawn(submitter(store.clone(), seed, nth))).collect();
    let mut submitted = BTreeSet::new();
    for one in submitters {
        submitted.extend(one.await.unwrap());
    }
    let mut ids = Vec::new();
    for one in workers {
        ids.extend(one.await.unwrap());
    }
    assert_eq!(ids.len(), SUBMITTERS * EACH, "seed {seed}");
    assert_eq!(ids.into_iter().collect::<BTreeSet<_>>(), submitted, "seed {seed}");
    assert_eq!(examine(&*store, |_, _| {}).await.unwrap().findings, [], "seed {seed}");
}

async fn submitter(store: Arc<WatchedStore>, seed: u64, nth: usize) -> Vec<ExecutionId> {
    let mut rolls = SeededNumbers(seed * 1_000 + nth as u64);
    let mut ids = Vec::new();
    while ids.len() < EACH {
        let many = (0..1 + rolls.below(EACH - ids.len()).min(20)).map(|_| SubmitArgs {
            lane: lane(LANES[rolls.below(3)]),
            priority: Priority::new(i64::try_from(rolls.below(3)).unwrap()).unwrap(),
            ..work(KINDS[rolls.below(3)])
        });
        for one in store.submit_many(many.collect()).await.unwrap() {
            ids.push(one.unwrap().execution_id);
        }
        tokio::task::yield_now().await;
    }
    ids
}

/// The first worker takes anything; the others what they happen to like, and every other of them loses patience at
/// once.
async fn worker(scheduler: Arc<Scheduler>, claimed: Arc<AtomicUsize>, seed: u64, nth: usize) -> Vec<ExecutionId> {
    let mut rolls = SeededNumbers(seed * 7_000 + nth as u64);
    let mut ids = Vec::new();
    let all = SUBMITTERS * EACH;
    while claimed.load(Ordering::SeqCst) < all {
        let (lanes, kinds) = if nth == 0 { (LANES.to_vec(), vec![]) } else { (rolls.some(&LANES), rolls.some(&KINDS)) };
        let args = NextArgs {
            namespace: Namespace::default_name(),
            lanes: lanes.into_iter().map(lane).collect(),
            kinds: kinds.into_iter().map(|kind| Kind::parse(kind).unwrap()).collect(),
            capabilities: [].into(),
            max: 1 + rolls.below(20),
            holder: holder(&format!("w-{nth}")),
            lease_ttl_ms: 600_000,
            wait_ms: 20_000,
        };
        let patience = if nth % 2 == 1 { Duration::from_micros(200) } else { Duration::from_secs(60) };
        let Ok(some) = timeout(patience, scheduler.next(args)).await else { continue };
        let some = some.unwrap();
        if claimed.fetch_add(some.len(), Ordering::SeqCst) + some.len() == all {
            scheduler.stop();
        }
        let done = claimed.load(Ordering::SeqCst) == all;
        assert!(done || !some.is_empty(), "seed {seed}: worker {nth} was left waiting");
        ids.extend(some.into_iter().map(|one| one.task.execution_id));
    }
    ids
}
