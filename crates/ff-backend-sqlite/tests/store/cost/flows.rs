//! The statements and commits that work in a flow takes.

use ff_backend_sqlite::SqliteBackend;
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::ClaimedExecution;
use ff_core::flow::FlowState;
use ff_core::types::FlowId;
use ff_engine::Orchestration;

use crate::StoreLocation;
use crate::shared::flow::{chain, claim, complete, drain, fan_out, graph, partition_of};

/// Counter of the statements since the last call of `since`.
struct Counter<'s> {
    store: &'s SqliteBackend,
    before: u64,
}

impl<'s> Counter<'s> {
    fn new(store: &'s SqliteBackend) -> Self {
        Self { store, before: store.statements() }
    }

    fn since(&mut self) -> u64 {
        let now = self.store.statements();
        now - std::mem::replace(&mut self.before, now)
    }
}

/// One hop takes two commits: one completes a member, one claims the next.
#[tokio::test]
async fn a_hop_takes_two_commits_and_so_many_statements() {
    let place = StoreLocation::new();
    let store = place.open();
    let id = store.submit_flow(chain(10)).await.unwrap().flow_id;
    assert_eq!(store.commits(), 1, "it is there at once");
    let mut count = Counter::new(&store);
    let mut taken = Vec::new();
    for _ in 0..10 {
        let claimed = claim(&store, &id, 1).await.remove(0);
        let claiming = count.since();
        complete(&store, &claimed).await;
        taken.push((claiming, count.since()));
    }
    assert_eq!(taken[0], (10 + 1, 16), "the namespace's quotas are loaded once");
    assert_eq!(taken[1..9], [(10, 16); 8]);
    assert_eq!(taken[9], (10, 10), "it has no dependents");
    assert_eq!(store.commits(), 21);
    assert_eq!(store.describe_flow(&id).await.unwrap().state, FlowState::Completed);
}

/// A pump finds executions and flows with one query.
#[tokio::test]
async fn a_pump_that_finds_nothing_takes_one_query() {
    let place = StoreLocation::new();
    let store = place.open();
    store.pump(0).await.unwrap();
    let mut count = Counter::new(&store);
    store.pump(0).await.unwrap();
    assert_eq!(count.since(), 3, "one query between the beginning and the end of the transaction");
}

async fn all_claimed(store: &SqliteBackend, id: &FlowId, width: usize) -> Vec<ClaimedExecution> {
    drain(store, id).await;
    let mut claimed = Vec::new();
    while claimed.len() < width {
        claimed.extend(claim(store, id, 100).await);
    }
    claimed
}

#[tokio::test]
async fn completing_one_of_a_thousand_upstreams_costs_as_much_as_one_of_ten() {
    let place = StoreLocation::new();
    let store = place.open();
    let mut costs = Vec::new();
    for width in [10, 1_000] {
        let id = store.submit_flow(graph(width + 1, (0..width).map(|n| (n, width)))).await.unwrap().flow_id;
        let claimed = all_claimed(&store, &id, width).await;
        let mut count = Counter::new(&store);
        for one in &claimed {
            complete(&store, one).await;
        }
        costs.push(count.since() / width as u64);
        assert_eq!(claim(&store, &id, 9).await.len(), 1, "and the last has released what waited for all");
    }
    assert_eq!(costs[0], costs[1]);
}

/// Released members are loaded with one query and written row by row, a bounded number of rows at a time.
#[tokio::test]
async fn a_thousand_dependents_are_released_in_bounded_steps() {
    let place = StoreLocation::new();
    let store = place.open();
    let id = store.submit_flow(fan_out(1_000)).await.unwrap().flow_id;
    let root = all_claimed(&store, &id, 1).await.remove(0);
    let mut count = Counter::new(&store);
    complete(&store, &root).await;
    let mut steps = vec![count.since()];
    while store.pump(partition_of(&store, &id)).await.unwrap().fired > 0 {
        steps.push(count.since());
    }
    assert!(steps.len() > 7, "{steps:?}");
    assert!(steps.iter().all(|statements| *statements < 600), "{steps:?}");
}
