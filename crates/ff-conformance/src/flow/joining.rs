//! A join is decided once, as soon as the counts of its edges determine the outcome.

use futures_util::future::join_all;

use crate::prelude::*;
use crate::world::graph::{lenient, quorum};

pub(crate) async fn all_of_needs_every_upstream(world: World) {
    let flow = world.graph("a>d b>d c>d").submit().await;
    let started = flow.start().await;
    for (done, name) in ["a", "b", "c"].into_iter().enumerate() {
        let group = flow.group("d").await;
        assert_eq!((group.n, group.succeeded as usize, group.state), (3, done, GroupState::Pending));
        assert_eq!(flow.state("d").await, "waiting_children");
        started[name].complete(b"done").await.unwrap();
    }
    assert_eq!((flow.state("d").await, flow.group("d").await.state), ("waiting", GroupState::Satisfied));
}

pub(crate) async fn any_of_needs_one_upstream(world: World) {
    let flow = world.graph("a>d b>d c>d").join("d", lenient(1)).submit().await;
    let started = flow.start().await;
    started["a"].fail_for_good().await;
    assert_eq!(flow.state("d").await, "waiting_children", "two are left");
    started["c"].complete(b"done").await.unwrap();
    assert_eq!(flow.states("b d").await, ["active", "waiting"]);
}

pub(crate) async fn a_quorum_needs_so_many(world: World) {
    let flow = world.graph("a>z b>z c>z d>z").join("z", lenient(3)).submit().await;
    let started = flow.start().await;
    for name in ["d", "b"] {
        started[name].complete(b"done").await.unwrap();
        assert_eq!(flow.state("z").await, "waiting_children");
    }
    started["a"].complete(b"done").await.unwrap();
    assert_eq!(flow.state("z").await, "waiting");
    let group = flow.group("z").await;
    assert_eq!((group.join, group.n, group.succeeded), (lenient(3), 4, 3));
}

pub(crate) async fn upstreams_that_end_after_the_join_has_fired_are_only_counted(world: World) {
    let flow = world.graph("a>z b>z c>z d>z").join("z", lenient(1)).submit().await;
    let started = flow.start().await;
    started["a"].complete(b"done").await.unwrap();
    flow.start_one().await.complete(b"done").await.unwrap();
    started["b"].complete(b"done").await.unwrap();
    started["c"].fail_for_good().await;
    assert_eq!(flow.stands().await, "running", "one member still runs");
    world.cancel(&flow.member("d")).await.unwrap();
    let group = flow.group("z").await;
    assert_eq!((group.succeeded, group.failed, group.state), (2, 2, GroupState::Satisfied));
    assert_eq!(flow.moves_of("z").await, ["waiting", "active", "completed"]);
    assert_eq!(flow.stands().await, "completed", "what the join has borne is no failure");
}

pub(crate) async fn a_join_is_impossible_as_soon_as_the_numbers_say_so(world: World) {
    let flow = world.graph("a>z b>z c>z d>z z>y").join("z", lenient(3)).submit().await;
    let started = flow.start().await;
    started["a"].fail_for_good().await;
    assert_eq!(flow.state("z").await, "waiting_children", "three are left, and three it needs");
    started["b"].fail_for_good().await;
    assert_eq!(flow.states("c d z y").await, ["active", "active", "skipped", "skipped"]);
    assert_eq!(flow.group("z").await.state, GroupState::Impossible);
    started["c"].complete(b"late").await.unwrap();
    started["d"].complete(b"late").await.unwrap();
    let group = flow.group("z").await;
    assert_eq!((group.succeeded, group.failed, group.state), (2, 2, GroupState::Impossible));
    assert_eq!(flow.stands().await, "failed");
}

pub(crate) async fn any_of_is_impossible_when_all_have_failed(world: World) {
    let flow = world.graph("a>z b>z").join("z", lenient(1)).submit().await;
    let started = flow.start().await;
    started["a"].fail_for_good().await;
    assert_eq!(flow.state("z").await, "waiting_children");
    started["b"].fail_for_good().await;
    assert_eq!(flow.state("z").await, "skipped");
}

pub(crate) async fn a_join_counts_skipped_and_failed_upstreams_separately(world: World) {
    let flow = world.graph("a>b>z c>z d>z").join("z", lenient(1)).submit().await;
    let started = flow.start().await;
    started["a"].fail_for_good().await;
    started["c"].fail_for_good().await;
    let group = flow.group("z").await;
    assert_eq!((group.failed, group.skipped, group.succeeded, group.state), (1, 1, 0, GroupState::Pending));
    assert_eq!(flow.edge_state("b", "z").await, EdgeState::Skipped);
    assert_eq!(flow.edge_state("c", "z").await, EdgeState::Failed);
    started["d"].complete(b"done").await.unwrap();
    assert_eq!(flow.state("z").await, "waiting");
}

pub(crate) async fn an_upstream_counts_once_however_often_it_says_so(world: World) {
    let flow = world.graph("a>z b>z").join("z", lenient(2)).submit().await;
    let started = flow.start().await;
    for _ in 0..3 {
        started["a"].complete(b"done").await.unwrap();
        world.backend.cascade_completion(&flow.member("a")).await.unwrap();
    }
    assert_eq!((flow.group("z").await.succeeded, flow.state("z").await), (1, "waiting_children"));
}

pub(crate) async fn of_upstreams_that_end_at_once_one_makes_the_join_fire(world: World) {
    let names: Vec<_> = (0..24).map(|nth| format!("n{nth}>z")).collect();
    let flow = world.graph(&names.join(" ")).join("z", quorum(5)).submit().await;
    let started = flow.start().await;
    let ends = started.values().map(async |held| held.complete_with(None).await.is_ok());
    let done = join_all(ends).await.into_iter().filter(|done| *done).count();
    flow.settle().await;
    let group = flow.group("z").await;
    assert_eq!((group.succeeded as usize, group.n), (done, 24));
    assert!(done >= 5, "only {done} made it");
    assert_eq!(group.failed as usize, 24 - done, "the others were cancelled");
    flow.start_one().await.complete(b"done").await.unwrap();
    assert_eq!(flow.moves_of("z").await, ["waiting", "active", "completed"]);
    assert_eq!(flow.stands().await, "completed");
}
