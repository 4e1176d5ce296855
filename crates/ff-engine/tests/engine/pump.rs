//! The pump fires due work in time, and sends no other calls.

use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::clock::{Clock, ManualClock};
use ff_core::backend::{EngineStore, Perform};
use ff_core::engine_error::Code;
use ff_core::execution::contracts::{CancelArgs, Start, SubmitArgs};
use ff_core::partition::worker_partition;
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, TimestampMs, WorkerId, WorkerInstanceId};
use ff_core::worker::contracts::RegisterWorkerArgs;
use ff_engine::{Engine, Orchestration};
use uuid::Uuid;

use crate::support::{WatchedStore, hold, let_pass, store, store_by, work};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);

/// Returns a store and an engine on it. Dropping the engine stops it.
fn started(partitions: u16) -> (Arc<WatchedStore>, Engine) {
    let store = store(partitions);
    (store.clone(), Engine::start(store))
}

async fn delayed(store: &WatchedStore, ms: u64) -> ExecutionId {
    store.submit(SubmitArgs { start: Start::After(ms), ..work("later") }).await.unwrap().execution_id
}

async fn state(store: &WatchedStore, id: &ExecutionId) -> PublicState {
    store.describe(id).await.unwrap().public_state
}

#[tokio::test(start_paused = true)]
async fn a_delay_ends_when_its_time_has_come() {
    let (store, _engine) = started(16);
    let id = delayed(&store, 90_000).await;
    let_pass(Duration::from_millis(89_990)).await;
    assert_eq!(state(&store, &id).await, PublicState::Delayed);
    let_pass(Duration::from_millis(20)).await;
    assert_eq!(state(&store, &id).await, PublicState::Waiting);
}

#[tokio::test(start_paused = true)]
async fn executions_due_before_the_engine_started_are_fired() {
    let store = store(16);
    let ids = [delayed(&store, 10).await, delayed(&store, 20).await, delayed(&store, 5_000).await];
    let_pass(SECOND).await;
    let _engine = Engine::start(store.clone());
    let_pass(Duration::from_millis(10)).await;
    assert_eq!(state(&store, &ids[0]).await, PublicState::Waiting);
    assert_eq!(state(&store, &ids[1]).await, PublicState::Waiting);
    assert_eq!(state(&store, &ids[2]).await, PublicState::Delayed);
    let_pass(4 * SECOND).await;
    assert_eq!(state(&store, &ids[2]).await, PublicState::Waiting);
}

#[tokio::test(start_paused = true)]
async fn work_of_a_silent_worker_waits_again_when_its_lease_is_over() {
    let (store, _engine) = started(16);
    let id = store.submit(work("resize")).await.unwrap().execution_id;
    hold(&(store.clone() as Arc<dyn EngineStore>), id, "silent").await;
    let_pass(Duration::from_millis(1_010)).await;
    assert_eq!(state(&store, &id).await, PublicState::Waiting);
}

#[tokio::test(start_paused = true)]
async fn more_than_a_batch_is_fired_at_once() {
    let (store, _engine) = started(4);
    let many = vec![(); 1_000].into_iter().map(|()| SubmitArgs { start: Start::After(500), ..work("later") });
    let submitted = store.submit_many(many.collect()).await.unwrap();
    let_pass(Duration::from_millis(510)).await;
    for one in submitted {
        assert_eq!(state(&store, &one.unwrap().execution_id).await, PublicState::Waiting);
    }
}

