//! A worker that waits for work gets it as soon as there is some.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;

use futures_util::future::{Either, join_all, select};
use tokio::time::timeout;

use crate::prelude::*;

pub(crate) async fn a_long_poll_returns_waiting_executions_at_once(world: World) {
    let mut submitted = BTreeSet::new();
    for _ in 0..20 {
        submitted.insert(world.submit("resize", b"cat.png").await);
    }
    let worker = world.worker("worker");
    let mut taken = BTreeSet::new();
    while taken.len() < 20 {
        let held = in_time(worker.next(7, ms(60_000))).await;
        assert!(!held.is_empty() && held.len() <= 7);
        taken.extend(held.iter().map(LeasedExecution::id));
    }
    assert_eq!(taken, submitted);
    assert!(worker.next(7, ms(0)).await.is_empty());
}

pub(crate) async fn a_waiting_worker_gets_what_is_submitted(world: World) {
    let (held, id) = woken_by(&world, async || world.submit("resize", b"cat.png").await).await;
    assert_eq!(held.id(), id);
}

pub(crate) async fn a_waiting_worker_gets_what_time_promotes(world: World) {
    let id = world.job("resize").after(ms(5_000)).submit().await;
    let (held, ()) = woken_by(&world, async || world.clock.advance(ms(5_000)).await).await;
    assert_eq!(held.id(), id);
}

pub(crate) async fn a_waiting_worker_gets_what_a_dead_one_held(world: World) {
    let dead = world.held().await;
    let (held, ()) = woken_by(&world, async || world.clock.advance(dead.lease_ttl()).await).await;
    assert_eq!(held.id(), dead.id());
}

pub(crate) async fn a_waiting_worker_gets_what_is_retried(world: World) {
    world.job("resize").retries(1, ms(2_000)).submit().await;
    let unlucky = world.worker("unlucky").claim().await;
    unlucky.fail("network").await.unwrap();
    let (held, ()) = woken_by(&world, async || world.clock.advance(ms(2_000)).await).await;
    assert_eq!(held.id(), unlucky.id());
}

pub(crate) async fn a_waiting_worker_gets_what_another_gives_back(world: World) {
    let revoked = world.held().await;
    let (held, _) = woken_by(&world, async || world.revoke(&revoked.id()).await.unwrap()).await;
    assert_eq!(held.id(), revoked.id());
    let (again, _) = woken_by(&world, async || held.delay(ms(0)).await.unwrap()).await;
    assert_eq!(again.id(), revoked.id());
    again.complete(b"done").await.unwrap();
    let (replayed, _) = woken_by(&world, async || world.replay(&revoked.id()).await.unwrap()).await;
    assert_eq!(replayed.id(), revoked.id());
}

pub(crate) async fn a_wait_for_work_runs_out(world: World) {
    assert!(world.worker("worker").next(1, ms(0)).await.is_empty());
    assert!(world.worker("worker").next(1, ms(20)).await.is_empty());
}

pub(crate) async fn an_execution_goes_to_one_of_many_waiting_workers(world: World) {
    let waiting = (0..8).map(|nth| {
        let worker = world.worker(&format!("worker-{nth}"));
        tokio::spawn(async move { worker.next(1, ms(300)).await })
    });
    let waiting: Vec<_> = waiting.collect();
    let id = world.submit("resize", b"cat.png").await;
    let taken: Vec<_> = join_all(waiting).await.into_iter().flat_map(Result::unwrap).collect();
    assert_eq!(taken.iter().map(LeasedExecution::id).collect::<Vec<_>>(), [id]);
}

pub(crate) async fn as_many_pieces_go_to_as_many_waiting(world: World) {
    let waiting: Vec<_> = (0..8)
        .map(|nth| {
            let worker = world.worker(&format!("worker-{nth}"));
            tokio::spawn(async move { worker.next(1, ms(60_000)).await })
        })
        .collect();
    let mut submitted = BTreeSet::new();
    for _ in 0..8 {
        submitted.insert(world.submit("resize", b"cat.png").await);
    }
    let taken = in_time(join_all(waiting)).await;
    let taken: BTreeSet<_> = taken.into_iter().flat_map(Result::unwrap).map(|held| held.id()).collect();
    assert_eq!(taken, submitted);
}

