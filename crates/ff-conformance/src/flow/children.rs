//! A holder may add members to its flow and release its lease until they have ended.

use crate::lease::long_poll::woken_by;
use crate::prelude::*;
use crate::world::graph::{any_of, grown, input, member};

pub(crate) async fn a_parent_continues_when_its_children_have_ended(world: World) {
    let (flow, parent) = waiting_parent(&world, &["x", "y"]).await;
    assert_eq!(flow.states("parent x y below").await, ["waiting_children", "waiting", "waiting", "waiting_children"]);
    let children = flow.start().await;
    assert_eq!(children.keys().collect::<Vec<_>>(), ["x", "y"], "the parent is not claimed");
    children["x"].complete(b"done").await.unwrap();
    assert_eq!(flow.state("parent").await, "waiting_children");
    children["y"].complete(b"done").await.unwrap();
    let again = flow.start_one().await;
    assert_eq!((again.node(), again.task.resumed), ("parent", true));
    assert_eq!(again.task.attempt_index, parent.task.attempt_index, "it goes on with the same try");
    again.complete(b"done").await.unwrap();
    let attempts = world.attempts(&flow.member("parent")).await;
    assert_eq!(attempts.attempts.len(), 1);
    assert_eq!(flow.run().await, [["below"]]);
    assert_eq!(flow.stands().await, "completed");
}

pub(crate) async fn a_parent_that_waits_for_children_cannot_complete_or_renew(world: World) {
    let (flow, parent) = waiting_parent(&world, &["x"]).await;
    let before = world.contents().await;
    assert!(parent.complete(b"late").await.is_err());
    assert!(parent.renew().await.is_err());
    assert_eq!(world.contents().await, before);
    flow.start_one().await.complete(b"done").await.unwrap();
    flow.start_one().await;
    assert_refused!(parent.complete(b"late").await, "stale_lease");
}

pub(crate) async fn children_hand_their_results_to_their_parent(world: World) {
    let (flow, parent) = parent(&world).await;
    let edges = ["x", "y"].map(|child| EdgeAddition { passes: input(child), ..grown(child, "parent") }).to_vec();
    world.backend.grow_flow(GrowFlowArgs { edges, ..parent.growth(&["x", "y"], &[]) }).await.unwrap();
    parent.wait_pending().await;
    for (name, child) in flow.start().await {
        child.complete(format!("of {name}").as_bytes()).await.unwrap();
    }
    let again = flow.start_one().await;
    assert_eq!(again.input_names(), ["x", "y"]);
    assert_eq!((again.input("x"), again.input("y")), (Some(&b"of x"[..]), Some(&b"of y"[..])));
}

pub(crate) async fn a_parent_continues_when_a_child_fails(world: World) {
    let (flow, _) = waiting_parent(&world, &["x", "y"]).await;
    let children = flow.start().await;
    children["x"].fail_for_good().await;
    let again = flow.start_one().await;
    assert_eq!(again.node(), "parent", "only its handler knows what that means");
    assert_eq!(again.wait_for_children().await.unwrap().state, GroupState::Impossible);
    again.complete(b"without x").await.unwrap();
    children["y"].complete(b"late").await.unwrap();
    flow.run().await;
    assert_eq!(flow.stands().await, "completed", "its parent has borne it");
}

pub(crate) async fn a_parent_whose_children_have_ended_keeps_its_lease(world: World) {
    let (flow, parent) = parent(&world).await;
    parent.add_children(&["x"]).await;
    flow.start_one().await.complete(b"done").await.unwrap();
    assert_eq!(parent.wait_for_children().await.unwrap().state, GroupState::Satisfied);
    assert_eq!(flow.state("parent").await, "active");
    parent.complete(b"done").await.unwrap();
}

pub(crate) async fn a_parent_may_wait_again_and_again(world: World) {
    let (flow, mut parent) = parent(&world).await;
    for round in 0..3 {
        let children = [format!("x{round}"), format!("y{round}")];
        parent.add_children(&children.each_ref().map(String::as_str)).await;
        parent.wait_pending().await;
        for child in flow.start().await.into_values() {
            child.complete(b"done").await.unwrap();
        }
        let again = flow.start_one().await;
        assert_eq!((again.node(), flow.group("parent").await.n), ("parent", 2), "only those of the last round count");
        parent = again;
    }
    parent.complete(b"done").await.unwrap();
    flow.run().await;
    assert_eq!((flow.stands().await, flow.counts().await), ("completed", vec![("completed", 8)]));
}