/// The engine reads the clock while a sweep of the partitions uses all connections.
#[tokio::test(start_paused = true)]
async fn due_executions_are_fired_while_a_sweep_uses_every_connection() {
    let store = store(256);
    store.has_connections(1);
    let many = (0..32).map(|_| SubmitArgs { start: Start::After(500), ..work("later") });
    let many = store.submit_many(many.collect()).await.unwrap();
    let _engine = Engine::start(store.clone());
    let_pass(Duration::from_millis(510)).await;
    for one in many {
        assert_eq!(state(&store, &one.unwrap().execution_id).await, PublicState::Waiting);
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_engine_asks_nothing_but_who_is_gone() {
    let (store, _engine) = started(256);
    let_pass(SECOND).await;
    let after_start = store.calls();
    assert_eq!(after_start.get("sweep"), Some(&256));
    store.submit(work("resize")).await.unwrap();
    let_pass(24 * HOUR).await;
    let mut expected = after_start;
    expected.insert("submit", 1);
    expected.insert("sweepable_workers", 24 * 120 + 1);
    assert_eq!(store.calls(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_known_due_time_costs_one_pump_and_rare_clock_reads() {
    let (store, _engine) = started(16);
    delayed(&store, 3_600_000).await;
    let_pass(2 * HOUR).await;
    assert_eq!(store.call_count("pump_partition"), 1);
    assert!((120..=125).contains(&store.call_count("now")), "{:?}", store.calls());
}

#[tokio::test(start_paused = true)]
async fn due_times_close_together_are_fired_in_few_calls() {
    let (store, _engine) = started(1);
    let mut last = None;
    for nth in 0..40 {
        last = Some(delayed(&store, 1_000 + nth).await);
    }
    let_pass(Duration::from_millis(1_100)).await;
    assert_eq!(state(&store, &last.unwrap()).await, PublicState::Waiting);
    assert!((2..=4).contains(&store.call_count("pump_partition")), "{:?}", store.calls());
}

#[tokio::test(start_paused = true)]
async fn a_stopped_clock_is_read_rarely() {
    let clock = Arc::new(ManualClock::at(TimestampMs(1_000)));
    let store = store_by(16, clock.clone());
    let _engine = Engine::start(store.clone());
    let id = delayed(&store, 1).await;
    let_pass(Duration::from_secs(60)).await;
    assert!(store.call_count("now") < 80, "{:?}", store.calls());
    assert!(store.call_count("pump_partition") <= 1, "a clock is believed to run until it was seen not to");
    clock.advance(1);
    let_pass(2 * SECOND).await;
    assert_eq!(state(&store, &id).await, PublicState::Waiting);
}

/// A store clock that runs at half the speed of the process's clock.
struct SlowClock(tokio::time::Instant);

impl Clock for SlowClock {
    fn now(&self) -> TimestampMs {
        TimestampMs(i64::try_from(self.0.elapsed().as_millis() / 2).unwrap())
    }
}

#[tokio::test(start_paused = true)]
async fn the_store_s_clock_decides() {
    let store = store_by(16, Arc::new(SlowClock(tokio::time::Instant::now())));
    let _engine = Engine::start(store.clone());
    let id = delayed(&store, 10_000).await;
    let_pass(Duration::from_millis(19_990)).await;
    assert_eq!(state(&store, &id).await, PublicState::Delayed);
    let_pass(Duration::from_millis(30)).await;
    assert_eq!(state(&store, &id).await, PublicState::Waiting);
}

#[tokio::test(start_paused = true)]
async fn a_partition_whose_clock_is_behind_is_pumped_again_and_not_all_the_time() {
    let store = store(16);
    store.set_clock_ahead(500);
    let _engine = Engine::start(store.clone());
    let id = delayed(&store, 1_000).await;
    let_pass(Duration::from_millis(990)).await;
    assert!((5..15).contains(&store.call_count("pump_partition")), "{:?}", store.calls());
    assert_eq!(state(&store, &id).await, PublicState::Delayed);
    let_pass(Duration::from_millis(600)).await;
    assert_eq!(state(&store, &id).await, PublicState::Waiting);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_is_left_alone_for_a_while_and_not_given_up() {
    let (store, _engine) = started(16);
    let id = delayed(&store, 1_000).await;
    let_pass(Duration::from_millis(500)).await;
    store.set_down(true);
    let before: usize = store.calls().values().sum();
    let_pass(Duration::from_secs(60)).await;
    let calls = store.calls().values().sum::<usize>() - before;
    assert!((5..100).contains(&calls), "{:?}", store.calls());
    store.set_down(false);
    let_pass(Duration::from_secs(3)).await;
    assert_eq!(state(&store, &id).await, PublicState::Waiting);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_down_at_the_start_is_swept_when_it_is_back() {
    let store = store(16);
    let id = delayed(&store, 1_000).await;
    store.set_down(true);
    let _engine = Engine::start(store.clone());
    let_pass(Duration::from_secs(60)).await;
    assert!(store.call_count("sweep") < 16 * 60);
    store.set_down(false);
    let_pass(Duration::from_secs(3)).await;
    assert_eq!(state(&store, &id).await, PublicState::Waiting);
}

/// When one primary of a cluster does not answer, the partitions of the others continue.
#[tokio::test(start_paused = true)]
async fn a_part_of_a_store_that_is_away_does_not_hold_up_the_rest() {
    let (store, _engine) = started(32);
    let on = async |partition: u16, ms: u64| {
        let drawn = || SubmitArgs { uuid: Uuid::now_v7(), start: Start::After(ms), ..work("later") };
        let mut drawn = std::iter::repeat_with(drawn);
        let args = drawn.find(|args| args.execution_id(&store.partitions()).partition() == partition).unwrap();
        store.submit(args).await.unwrap().execution_id
    };
    for partition in 0..20 {
        on(partition, 1_000).await;
    }
    let with_hint = on(30, 10_000).await;
    let_pass(SECOND / 2).await;
    store.set_partitions_down(0..20);
    store.lose_hints();
    let without_hint = on(31, 3_000).await;
    let_pass(3 * SECOND).await;
    store.find_hints();
    let_pass(SECOND * 9 / 10).await;
    assert_eq!(state(&store, &without_hint).await, PublicState::Waiting, "partitions that answer are swept");
    let_pass(Duration::from_millis(5_650)).await;
    assert_eq!(state(&store, &with_hint).await, PublicState::Waiting, "partitions that answer are pumped in time");
}

#[tokio::test(start_paused = true)]
async fn hints_that_were_lost_are_made_up_for() {
    let (store, _engine) = started(16);
    let_pass(SECOND).await;
    store.lose_hints();
    let id = delayed(&store, 1_000).await;
    let_pass(Duration::from_secs(60)).await;
    assert_eq!(state(&store, &id).await, PublicState::Delayed, "nobody told the engine");
    store.find_hints();
    let_pass(Duration::from_millis(10)).await;
    assert_eq!(state(&store, &id).await, PublicState::Waiting);
}

#[tokio::test(start_paused = true)]
async fn where_hints_can_be_lost_every_partition_has_its_turn() {
    let store = store(16);
    store.sweep_every(Duration::from_secs(32));
    let _engine = Engine::start(store.clone());
    let_pass(SECOND).await;
    assert_eq!(store.call_count("sweep"), 16);
    store.lose_hints();
    let id = delayed(&store, 1_000).await;
    let_pass(Duration::from_secs(34)).await;
    assert_eq!(store.call_count("sweep"), 16 + 17, "one partition every two seconds");
    assert_eq!(state(&store, &id).await, PublicState::Waiting);
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_is_dropped_lets_go_of_its_store() {
    let (store, engine) = started(16);
    let_pass(SECOND).await;
    drop(engine);
    let_pass(SECOND).await;
    assert_eq!(Arc::strong_count(&store), 1);
}

#[tokio::test(start_paused = true)]
async fn a_stopped_engine_asks_nothing_more() {
    let (store, engine) = started(16);
    delayed(&store, 1_000).await;
    engine.stop().await;
    let before = store.calls();
    let_pass(HOUR).await;
    assert_eq!(store.calls(), before);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_went_without_a_word_is_taken_out() {
    let (store, _engine) = started(16);
    let worker_instance_id = WorkerInstanceId::parse("gone").unwrap();
    let worker = RegisterWorkerArgs {
        ttl_ms: 1_000,
        ..RegisterWorkerArgs::new(worker_instance_id.clone(), WorkerId::parse("tests").unwrap())
    };
    store.register_worker(worker).await.unwrap();
    let_pass(Duration::from_secs(61)).await;
    let home = worker_partition(&worker_instance_id, &store.partitions());
    assert!(store.snapshot(home).await.unwrap().workers.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_execution_is_forgotten_after_its_retention() {
    let (store, _engine) = started(16);
    let mut work = work("resize");
    work.policy.retention_ms = Some(3_600_000);
    let id = store.submit(work).await.unwrap().execution_id;
    store.cancel(CancelArgs { execution_id: id, reason: None, requested_by: None }).await.unwrap();
    let_pass(HOUR - SECOND).await;
    assert_eq!(state(&store, &id).await, PublicState::Cancelled);
    let_pass(2 * SECOND).await;
    assert_eq!(store.describe(&id).await.unwrap_err().code(), Code::ExecutionNotFound);
}
