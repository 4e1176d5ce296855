//! Workers register, and count as gone when they stop renewing the registration.

use ff_engine::Orchestration;
use futures_util::{StreamExt, stream};

use super::{names, worker};
use crate::prelude::*;

pub(crate) async fn a_worker_that_is_heard_of_stays(world: World) {
    let registered = world.backend.register_worker(worker("a", "default")).await.unwrap();
    assert_eq!((registered.expires_at, registered.already), (world.clock.now() + 1_000, false));
    for _ in 0..5 {
        world.clock.advance(ms(999)).await;
        let seen = world.backend.heartbeat(beat("a", "default")).await.unwrap();
        assert_eq!(seen.expires_at, world.clock.now() + 1_000);
    }
    assert_eq!(names(&world, None).await, ["a"]);
}

pub(crate) async fn a_worker_that_was_not_heard_of_is_gone(world: World) {
    world.backend.register_worker(worker("a", "default")).await.unwrap();
    world.clock.advance(ms(999)).await;
    assert_eq!(names(&world, None).await, ["a"]);
    world.clock.advance(ms(1)).await;
    assert_eq!(names(&world, None).await, Vec::<String>::new());
}

pub(crate) async fn a_heartbeat_of_an_expired_worker_is_refused_until_it_registers(world: World) {
    assert_refused!(world.backend.heartbeat(beat("a", "default")).await, "not_found");
    world.backend.register_worker(worker("a", "default")).await.unwrap();
    world.clock.advance(ms(1_000)).await;
    assert_refused!(world.backend.heartbeat(beat("a", "default")).await, "not_found", "worker_instance_id");
    assert!(!world.backend.register_worker(worker("a", "default")).await.unwrap().already);
    world.backend.heartbeat(beat("a", "default")).await.unwrap();
}

pub(crate) async fn registering_again_renews_what_is_known(world: World) {
    world.backend.register_worker(worker("a", "default")).await.unwrap();
    world.clock.advance(ms(500)).await;
    let mail = RegisterWorkerArgs { lanes: [LaneId::parse("mail").unwrap()].into(), ..worker("a", "default") };
    let again = world.backend.register_worker(mail).await.unwrap();
    assert_eq!((again.already, again.expires_at), (true, world.clock.now() + 1_000));
    assert_eq!(names(&world, None).await, ["a"]);
}

pub(crate) async fn the_name_of_a_worker_that_is_there_cannot_be_taken(world: World) {
    world.backend.register_worker(worker("a", "default")).await.unwrap();
    let answer = world.writes_nothing(world.backend.register_worker(worker("a", "acme"))).await;
    assert_refused!(answer, "idempotency_conflict");
    world.clock.advance(ms(1_000)).await;
    world.backend.register_worker(worker("a", "acme")).await.unwrap();
}

pub(crate) async fn another_tenants_worker_is_not_there(world: World) {
    world.backend.register_worker(worker("a", "default")).await.unwrap();
    assert_refused!(world.backend.heartbeat(beat("a", "acme")).await, "not_found");
    assert!(world.backend.leave(leave("a", "acme")).await.unwrap().already);
    assert_eq!(names(&world, None).await, ["a"]);
}

pub(crate) async fn leaving_twice_is_one_leave(world: World) {
    world.backend.register_worker(worker("a", "default")).await.unwrap();
    assert!(!world.backend.leave(leave("a", "default")).await.unwrap().already);
    assert!(world.backend.leave(leave("a", "default")).await.unwrap().already);
    assert_eq!(names(&world, None).await, Vec::<String>::new());
}

pub(crate) async fn only_those_gone_are_swept(world: World) {
    let before = world.contents().await;
    world.backend.register_worker(worker("a", "default")).await.unwrap();
    world.clock.advance(ms(500)).await;
    world.backend.register_worker(worker("b", "acme")).await.unwrap();
    world.clock.advance(ms(500)).await;
    let swept = world.engine_store.sweep_workers().await.unwrap();
    assert_eq!(swept.iter().map(WorkerInstanceId::as_str).collect::<Vec<_>>(), ["a"]);
    assert_eq!(world.engine_store.sweep_workers().await.unwrap(), []);
    world.clock.advance(ms(500)).await;
    world.engine_store.sweep_workers().await.unwrap();
    assert_eq!(world.contents().await, before, "nothing is left of them");
}