pub(crate) async fn each_round_of_children_may_pass_the_payload_once(world: World) {
    let (flow, mut parent) = parent(&world).await;
    for (child, second) in [("x", "x2"), ("y", "y2")] {
        let passing = |child| EdgeAddition { passes: Some(PassMode::Payload), ..grown(child, "parent") };
        let add_children = async |child| {
            let growth = GrowFlowArgs { edges: vec![passing(child)], ..parent.growth(&[child], &[]) };
            world.backend.grow_flow(growth).await
        };
        add_children(child).await.unwrap();
        assert_refused!(add_children(second).await, "invalid_input");
        parent.wait_pending().await;
        flow.start_one().await.complete(child.as_bytes()).await.unwrap();
        parent = flow.start_one().await;
        assert_eq!(parent.payload.bytes, child.as_bytes());
    }
}

pub(crate) async fn a_parent_may_need_one_child_of_many(world: World) {
    let (flow, parent) = parent(&world).await;
    let joins = vec![JoinSpec { member: member("parent"), join: any_of() }];
    let growth = parent.growth(&["x", "y", "z"], &[("x", "parent"), ("y", "parent"), ("z", "parent")]);
    world.backend.grow_flow(GrowFlowArgs { joins, ..growth }).await.unwrap();
    parent.wait_pending().await;
    flow.start().await["y"].complete(b"done").await.unwrap();
    flow.settle().await;
    assert_eq!(flow.states("parent x y z").await, ["waiting", "cancelled", "completed", "cancelled"]);
}

pub(crate) async fn children_may_depend_on_each_other_and_have_children(world: World) {
    let (flow, parent) = parent(&world).await;
    world.backend.grow_flow(parent.growth(&["x", "y"], &[("x", "y"), ("y", "parent")])).await.unwrap();
    parent.wait_pending().await;
    let child = flow.start_one().await;
    assert_eq!(child.node(), "x");
    child.add_children(&["grandchild"]).await;
    child.wait_pending().await;
    flow.start_one().await.complete(b"done").await.unwrap();
    assert_eq!(flow.run().await, [["x"], ["y"], ["parent"], ["below"]]);
    assert_eq!(flow.stands().await, "completed");
}

pub(crate) async fn a_parent_may_have_waited_for_upstreams_before(world: World) {
    let flow = world.graph("a>parent b>parent").submit().await;
    for held in flow.start().await.into_values() {
        held.complete(b"done").await.unwrap();
    }
    let parent = flow.start_one().await;
    assert_refused!(parent.wait_for_children().await, "invalid_dependency");
    parent.add_children(&["x"]).await;
    parent.wait_pending().await;
    assert_eq!(flow.run().await, [["x"], ["parent"]]);
}

pub(crate) async fn only_its_holder_adds_children_to_running_work(world: World) {
    let (flow, parent) = parent(&world).await;
    let before = world.contents().await;
    let refusal =
        assert_refused!(world.backend.grow_flow(flow.growth(&["x"], &[("x", "parent")])).await, "not_runnable");
    assert_eq!(refusal.field.as_deref(), Some("edges.x->parent"));
    let zombie = parent.with_fence(|fence| fence.lease_epoch = fence.lease_epoch.next());
    assert_refused!(world.backend.grow_flow(zombie.growth(&["x"], &[("x", "parent")])).await, "stale_lease");
    let elsewhere = world.graph("a").submit().await;
    let theirs = GrowFlowArgs { flow_id: elsewhere.id, ..parent.growth(&["x"], &[]) };
    assert_refused!(world.backend.grow_flow(theirs).await, "execution_not_in_flow");
    elsewhere.start_one().await.complete(b"done").await.unwrap();
    world.clock.slip(parent.lease_ttl());
    assert_refused!(world.backend.grow_flow(parent.growth(&["x"], &[("x", "parent")])).await, "lease_expired");
    let after = world.contents().await;
    let edges = |contents: &Contents| contents.iter().map(|one| one.edges.len()).sum::<usize>();
    assert_eq!(edges(&after), edges(&before));
}

pub(crate) async fn a_holder_adds_no_children_to_what_another_holds(world: World) {
    let flow = world.graph("mine theirs").submit().await;
    let started = flow.start().await;
    let growth = started["mine"].growth(&["x"], &[("x", "theirs")]);
    assert_refused!(world.writes_nothing(world.backend.grow_flow(growth)).await, "not_runnable", "edges.x->theirs");
}

