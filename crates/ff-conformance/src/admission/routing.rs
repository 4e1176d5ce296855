//! Executions that no live worker can run leave the queues. They return when a capable worker registers.

use ff_engine::{Engine, EngineOptions};

use super::{nothing_to_claim, words};
use crate::event::{follow, since};
use crate::prelude::*;

pub(crate) async fn work_no_live_worker_can_run_is_blocked_until_one_registers(world: World) {
    let engine = engine(&world);
    let mut cursor = follow(&world).await;
    register(&world, "plain", &[]).await;
    register(&world, "other", &["ssd"]).await;
    let required = world.job("resize").require(&["gpu"]).submit().await;
    let plain = world.submit("resize", b"cat.png").await;
    until(&world, &mut cursor, is_blocked, 1).await;
    let expected = ["waiting", "blocked_by_route", "waiting_for_capable_worker"];
    assert_eq!(words(&world, &required).await, expected);
    let detail = world.describe(&required).await.blocking_detail;
    assert_eq!(detail.as_deref(), Some(&BlockDetail::Route { class: "gpu".into() }));
    assert_eq!(words(&world, &plain).await, ["waiting", "eligible_now", "waiting_for_worker"]);
    world.cancel(&plain).await.unwrap();
    assert!(nothing_to_claim(&world).await);

    let able = world.worker("able").capabilities(&["gpu"]);
    let waiting = tokio::spawn(async move { able.next(1, ms(30_000)).await });
    register(&world, "able", &["gpu"]).await;
    let held = waiting.await.unwrap().pop().expect("it is released and handed out");
    assert_eq!(held.id(), required);
    engine.stop().await;
}

pub(crate) async fn many_are_blocked_and_released_in_steps(world: World) {
    let engine = engine(&world);
    let mut cursor = follow(&world).await;
    for nth in 0..40 {
        world.job("resize").on_partition(nth % 2).require(&["gpu", "region=eu"]).submit().await;
    }
    until(&world, &mut cursor, is_blocked, 40).await;
    let depth = world.lane("default").depth(LanePlace::BlockedByRoute).await.count;
    assert_eq!((depth, world.lane("default").depth(LanePlace::Waiting).await.count), (40, 0));
    register(&world, "able", &["gpu", "region=eu"]).await;
    until(&world, &mut cursor, is_unblocked, 40).await;
    assert_eq!(world.lane("default").depth(LanePlace::Waiting).await.count, 40);
    engine.stop().await;
}

pub(crate) async fn an_engine_that_starts_later_releases_what_another_has_blocked(world: World) {
    let first = engine(&world);
    let mut cursor = follow(&world).await;
    let id = world.job("resize").require(&["gpu"]).submit().await;
    until(&world, &mut cursor, is_blocked, 1).await;
    first.stop().await;
    register(&world, "able", &["gpu"]).await;
    let second = engine(&world);
    until(&world, &mut cursor, is_unblocked, 1).await;
    assert_eq!(world.worker("able").capabilities(&["gpu"]).claim().await.id(), id);
    second.stop().await;
}

pub(crate) async fn a_queue_is_listed_as_it_stands(world: World) {
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(world.job("resize").on_partition(1).require(&["gpu"]).submit().await);
    }
    let queue = WorkQueue {
        lane: LaneId::default_name(),
        kind: Kind::parse("resize").unwrap(),
        class: RequirementClass::parse("gpu").unwrap(),
    };
    let list = |state, limit| {
        let args = ListQueueArgs { partition: 1, queue: queue.clone(), state, limit };
        async { world.engine_store.list_queue(args).await.unwrap() }
    };
    let found = list(QueueState::Ready, 9).await;
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|queued| queued.lease_epoch == LeaseEpoch(0) && ids.contains(&queued.execution_id)));
    assert_eq!(list(QueueState::Ready, 2).await.len(), 2);
    assert_eq!(world.engine_store.sweep(1).await.unwrap().unroutable, []);
    let target = |queued: &QueuedExecution| BlockTarget {
        execution_id: queued.execution_id,
        lease_epoch: queued.lease_epoch,
        detail: BlockDetail::Route { class: "gpu".into() },
    };
    let executions = found.iter().take(2).map(target).collect();
    assert_eq!(world.engine_store.block(BlockArgs { partition: 1, executions }).await.unwrap().blocked, 2);
    assert_eq!((list(QueueState::Ready, 9).await.len(), list(QueueState::Unroutable, 9).await.len()), (1, 2));
    assert_eq!(world.engine_store.sweep(1).await.unwrap().unroutable, std::slice::from_ref(&queue));
}

/// Starts an engine with a short routing grace, so that it soon blocks executions.
fn engine(world: &World) -> Engine {
    Engine::start_with(world.engine_store.clone(), EngineOptions { routing_grace: ms(20) })
}

async fn register(world: &World, name: &str, words: &[&str]) {
    let instance = WorkerInstanceId::parse(&format!("{name}-1")).unwrap();
    let args = RegisterWorkerArgs {
        capabilities: words.iter().map(|word| Capability::parse(word).unwrap()).collect(),
        ..RegisterWorkerArgs::new(instance, WorkerId::parse(name).unwrap())
    };
    world.backend.register_worker(args).await.unwrap();
}

fn is_blocked(event: &EventKind) -> bool {
    matches!(event, EventKind::Blocked { .. })
}

fn is_unblocked(event: &EventKind) -> bool {
    matches!(event, EventKind::Unblocked { .. })
}

/// Reads events until `count` events that match `is` have arrived.
async fn until(world: &World, cursor: &mut EventCursor, is: fn(&EventKind) -> bool, mut count: usize) {
    while count > 0 {
        let page = world.long_poll.next_events(since(cursor), 30_000).await.unwrap();
        assert!(!page.events.is_empty(), "{count} events more do not come");
        count -= page.events.iter().filter(|event| is(&event.what)).count();
        *cursor = page.next;
    }
}