pub(crate) async fn a_registration_out_of_range_is_refused_by_its_field(world: World) {
    let lanes = |count: usize| (0..count).map(|nth| LaneId::parse(&format!("l{nth}")).unwrap()).collect();
    let capabilities = |count: usize| (0..count).map(|nth| Capability::parse(&format!("c{nth}")).unwrap()).collect();
    let known = || worker("a", "default");
    for (args, code, field) in [
        (RegisterWorkerArgs { ttl_ms: limits::WORKER_TTL_MIN_MS - 1, ..known() }, "limit_exceeded", "ttl_ms"),
        (RegisterWorkerArgs { ttl_ms: limits::WORKER_TTL_MAX_MS + 1, ..known() }, "limit_exceeded", "ttl_ms"),
        (RegisterWorkerArgs { lanes: lanes(0), ..known() }, "invalid_input", "lanes"),
        (RegisterWorkerArgs { lanes: lanes(limits::CLAIM_LANES + 1), ..known() }, "limit_exceeded", "lanes"),
        (
            RegisterWorkerArgs { capabilities: capabilities(limits::CAPABILITIES + 1), ..known() },
            "invalid_capabilities",
            "capabilities",
        ),
    ] {
        let error = world.backend.register_worker(args).await.unwrap_err();
        let EngineError::Refused(refusal) = error else { panic!("{error}") };
        assert_eq!((refusal.code.to_string().as_str(), refusal.field.as_deref()), (code, Some(field)));
    }
    let most = RegisterWorkerArgs {
        ttl_ms: limits::WORKER_TTL_MAX_MS,
        lanes: lanes(limits::CLAIM_LANES),
        capabilities: capabilities(limits::CAPABILITIES),
        ..known()
    };
    world.backend.register_worker(most).await.unwrap();
}

pub(crate) async fn a_namespace_has_ten_thousand_workers_at_once_and_no_more(world: World) {
    let lasting = |name: &str, namespace: &str| RegisterWorkerArgs { ttl_ms: 600_000, ..worker(name, namespace) };
    let registered = (0..limits::WORKERS).map(|nth| {
        let (world, args) = (world.clone(), lasting(&format!("w{nth}"), "acme"));
        async move { world.backend.register_worker(args).await }
    });
    let registered: Vec<_> = stream::iter(registered).buffer_unordered(256).collect().await;
    assert!(registered.iter().all(Result::is_ok), "{:?}", registered.iter().find(|answer| answer.is_err()));
    let one_more = || world.backend.register_worker(lasting("one-more", "acme"));
    assert_refused!(one_more().await, "limit_exceeded", "worker_instance_id", 10_000, 10_001);
    assert_refused!(world.backend.heartbeat(beat("one-more", "acme")).await, "not_found");
    assert!(world.backend.register_worker(lasting("w0", "acme")).await.unwrap().already, "who is there stays");
    world.backend.register_worker(lasting("one-more", "other")).await.unwrap();
    world.backend.leave(leave("one-more", "other")).await.unwrap();
    world.backend.leave(leave("w1", "acme")).await.unwrap();
    one_more().await.unwrap();
}

pub(crate) async fn an_unregistered_worker_can_claim_and_complete(world: World) {
    world.held().await.complete(b"done").await.unwrap();
    assert_eq!(names(&world, None).await, Vec::<String>::new());
}

fn beat(name: &str, namespace: &str) -> HeartbeatArgs {
    let worker_instance_id = WorkerInstanceId::parse(name).unwrap();
    HeartbeatArgs { namespace: Namespace::parse(namespace).unwrap(), worker_instance_id }
}

fn leave(name: &str, namespace: &str) -> LeaveArgs {
    let worker_instance_id = WorkerInstanceId::parse(name).unwrap();
    LeaveArgs { namespace: Namespace::parse(namespace).unwrap(), worker_instance_id }
}