pub(crate) async fn lanes_are_preferred_in_the_order_given(world: World) {
    for _ in 0..3 {
        world.job("send").lane("slow").priority(9_000).submit().await;
        world.job("send").lane("quick").submit().await;
    }
    everything_is_known(&world).await;
    let worker = world.worker("worker").lanes(&["quick", "slow"]);
    let mut lanes = Vec::new();
    for _ in 0..6 {
        lanes.extend(in_time(worker.next(1, ms(60_000))).await.into_iter().map(|held| held.task.lane_id.to_string()));
    }
    assert_eq!(lanes, ["quick", "quick", "quick", "slow", "slow", "slow"]);
}

pub(crate) async fn a_long_poll_can_return_executions_of_several_lanes(world: World) {
    for lane in ["a", "b", "c"] {
        world.job("send").lane(lane).submit().await;
    }
    let worker = world.worker("worker").lanes(&["a", "b", "c"]);
    let mut lanes = BTreeSet::new();
    while lanes.len() < 3 {
        let held = in_time(worker.next(3, ms(60_000))).await;
        assert!(!held.is_empty());
        lanes.extend(held.into_iter().map(|held| held.task.lane_id.to_string()));
    }
}

pub(crate) async fn a_waiting_worker_leaves_alone_what_is_not_for_it(world: World) {
    world.job("shrink").submit().await;
    world.job("resize").lane("other").submit().await;
    world.job("resize").namespace("acme").submit().await;
    let worker = world.worker("worker").kinds(&["resize"]);
    assert!(worker.next(9, ms(20)).await.is_empty());
    let id = world.submit("resize", b"cat.png").await;
    let held = in_time(worker.next(9, ms(60_000))).await;
    assert_eq!(held.iter().map(LeasedExecution::id).collect::<Vec<_>>(), [id]);
}

pub(crate) async fn a_tenants_worker_gets_only_its_tenants_work(world: World) {
    world.submit("resize", b"cat.png").await;
    let theirs = world.job("resize").namespace("acme").submit().await;
    let worker = world.worker("worker").namespace("acme");
    assert_eq!(in_time(worker.next(9, ms(60_000))).await.iter().map(LeasedExecution::id).collect::<Vec<_>>(), [theirs]);
    assert!(worker.next(9, ms(20)).await.is_empty());
}

pub(crate) async fn a_wait_that_asks_too_much_is_refused(world: World) {
    let worker = world.worker("worker");
    let ask = async |worker: &Worker, max, wait| world.long_poll.next(worker.next_args(max, wait)).await;
    assert_refused!(ask(&worker.clone().lanes(&[]), 1, ms(0)).await, "invalid_input", "lanes");
    let names: Vec<_> = (0..65).map(|nth| format!("lane-{nth}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_refused!(ask(&worker.clone().lanes(&names), 1, ms(0)).await, "limit_exceeded", "lanes", 64, 65);
    assert!(ask(&worker.clone().lanes(&names[..64]), 1, ms(0)).await.unwrap().is_empty());
    assert_refused!(ask(&worker, 1, ms(60_001)).await, "limit_exceeded", "wait_ms", 60_000, 60_001);
    assert_refused!(ask(&worker, 0, ms(0)).await, "invalid_input", "max");
    assert_refused!(ask(&worker, 1_001, ms(0)).await, "limit_exceeded", "max", 1_000, 1_001);
    assert_refused!(ask(&worker.clone().ttl(ms(999)), 1, ms(0)).await, "limit_exceeded", "lease_ttl_ms");
}

/// Returns the execution that a waiting worker gets when `event` happens, and the result of `event`.
pub(crate) async fn woken_by<T>(world: &World, event: impl AsyncFnOnce() -> T) -> (LeasedExecution, T) {
    let worker = world.worker("waiting");
    let waiting = pin!(worker.next(1, ms(60_000)));
    let settled = pin!(round_trips(world));
    let Either::Right(((), waiting)) = select(waiting, settled).await else { panic!("there was nothing to wait for") };
    let given = event().await;
    (in_time(waiting).await.pop().expect("the wait ran out"), given)
}

/// Waits until the hints of all earlier submissions have arrived: a claim that does not wait looks for work only after that.
async fn everything_is_known(world: &World) {
    assert_eq!(world.worker("other").lanes(&["unused"]).next(1, ms(0)).await.len(), 0);
}

/// Makes enough calls that another call sent before them has arrived and waits.
pub(crate) async fn round_trips(world: &World) {
    for _ in 0..30 {
        world.engine_store.now().await.unwrap();
        world.backend.claim(world.worker("other").lanes(&["unused"]).claim_args(0, 1)).await.unwrap();
        tokio::task::yield_now().await;
    }
}

pub(crate) async fn in_time<T>(happens: impl Future<Output = T>) -> T {
    timeout(ms(10_000), happens).await.expect("no waiter was woken")
}
