//! Engines on one store share its partitions: one engine fires each due time, and another engine takes over when it is gone.

use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::Perform;
use ff_core::execution::contracts::{Start, SubmitArgs};
use ff_core::state::PublicState;
use ff_core::types::ExecutionId;
use ff_engine::Engine;
use tokio::time::Instant;

use crate::support::{WatchedStore, let_pass, store, work};

const SECOND: Duration = Duration::from_secs(1);
const PARTITIONS: u16 = 16;

/// One store, used by several processes with one engine each.
struct Processes {
    stores: Vec<Arc<WatchedStore>>,
    engines: Vec<Engine>,
}

impl Processes {
    /// Starts engines, and waits until they know each other.
    async fn start(count: usize) -> Self {
        let shared = store(PARTITIONS);
        let views = (0..count).map(|_| {
            let view = Arc::new(WatchedStore::over(shared.clone()));
            view.sweep_every(Duration::from_secs(32));
            view
        });
        let stores: Vec<_> = views.collect();
        let engines = stores.iter().map(|store| Engine::start(store.clone())).collect();
        let_pass(5 * SECOND).await;
        Self { stores, engines }
    }

    fn call_count(&self, what: &str) -> usize {
        self.stores.iter().map(|store| store.call_count(what)).sum()
    }

    /// Submits delayed executions that become due one after the other, several on each partition.
    async fn delay_many(&self) -> Vec<ExecutionId> {
        let mut ids = Vec::new();
        for nth in 0..200 {
            let args = SubmitArgs { start: Start::After(1_000 + nth * 50), ..work("later") };
            ids.push(self.stores[0].submit(args).await.unwrap().execution_id);
        }
        ids
    }

    async fn states(&self, ids: &[ExecutionId]) -> Vec<PublicState> {
        let last = self.stores.last().unwrap();
        let mut states = Vec::new();
        for id in ids {
            states.push(last.describe(id).await.unwrap().public_state);
        }
        states
    }

    async fn stop(self) {
        for engine in self.engines {
            engine.stop().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn more_engines_ask_no_more() {
    let mut pumps = Vec::new();
    for count in [1, 4] {
        let processes = Processes::start(count).await;
        let swept = processes.call_count("sweep");
        let ids = processes.delay_many().await;
        let_pass(64 * SECOND).await;
        assert!(processes.states(&ids).await.iter().all(|state| *state == PublicState::Waiting));
        pumps.push(processes.call_count("pump_partition"));
        assert_eq!(processes.call_count("sweep") - swept, 32, "each partition once in 32 seconds, by one of {count}");
        processes.stop().await;
    }
    assert!(pumps[1] * 10 <= pumps[0] * 11, "{pumps:?}");
}

#[tokio::test(start_paused = true)]
async fn partitions_of_a_dead_engine_are_pumped_by_another_within_three_seconds() {
    let processes = Processes::start(2).await;
    let ids = processes.delay_many().await;
    let_pass(Duration::from_millis(5_750)).await;
    // The first engine's calls to the store fail from now on, as if the process had been killed.
    processes.stores[0].set_down(true);
    let died = Instant::now();
    let_pass(3 * SECOND).await;
    let due = ids.iter().zip(0..).filter(|(_, nth)| 1_000 + nth * 50 <= 5_950).map(|(id, _)| *id);
    let states = processes.states(&due.collect::<Vec<_>>()).await;
    assert!(states.len() > 90 && states.iter().all(|state| *state == PublicState::Waiting), "{:?}", died.elapsed());
    let_pass(10 * SECOND).await;
    assert!(processes.states(&ids).await.iter().all(|state| *state == PublicState::Waiting));
    processes.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_is_behind_is_helped() {
    let processes = Processes::start(2).await;
    // The first engine reaches the store and announces itself, but all its pumps fail.
    processes.stores[0].set_partitions_down(0..PARTITIONS);
    let ids = processes.delay_many().await;
    let_pass(5 * SECOND).await;
    let states = processes.states(&ids[..20]).await;
    assert!(states.iter().all(|state| *state == PublicState::Waiting), "{states:?}");
    processes.stores[0].set_partitions_down(0..0);
    let_pass(10 * SECOND).await;
    let pumped = processes.stores[0].call_count("pump_partition");
    let later = processes.delay_many().await;
    let_pass(15 * SECOND).await;
    assert!(processes.states(&later).await.iter().all(|state| *state == PublicState::Waiting));
    // The share depends on the random id of the engine. A single partition of the sixteen already has a dozen due times.
    let pumped_since = processes.stores[0].call_count("pump_partition") - pumped;
    assert!(pumped_since > 5, "it pumped {pumped_since} times since it owns its share again");
    processes.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_stops_hands_over_at_once() {
    let mut processes = Processes::start(2).await;
    let ids = processes.delay_many().await;
    let_pass(3 * SECOND).await;
    processes.engines.remove(0).stop().await;
    let_pass(Duration::from_millis(20)).await;
    let due = ids.iter().zip(0..).filter(|(_, nth)| 1_000 + nth * 50 <= 3_000).map(|(id, _)| *id);
    let states = processes.states(&due.collect::<Vec<_>>()).await;
    assert!(states.iter().all(|state| *state == PublicState::Waiting), "{states:?}");
    let_pass(10 * SECOND).await;
    assert!(processes.states(&ids).await.iter().all(|state| *state == PublicState::Waiting));
    processes.stop().await;
}
