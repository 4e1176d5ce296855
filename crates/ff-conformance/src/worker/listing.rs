//! A worker is listed while it is alive.

use super::{names, worker};
use crate::prelude::*;

pub(crate) async fn workers_are_listed_by_name_page_by_page(world: World) {
    for name in ["c", "a", "d", "b"] {
        world.backend.register_worker(worker(name, "default")).await.unwrap();
    }
    assert_eq!(names(&world, None).await, ["a", "b", "c", "d"]);
}

pub(crate) async fn a_list_of_workers_is_of_one_tenant_or_of_all(world: World) {
    world.backend.register_worker(worker("ours", "default")).await.unwrap();
    world.backend.register_worker(worker("theirs", "acme")).await.unwrap();
    assert_eq!(names(&world, Some("default")).await, ["ours"]);
    assert_eq!(names(&world, Some("acme")).await, ["theirs"]);
    assert_eq!(names(&world, None).await, ["ours", "theirs"]);
}

pub(crate) async fn a_worker_is_listed_as_it_said_it_is(world: World) {
    let given = RegisterWorkerArgs {
        lanes: [LaneId::parse("mail").unwrap(), LaneId::default_name()].into(),
        kinds: [Kind::parse("send").unwrap()].into(),
        capabilities: [Capability::parse("gpu=a100").unwrap(), Capability::parse("eu").unwrap()].into(),
        ..worker("a", "default")
    };
    world.backend.register_worker(given.clone()).await.unwrap();
    let registered_at = world.clock.now();
    world.clock.advance(ms(10)).await;
    world.backend.register_worker(given.clone()).await.unwrap();
    let args = ListWorkersArgs { namespace: None, after: None, limit: 10 };
    let [known] = world.backend.list_workers(args).await.unwrap().workers.try_into().unwrap();
    assert_eq!((known.worker_id, known.namespace, known.lanes), (given.worker_id, given.namespace, given.lanes));
    assert_eq!((known.kinds, known.capabilities, known.ttl_ms), (given.kinds, given.capabilities, given.ttl_ms));
    assert_eq!((known.registered_at, known.seen_at), (registered_at, registered_at + 10));
}

pub(crate) async fn a_page_of_workers_has_at_most_a_thousand(world: World) {
    let list = |limit| ListWorkersArgs { namespace: None, after: None, limit };
    assert!(world.backend.list_workers(list(limits::PAGE)).await.is_ok());
    assert_refused!(world.backend.list_workers(list(limits::PAGE + 1)).await, "limit_exceeded", "limit", 1_000, 1_001);
    assert_refused!(world.backend.list_workers(list(0)).await, "invalid_input");
}
