//! Lost hints, a store that fails, and nothing to do at all.

use std::collections::BTreeMap;
use std::time::Duration;

use ff_core::backend::Perform;
use ff_core::engine_error::Code;
use ff_core::execution::contracts::{CancelArgs, SubmitArgs};
use ff_core::lease::contracts::NextArgs;
use ff_engine::{Engine, Notifier};
use ff_scheduler::Scheduler;
use futures_util::FutureExt;
use tokio::time::Instant;
use uuid::Uuid;

use crate::support::{holder, let_pass, store, work};
use crate::{started, waiting};

fn ask(wait_ms: u64) -> NextArgs {
    NextArgs { max: 10, wait_ms, ..NextArgs::new(holder("w")) }
}

#[tokio::test(start_paused = true)]
async fn work_without_a_hint_is_found_once_hints_are_known_to_be_lost() {
    let (store, scheduler) = started(16);
    let_pass(Duration::from_secs(1)).await;
    store.lose_hints();
    store.submit(work("resize")).await.unwrap();
    assert_eq!(scheduler.next(ask(1_000)).await.unwrap(), [], "nobody told the scheduler");
    let waits = waiting(&scheduler, ask(60_000));
    let_pass(Duration::from_secs(1)).await;
    store.find_hints();
    assert_eq!(waits.await.unwrap().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn where_hints_can_be_lost_unnoticed_work_is_late_and_not_lost() {
    let store = store(16);
    store.sweep_every(Duration::from_secs(30));
    let scheduler = Scheduler::start(store.clone());
    let engine = Engine::start(store.clone());
    let_pass(Duration::from_secs(1)).await;
    store.lose_hints();
    store.submit(work("resize")).await.unwrap();
    store.find_hints_unnoticed();
    let started = Instant::now();
    assert_eq!(scheduler.next(ask(60_000)).await.unwrap().len(), 1);
    assert!(started.elapsed() <= Duration::from_secs(31), "{:?}", started.elapsed());
    engine.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_claim_the_store_did_not_answer_loses_no_work() {
    let (store, scheduler) = started(16);
    for _ in 0..20 {
        store.submit(work("resize")).await.unwrap();
    }
    let_pass(Duration::from_secs(1)).await;
    store.set_down(true);
    assert_eq!(scheduler.next(ask(60_000)).await.unwrap_err().code(), Code::StoreUnavailable);
    assert_eq!(scheduler.next(ask(0)).await.unwrap_err().code(), Code::StoreUnavailable);
    store.set_down(false);
    assert_eq!(scheduler.next(ask(60_000)).await.unwrap().len(), 10);
    assert_eq!(scheduler.next(ask(60_000)).await.unwrap().len(), 10);
}

/// A worker that takes one at a time is called to the oldest work first, all of which may be on a part that is away.
#[tokio::test(start_paused = true)]
async fn work_that_cannot_be_claimed_does_not_keep_workers_from_other_work() {
    let (store, scheduler) = started(32);
    let on = async |partition: u16| {
        let mut drawn = std::iter::repeat_with(|| SubmitArgs { uuid: Uuid::now_v7(), ..work("resize") });
        let args = drawn.find(|args| args.execution_id(&store.partitions()).partition() == partition).unwrap();
        store.submit(args).await.unwrap()
    };
    for partition in 0..20 {
        on(partition).await;
        let_pass(Duration::from_millis(1)).await;
    }
    on(30).await;
    store.set_partitions_down(0..20);
    let one = || NextArgs { max: 1, ..ask(2_000) };
    let began = Instant::now();
    let claimed = loop {
        match scheduler.next(one()).await {
            Ok(claimed) => break claimed,
            Err(error) => assert_eq!(error.code(), Code::StoreUnavailable),
        }
        assert!(began.elapsed() < Duration::from_millis(500), "it takes too long");
        let_pass(Duration::from_millis(10)).await;
    };
    assert_eq!(claimed[0].task.execution_id.partition(), 30);
    store.set_partitions_down(0..0);
    assert_eq!(scheduler.next(one()).await.unwrap().len(), 1, "what was set aside is ready again");
}

#[tokio::test(start_paused = true)]
async fn work_claimed_for_a_departed_caller_is_given_back() {
    let (store, scheduler) = started(16);
    store.submit(work("resize")).await.unwrap();
    let_pass(Duration::from_secs(1)).await;
    assert!(scheduler.next(ask(60_000)).now_or_never().is_none(), "the store was asked and has not answered yet");
    let_pass(Duration::from_secs(1)).await;
    assert_eq!((store.call_count("claim"), store.call_count("delay")), (1, 1));
    let claimed = scheduler.next(ask(0)).await.unwrap();
    assert_eq!(claimed.len(), 1, "long before the lease would have expired");
    assert_eq!(claimed[0].task.fence.lease_epoch.0, 2);
}

#[tokio::test(start_paused = true)]
async fn an_ended_scheduler_asks_the_store_nothing_more() {
    let (store, scheduler) = started(16);
    scheduler.end().await;
    let calls = store.calls();
    store.submit(work("resize")).await.unwrap();
    let_pass(Duration::from_secs(60)).await;
    assert_eq!(scheduler.next(ask(1_000)).await.unwrap(), []);
    assert_eq!((store.call_count("sweep"), store.call_count("claim")), (calls.get("sweep").copied().unwrap_or(0), 0));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_down_at_the_start_is_swept_when_it_is_back() {
    let store = store(16);
    store.submit(work("resize")).await.unwrap();
    store.set_down(true);
    let scheduler = Scheduler::start(store.clone());
    assert_eq!(scheduler.next(ask(0)).await.unwrap(), [], "whoever does not wait is not kept");
    let_pass(Duration::from_secs(10)).await;
    store.set_down(false);
    assert_eq!(scheduler.next(ask(60_000)).await.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn work_that_is_gone_when_it_is_claimed_is_forgotten() {
    let (store, scheduler) = started(16);
    let execution_id = store.submit(work("resize")).await.unwrap().execution_id;
    store.cancel(CancelArgs { execution_id, reason: None, requested_by: None }).await.unwrap();
    assert_eq!(scheduler.next(ask(1_000)).await.unwrap(), []);
    assert_eq!(store.call_count("claim"), 1);
    assert_eq!(scheduler.next(ask(1_000)).await.unwrap(), []);
    assert_eq!(store.call_count("claim"), 1);
}

#[tokio::test(start_paused = true)]
async fn an_idle_process_reads_only_the_sweepable_workers() {
    let store = store(256);
    let (scheduler, notifier, engine) =
        (Scheduler::start(store.clone()), Notifier::start(store.clone()), Engine::start(store.clone()));
    let_pass(Duration::from_secs(1)).await;
    let after_start = store.calls();
    assert_eq!(after_start.get("sweep"), Some(&512), "the scheduler and the engine look once each");
    assert_eq!(
        after_start.keys().collect::<Vec<_>>(),
        [&"all_quotas", &"schedule_agenda", &"sweep", &"sweepable_workers"]
    );
    let day = Instant::now() + Duration::from_secs(24 * 3_600);
    while Instant::now() < day {
        assert_eq!(scheduler.next(ask(60_000)).await.unwrap(), []);
    }
    let once = [("all_quotas", 1), ("schedule_agenda", 1), ("sweep", 512)];
    let expected = BTreeMap::from_iter(once.into_iter().chain([("sweepable_workers", 24 * 120 + 1)]));
    assert_eq!(store.calls(), expected);
    notifier.stop();
    engine.stop().await;
}
