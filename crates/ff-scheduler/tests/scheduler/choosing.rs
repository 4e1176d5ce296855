//! The order of claims, how much they take, and from where.

use std::sync::Arc;

use ff_core::backend::Perform;
use ff_core::execution::contracts::SubmitArgs;
use ff_core::lease::contracts::{ClaimedExecution, NextArgs};
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::types::{Kind, LaneId, Namespace, Priority};
use ff_scheduler::Scheduler;

use crate::started;
use crate::support::{WatchedStore, holder, lane, work};

fn ask(lanes: &[&str], max: usize) -> NextArgs {
    NextArgs { lanes: lanes.iter().map(|name| lane(name)).collect(), max, ..NextArgs::new(holder("w")) }
}

async fn submit(store: &WatchedStore, lane_name: &str, priority: i64) {
    let priority = Priority::new(priority).unwrap();
    store.submit(SubmitArgs { lane: lane(lane_name), priority, ..work("k") }).await.unwrap();
}

async fn all(scheduler: &Arc<Scheduler>, args: NextArgs) -> Vec<ClaimedExecution> {
    let mut all = Vec::new();
    loop {
        let some = scheduler.next(args.clone()).await.unwrap();
        assert!(some.len() <= args.max);
        if some.is_empty() {
            return all;
        }
        all.extend(some);
    }
}

#[tokio::test(start_paused = true)]
async fn a_higher_priority_goes_first_wherever_it_is() {
    let (store, scheduler) = started(64);
    for priority in [0, 7, 3, 9, 1, 9, 0, 5, 7, 2, 8, 4] {
        submit(&store, "a", priority).await;
    }
    let claimed = all(&scheduler, ask(&["a"], 1)).await;
    let order: Vec<_> = claimed.iter().map(|one| one.task.priority.get()).collect();
    assert_eq!(order, [9, 9, 8, 7, 7, 5, 4, 3, 2, 1, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn the_preferred_lane_goes_first_and_the_rest_fills_up() {
    let (store, scheduler) = started(64);
    for _ in 0..3 {
        submit(&store, "b", 9).await;
        submit(&store, "a", 0).await;
        submit(&store, "c", 9).await;
    }
    let claimed = scheduler.next(ask(&["a", "b"], 5)).await.unwrap();
    let lanes: Vec<_> = claimed.iter().map(|one| one.task.lane_id.as_str()).collect();
    assert_eq!(lanes, ["a", "a", "a", "b", "b"]);
    assert_eq!(all(&scheduler, ask(&["a", "b", "c"], 5)).await.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_claim_is_nearly_filled_from_many_partitions_and_never_overfilled() {
    let (store, scheduler) = started(64);
    for _ in 0..300 {
        submit(&store, "a", 0).await;
    }
    let many = scheduler.next(ask(&["a"], 100)).await.unwrap().len();
    let few = scheduler.next(ask(&["a"], 7)).await.unwrap().len();
    assert!((75..=100).contains(&many) && (6..=7).contains(&few), "{many} and {few}");
    assert_eq!(all(&scheduler, ask(&["a"], 50)).await.len(), 300 - many - few);
}

#[tokio::test(start_paused = true)]
async fn a_full_partition_is_claimed_in_large_batches() {
    let (store, scheduler) = started(1);
    for _ in 0..250 {
        submit(&store, "a", 0).await;
    }
    assert_eq!(scheduler.next(ask(&["a"], 1)).await.unwrap().len(), 1);
    let before = store.call_count("claim");
    let many = scheduler.next(ask(&["a"], 200)).await.unwrap().len();
    assert!((150..=200).contains(&many), "{many}");
    assert_eq!(store.call_count("claim"), before + many.div_ceil(limits::CLAIM_AT_ONCE));
}

#[tokio::test(start_paused = true)]
async fn a_claim_gets_only_its_kinds_and_leaves_the_others() {
    let (store, scheduler) = started(4);
    for _ in 0..10 {
        for kind in ["x", "y", "z"] {
            store.submit(work(kind)).await.unwrap();
        }
    }
    let some = NextArgs { kinds: vec![Kind::parse("x").unwrap(), Kind::parse("z").unwrap()], ..ask(&["default"], 3) };
    let claimed = all(&scheduler, some).await;
    assert_eq!(claimed.len(), 20);
    assert!(claimed.iter().all(|one| one.task.kind.as_str() != "y"));
    assert_eq!(all(&scheduler, ask(&["default"], 3)).await.len(), 10);
}

#[tokio::test(start_paused = true)]
async fn lanes_of_one_name_in_two_namespaces_are_two_lanes() {
    let (store, scheduler) = started(4);
    let acme = Namespace::parse("acme").unwrap();
    store.submit(SubmitArgs { namespace: acme.clone(), ..work("k") }).await.unwrap();
    assert_eq!(scheduler.next(ask(&["default"], 9)).await.unwrap(), []);
    let theirs = NextArgs { namespace: acme, ..ask(&["default"], 9) };
    assert_eq!(scheduler.next(theirs).await.unwrap()[0].task.lane_id, LaneId::default_name());
}

#[tokio::test(start_paused = true)]
async fn a_claim_response_stays_within_the_byte_limit() {
    let (store, scheduler) = started(16);
    for _ in 0..12 {
        let payload = Payload::bytes(vec![7; 900 * 1024]);
        store.submit(SubmitArgs::new(Kind::parse("k").unwrap(), payload)).await.unwrap();
    }
    let mut claimed = 0;
    while claimed < 12 {
        let some = scheduler.next(ask(&["default"], 100)).await.unwrap();
        let bytes: usize = some.iter().map(|one| one.payload.bytes.len()).sum();
        assert!((1..=limits::CLAIM_BYTES).contains(&bytes), "{bytes} bytes in {} executions", some.len());
        claimed += some.len();
    }
    assert_eq!(scheduler.next(ask(&["default"], 100)).await.unwrap(), []);
}
