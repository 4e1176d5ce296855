//! A join that has fired cancels upstreams that no other member needs, and no others.

use crate::lease::control::{control_when, lost};
use crate::prelude::*;
use crate::world::graph::{any_of, lenient, quorum};

pub(crate) async fn a_satisfied_join_cancels_its_other_upstreams_in_every_state(world: World) {
    let later = |node: &mut NodeSpec| node.start = Start::After(60_000);
    let graph = world.graph("a>z running>z suspended>z delayed>z blocked>z upstream>blocked");
    let flow = graph.join("z", any_of()).with("delayed", later).submit().await;
    let started = flow.start().await;
    started["suspended"].wait_on("approval").await;
    assert_eq!(flow.states("suspended delayed blocked").await, ["suspended", "delayed", "waiting_children"]);
    started["a"].complete(b"done").await.unwrap();
    flow.settle().await;
    let siblings = "running suspended delayed blocked";
    assert_eq!(flow.states(siblings).await, ["cancelled"; 4]);
    for name in siblings.split_whitespace() {
        assert_eq!(world.ended(&flow.member(name)).await.by, FinishedBy::Join);
    }
    assert_eq!(flow.states("upstream z").await, ["active", "waiting"], "only upstreams of the join are looked at");
    assert_refused!(started["running"].complete(b"late").await, "execution_not_active");
    flow.start_one().await.complete(b"done").await.unwrap();
    started["upstream"].complete(b"done").await.unwrap();
    assert_eq!(flow.stands().await, "completed", "to be cancelled by a join is no failure");
}

pub(crate) async fn the_holder_of_a_cancelled_sibling_is_notified(world: World) {
    let flow = world.graph("a>z b>z").join("z", any_of()).submit().await;
    let worker = world.worker("hand");
    let started = flow.start().await;
    let control = control_when(&worker, async || started["a"].complete(b"done").await.unwrap()).await;
    assert_eq!(control.lost, [lost(&started["b"], LeaseEnding::Cancelled)]);
}

pub(crate) async fn a_sibling_another_child_still_needs_is_left_alone(world: World) {
    let graph = world.graph("a>d b>d b>e c>e").join("d", any_of()).join("e", any_of());
    let flow = graph.submit().await;
    let started = flow.start().await;
    started["a"].complete(b"done").await.unwrap();
    flow.settle().await;
    assert_eq!(flow.states("b c d e").await, ["active", "active", "waiting", "waiting_children"]);
    started["c"].complete(b"done").await.unwrap();
    flow.settle().await;
    assert_eq!(flow.states("b e").await, ["cancelled", "waiting"], "no dependent needs it any more");
}

pub(crate) async fn an_ended_dependent_does_not_keep_a_sibling_running(world: World) {
    let flow = world.graph("a>d b>d b>e").join("d", any_of()).submit().await;
    let started = flow.start().await;
    world.cancel(&flow.member("e")).await.unwrap();
    started["a"].complete(b"done").await.unwrap();
    flow.settle().await;
    assert_eq!(flow.states("b d").await, ["cancelled", "waiting"]);
}

pub(crate) async fn a_join_that_lets_upstreams_run_cancels_none(world: World) {
    let flow = world.graph("a>z b>z c>z").join("z", lenient(1)).submit().await;
    let started = flow.start().await;
    started["a"].complete(b"done").await.unwrap();
    flow.settle().await;
    assert_eq!(flow.states("b c z").await, ["active", "active", "waiting"]);
}

pub(crate) async fn an_impossible_join_cancels_upstreams_that_still_run(world: World) {
    let flow = world.graph("a>z b>z c>z").join("z", quorum(3)).submit().await;
    let started = flow.start().await;
    started["a"].fail_for_good().await;
    flow.settle().await;
    assert_eq!(flow.states("b c z").await, ["cancelled", "cancelled", "skipped"]);
    assert_eq!(flow.stands().await, "failed");
}

pub(crate) async fn a_cancelled_sibling_notifies_its_other_dependents(world: World) {
    let flow = world.graph("a>z b>z b>y x>y").join("z", any_of()).join("y", lenient(1)).submit().await;
    let started = flow.start().await;
    started["x"].complete(b"done").await.unwrap();
    started["a"].complete(b"done").await.unwrap();
    flow.settle().await;
    assert_eq!(flow.states("b z y").await, ["cancelled", "waiting", "waiting"]);
    assert_eq!(flow.group("y").await.failed, 1, "its join has fired, and counts on");
}

pub(crate) async fn a_sibling_that_finished_in_time_keeps_its_result(world: World) {
    let flow = world.graph("a>z b>z c>z").join("z", quorum(2)).submit().await;
    let started = flow.start().await;
    started["b"].complete(b"second best").await.unwrap();
    world.clock.advance(ms(5)).await;
    started["a"].complete(b"best").await.unwrap();
    flow.settle().await;
    assert_eq!(flow.states("a b c").await, ["completed", "completed", "cancelled"]);
    assert_eq!(world.result(&flow.member("b")).await, b"second best");
}
