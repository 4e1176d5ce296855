//! Lanes with a limit: never more is handed out than allowed, and an end makes room at once.

use std::time::Duration;

use ff_core::backend::{EngineStore, Perform};
use ff_core::execution::contracts::{CompleteArgs, SubmitArgs};
use ff_core::lane::LaneState;
use ff_core::lane::contracts::{AllotArgs, ConfigureLaneArgs, Setting};
use ff_core::lease::contracts::{ClaimedExecution, NextArgs};
use ff_core::types::Namespace;
use ff_engine::Orchestration;
use tokio::time::Instant;

use crate::support::{WatchedStore, holder, lane, let_pass, work};
use crate::{started, waiting};

fn ask(max: usize, wait_ms: u64) -> NextArgs {
    NextArgs { lanes: vec![lane("a")], max, lease_ttl_ms: 600_000, wait_ms, ..NextArgs::new(holder("w")) }
}

async fn limit(store: &WatchedStore, to: u32) {
    let named = ConfigureLaneArgs::new(Namespace::default_name(), lane("a"));
    store.configure_lane(ConfigureLaneArgs { concurrency: Setting::To(to), ..named }).await.unwrap();
}

async fn submit(store: &WatchedStore, count: usize) {
    let work = |()| SubmitArgs { lane: lane("a"), ..work("k") };
    store.submit_many(vec![(); count].into_iter().map(work).collect()).await.unwrap();
}

async fn complete(store: &WatchedStore, claimed: &ClaimedExecution) {
    let (execution_id, fence) = (claimed.task.execution_id, claimed.task.fence);
    store.complete(CompleteArgs { execution_id, fence, result: None }).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn no_more_than_the_limit_is_handed_out_and_what_ends_makes_room_at_once() {
    let (store, scheduler) = started(64);
    limit(&store, 3).await;
    submit(&store, 40).await;
    let started = Instant::now();
    let mut held = scheduler.next(ask(10, 0)).await.unwrap();
    assert_eq!(held.len(), 3);
    assert_eq!(scheduler.next(ask(10, 0)).await.unwrap().len(), 0);
    let mut done = 0;
    while let Some(claimed) = held.pop() {
        let waits = waiting(&scheduler, ask(1, 60_000));
        complete(&store, &claimed).await;
        done += 1;
        if done + held.len() < 40 {
            held.extend(waits.await.unwrap().unwrap());
        } else {
            waits.abort();
        }
        assert!(held.len() <= 3);
    }
    assert_eq!(done, 40);
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_lost_grant_blocks_its_lane_only_briefly() {
    let (store, scheduler) = started(16);
    limit(&store, 1).await;
    submit(&store, 2).await;
    let lost = AllotArgs { partition: 3, namespace: Namespace::default_name(), lane: lane("a"), want: 1 };
    assert!(store.allot_lane(lost).await.unwrap().grant.is_some());
    let started = Instant::now();
    assert_eq!(scheduler.next(ask(1, 60_000)).await.unwrap().len(), 1);
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_full_lane_is_rarely_claimed_from() {
    let (store, scheduler) = started(16);
    limit(&store, 1).await;
    submit(&store, 2).await;
    let held = scheduler.next(ask(1, 0)).await.unwrap();
    assert_eq!(held.len(), 1);
    let waits = waiting(&scheduler, ask(1, 60_000));
    let_pass(Duration::from_secs(50)).await;
    assert!(store.call_count("claim") < 15, "{:?}", store.calls());
    complete(&store, &held[0]).await;
    assert_eq!(waits.await.unwrap().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_waiting_worker_wakes_when_its_lane_is_resumed() {
    let (store, scheduler) = started(16);
    let state = |state| ConfigureLaneArgs::state(Namespace::default_name(), lane("a"), state);
    store.configure_lane(state(LaneState::Paused)).await.unwrap();
    submit(&store, 1).await;
    let waits = waiting(&scheduler, ask(1, 60_000));
    let_pass(Duration::from_secs(10)).await;
    assert!(!waits.is_finished());
    let resumed = Instant::now();
    store.configure_lane(state(LaneState::Active)).await.unwrap();
    assert_eq!(waits.await.unwrap().unwrap().len(), 1);
    assert_eq!(resumed.elapsed(), Duration::ZERO);
}
