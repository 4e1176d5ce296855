//! Workers that wait are given work when there is some, one worker for one piece, and are not kept for nothing.

use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::Perform;
use ff_core::engine_error::Code;
use ff_core::lease::contracts::NextArgs;
use ff_core::types::Kind;
use ff_scheduler::Scheduler;
use tokio::time::Instant;

use crate::support::{holder, let_pass, store, work};
use crate::{started, waiting};

fn any(worker: &str, wait_ms: u64) -> NextArgs {
    NextArgs { wait_ms, ..NextArgs::new(holder(worker)) }
}

/// On a paused runtime time passes only when all tasks wait for it, so a claim that took no time waited for no timer.
#[tokio::test(start_paused = true)]
async fn a_waiting_claim_returns_as_soon_as_work_is_submitted() {
    let (store, scheduler) = started(256);
    let_pass(Duration::from_secs(1)).await;
    for _ in 0..200 {
        let waiting = waiting(&scheduler, any("w", 60_000));
        let_pass(Duration::from_secs(1)).await;
        let submitted = Instant::now();
        let id = store.submit(work("resize")).await.unwrap().execution_id;
        let claimed = waiting.await.unwrap().unwrap();
        assert_eq!(claimed[0].task.execution_id, id);
        assert_eq!(submitted.elapsed(), Duration::ZERO);
    }
    assert_eq!(store.call_count("claim"), 200);
}