pub(crate) async fn a_cycle_through_a_parent_is_refused(world: World) {
    let (flow, parent) = parent(&world).await;
    let answer = world.backend.grow_flow(parent.growth(&[], &[("below", "parent")])).await;
    assert_refused!(answer, "cycle_detected", "edges.below->parent");
    assert_eq!(flow.state("parent").await, "active");
}

pub(crate) async fn a_wait_for_children_is_refused_without_children_or_a_flow(world: World) {
    let (_, parent) = parent(&world).await;
    assert_refused!(parent.wait_for_children().await, "invalid_dependency");
    let alone = world.held().await;
    assert_refused!(alone.wait_for_children().await, "execution_not_in_flow");
}

pub(crate) async fn letting_go_twice_is_letting_go_once(world: World) {
    let (flow, parent) = parent(&world).await;
    let key = Some(IdempotencyKey::parse("first round").unwrap());
    let growth = GrowFlowArgs { idempotency_key: key, ..parent.growth(&["x"], &[("x", "parent")]) };
    let first = world.backend.grow_flow(growth.clone()).await.unwrap();
    parent.wait_pending().await;
    let before = world.contents().await;
    parent.wait_pending().await;
    assert_eq!(world.backend.grow_flow(growth).await.unwrap(), first);
    assert_eq!(world.contents().await, before);
    flow.start_one().await.complete(b"done").await.unwrap();
    parent.wait_pending().await;
    flow.start_one().await;
    assert_refused!(parent.wait_for_children().await, "stale_lease");
}

pub(crate) async fn a_parent_that_dies_is_waited_for_by_the_next_one(world: World) {
    let (flow, dead) = parent(&world).await;
    dead.add_children(&["x"]).await;
    world.clock.advance(dead.lease_ttl()).await;
    let started = flow.start().await;
    assert_refused!(dead.wait_for_children().await, "stale_lease");
    started["parent"].wait_pending().await;
    started["x"].complete(b"done").await.unwrap();
    assert_eq!(flow.start_one().await.node(), "parent");
}

pub(crate) async fn a_lease_given_up_for_children_is_in_the_history(world: World) {
    let (flow, _) = waiting_parent(&world, &["x"]).await;
    let leases = world.attempts(&flow.member("parent")).await.leases;
    assert_eq!(leases.last().map(|event| event.ended), Some(LeaseEnding::WaitingForChildren));
}

pub(crate) async fn a_parent_that_waits_can_be_cancelled_and_expires(world: World) {
    let (flow, _) = waiting_parent(&world, &["x"]).await;
    world.cancel(&flow.member("parent")).await.unwrap();
    assert_eq!(flow.states("parent x below").await, ["cancelled", "waiting", "skipped"]);
    flow.start_one().await.complete(b"unused").await.unwrap();
    assert_eq!((flow.state("parent").await, flow.stands().await), ("cancelled", "failed"));

    let deadline = |node: &mut NodeSpec| {
        node.policy.timeout_policy.execution_deadline_ms = Some(60_000);
    };
    let flow = world.graph("parent").with("parent", deadline).submit().await;
    let parent = flow.start_one().await;
    parent.add_children(&["x"]).await;
    parent.wait_pending().await;
    world.clock.advance(ms(60_000)).await;
    assert_eq!(flow.states("parent x").await, ["expired", "waiting"]);
}

pub(crate) async fn a_parent_that_waits_is_cancelled_with_its_flow(world: World) {
    let (flow, _) = waiting_parent(&world, &["x"]).await;
    flow.cancel(CancelPolicy::CancelAll).await.unwrap();
    assert_eq!(flow.states("parent x below").await, ["cancelled"; 3]);
    assert!(flow.start().await.is_empty());
}

pub(crate) async fn a_waiting_worker_gets_the_parent_when_its_child_ends(world: World) {
    let (flow, _) = waiting_parent(&world, &["x"]).await;
    let child = flow.start_one().await;
    let (held, _) = woken_by(&world, async || child.complete(b"done").await.unwrap()).await;
    assert_eq!(held.node(), "parent");
}

/// Returns a flow with its first member leased, and another member that waits for it.
async fn parent(world: &World) -> (Flow, LeasedExecution) {
    let flow = world.graph("parent>below").submit().await;
    let held = flow.start_one().await;
    (flow, held)
}

/// Returns such a flow whose first member has added these children and waits for them.
async fn waiting_parent(world: &World, children: &[&str]) -> (Flow, LeasedExecution) {
    let (flow, parent) = parent(world).await;
    parent.add_children(children).await;
    parent.wait_pending().await;
    (flow, parent)
}