/// Above the ninetieth percentile a busy machine is measured, not the scheduler: pauses of this thread show there, and
/// the test above shows that nothing else does.
#[tokio::test]
async fn by_the_wall_clock_a_waiting_claim_returns_within_milliseconds() {
    let (store, scheduler) = started(256);
    let mut took = Vec::new();
    for _ in 0..200 {
        let waiting = waiting(&scheduler, any("w", 60_000));
        tokio::task::yield_now().await;
        let submitted = Instant::now();
        store.submit(work("resize")).await.unwrap();
        assert_eq!(waiting.await.unwrap().unwrap().len(), 1);
        took.push(submitted.elapsed());
    }
    took.sort_unstable();
    assert!(took[180] < Duration::from_millis(10), "p50 {:?}, p90 {:?}, p99 {:?}", took[100], took[180], took[198]);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_workers_and_one_piece_of_work_make_one_claim() {
    let (store, scheduler) = started(16);
    let workers: Vec<_> = (0..1_000).map(|nth| waiting(&scheduler, any(&format!("w-{nth}"), 60_000))).collect();
    let_pass(Duration::from_secs(1)).await;
    assert_eq!(store.call_count("claim"), 0);
    let id = store.submit(work("resize")).await.unwrap().execution_id;
    let_pass(Duration::from_secs(1)).await;
    assert_eq!(store.call_count("claim"), 1);
    scheduler.stop();
    let mut claimed = Vec::new();
    for one in workers {
        claimed.extend(one.await.unwrap().unwrap());
    }
    assert_eq!(claimed.iter().map(|one| one.task.execution_id).collect::<Vec<_>>(), [id]);
}

#[tokio::test(start_paused = true)]
async fn waiting_workers_are_served_in_order_and_departed_ones_skipped() {
    let (store, scheduler) = started(16);
    let mut line = Vec::new();
    for nth in 0..4 {
        line.push(waiting(&scheduler, any(&format!("w-{nth}"), 60_000)));
        let_pass(Duration::from_millis(10)).await;
    }
    line.remove(1).abort();
    let_pass(Duration::from_millis(10)).await;
    for (one, name) in line.into_iter().zip(["w-0", "w-2", "w-3"]) {
        let id = store.submit(work("resize")).await.unwrap().execution_id;
        assert_eq!(one.await.unwrap().unwrap()[0].task.execution_id, id);
        let lease = store.describe(&id).await.unwrap().lease.unwrap();
        assert_eq!(lease.worker_instance_id.as_str(), name);
    }
    assert_eq!(store.call_count("claim"), 3);
}

#[tokio::test(start_paused = true)]
async fn work_wakes_only_workers_that_can_take_it() {
    let (store, scheduler) = started(16);
    let other = NextArgs { kinds: vec![Kind::parse("mail").unwrap()], ..any("other", 60_000) };
    let (other, right) = (waiting(&scheduler, other), waiting(&scheduler, any("right", 60_000)));
    let_pass(Duration::from_secs(1)).await;
    store.submit(work("resize")).await.unwrap();
    assert_eq!(right.await.unwrap().unwrap().len(), 1);
    assert_eq!(store.call_count("claim"), 1);
    store.submit(work("mail")).await.unwrap();
    assert_eq!(other.await.unwrap().unwrap()[0].task.kind.as_str(), "mail");
}

#[tokio::test(start_paused = true)]
async fn a_delay_that_ends_wakes_a_worker() {
    use ff_core::execution::contracts::{Start, SubmitArgs};
    let (store, scheduler) = started(16);
    let engine = ff_engine::Engine::start(store.clone());
    store.submit(SubmitArgs { start: Start::After(5_000), ..work("later") }).await.unwrap();
    let started = Instant::now();
    assert_eq!(scheduler.next(any("w", 60_000)).await.unwrap().len(), 1);
    assert!((5_000..5_010).contains(&started.elapsed().as_millis()), "{:?}", started.elapsed());
    engine.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_runs_out_is_answered_with_nothing() {
    let (store, scheduler) = started(16);
    let started = Instant::now();
    assert_eq!(scheduler.next(any("w", 0)).await.unwrap(), []);
    assert_eq!(started.elapsed(), Duration::ZERO);
    assert_eq!(scheduler.next(any("w", 700)).await.unwrap(), []);
    assert!((700..705).contains(&started.elapsed().as_millis()));
    assert_eq!(store.call_count("claim"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_does_not_wait_finds_work_submitted_before() {
    let store = store(16);
    store.submit(work("before")).await.unwrap();
    let scheduler = Scheduler::start(store.clone());
    assert_eq!(scheduler.next(any("w", 0)).await.unwrap().len(), 1, "from before the scheduler started");
    for _ in 0..500 {
        let id = store.submit(work("resize")).await.unwrap().execution_id;
        assert_eq!(scheduler.next(any("w", 0)).await.unwrap()[0].task.execution_id, id);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stopped_scheduler_ends_waits_and_hands_out_no_work() {
    let (store, scheduler) = started(16);
    let waiting = waiting(&scheduler, any("w", 60_000));
    let_pass(Duration::from_secs(1)).await;
    let stopped = Instant::now();
    scheduler.stop();
    assert_eq!(waiting.await.unwrap().unwrap(), []);
    store.submit(work("resize")).await.unwrap();
    assert_eq!(scheduler.next(any("w", 60_000)).await.unwrap(), []);
    assert_eq!(scheduler.next(any("w", 0)).await.unwrap(), []);
    assert_eq!(stopped.elapsed(), Duration::ZERO);
    assert_eq!(store.call_count("claim"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_scheduler_that_is_dropped_lets_go_of_its_store() {
    let (store, scheduler) = started(16);
    let_pass(Duration::from_secs(1)).await;
    drop(scheduler);
    let_pass(Duration::from_secs(1)).await;
    assert_eq!(Arc::strong_count(&store), 1);
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_asks_too_much_is_refused_before_it_waits() {
    let (_store, scheduler) = started(16);
    for (args, code) in [
        (NextArgs { lanes: vec![], ..any("w", 60_000) }, Code::InvalidInput),
        (NextArgs { max: 0, ..any("w", 60_000) }, Code::InvalidInput),
        (NextArgs { max: 1_001, ..any("w", 60_000) }, Code::LimitExceeded),
        (NextArgs { lease_ttl_ms: 999, ..any("w", 60_000) }, Code::LimitExceeded),
        (any("w", 60_001), Code::LimitExceeded),
    ] {
        let started = Instant::now();
        assert_eq!(scheduler.next(args).await.unwrap_err().code(), code);
        assert_eq!(started.elapsed(), Duration::ZERO);
    }
}
