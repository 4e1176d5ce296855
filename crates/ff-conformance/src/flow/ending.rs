//! Every end of a member reaches its dependents at once and correctly.

use std::time::Duration;

use crate::prelude::*;
use crate::world::graph::lenient;

pub(crate) async fn success_releases(world: World) {
    let (flow, held) = watched(&world, |_| {}).await;
    held.complete(b"done").await.unwrap();
    assert_eq!(flow.states("a b c either").await, ["completed", "waiting", "waiting_children", "waiting"]);
    assert_eq!(flow.edge_state("a", "b").await, EdgeState::Satisfied);
}

pub(crate) async fn a_failure_notifies_the_dependents(world: World) {
    let (flow, held) = watched(&world, |_| {}).await;
    held.fail_for_good().await;
    ends_as(&flow, "failed").await;
}

pub(crate) async fn only_the_last_failed_retry_notifies_the_dependents(world: World) {
    let (flow, held) = watched(&world, |node| node.policy.retry_policy.max_retries = 1).await;
    held.fail("network").await.unwrap();
    world.clock.fire_due().await;
    assert_eq!(flow.states("b c either").await, ["waiting_children"; 3]);
    let again = flow.start_one().await;
    again.fail("network").await.unwrap();
    ends_as(&flow, "failed").await;
}

pub(crate) async fn a_cancellation_notifies_the_dependents(world: World) {
    let (flow, held) = watched(&world, |_| {}).await;
    world.cancel(&held.id()).await.unwrap();
    ends_as(&flow, "cancelled").await;
}

pub(crate) async fn a_passed_deadline_notifies_the_dependents(world: World) {
    let deadline = |node: &mut NodeSpec| node.policy.timeout_policy.execution_deadline_ms = Some(5_000);
    let (flow, _) = watched(&world, deadline).await;
    world.clock.advance(ms(5_000)).await;
    ends_as(&flow, "expired").await;
}

pub(crate) async fn the_deadline_of_a_blocked_member_notifies_its_dependents(world: World) {
    let deadline = |node: &mut NodeSpec| node.policy.timeout_policy.execution_deadline_ms = Some(5_000);
    let flow = world.graph("a>b>c x").with("b", deadline).submit().await;
    let held = flow.start().await.remove("a").unwrap();
    world.clock.advance(ms(5_000)).await;
    assert_eq!(flow.states("a b c x").await, ["active", "expired", "skipped", "active"]);
    held.complete(b"late").await.unwrap();
    assert_eq!(flow.group("b").await.succeeded, 1, "it counts, and changes nothing");
    assert_eq!(flow.state("b").await, "expired");
}

pub(crate) async fn an_attempt_timeout_notifies_the_dependents(world: World) {
    let timeout = |node: &mut NodeSpec| node.policy.timeout_policy.attempt_timeout_ms = Some(5_000);
    let (flow, _) = watched(&world, timeout).await;
    world.clock.advance(ms(5_000)).await;
    ends_as(&flow, "failed").await;
}

pub(crate) async fn a_timed_out_suspension_notifies_the_dependents(world: World) {
    for (timeout_behavior, state) in [
        (TimeoutBehavior::Fail, "failed"),
        (TimeoutBehavior::Cancel, "cancelled"),
        (TimeoutBehavior::Expire, "expired"),
    ] {
        let (flow, held) = watched(&world, |_| {}).await;
        let timeout = Some(Timeout::After(5_000));
        let [_] = held.wait(SuspendArgs { timeout, timeout_behavior, ..held.wish("approval") }).await;
        world.clock.advance(ms(5_000)).await;
        ends_as(&flow, state).await;
    }
}

pub(crate) async fn an_exhausted_reclaim_limit_notifies_the_dependents(world: World) {
    let (flow, held) = watched(&world, |node| node.policy.max_reclaim_count = 0).await;
    world.clock.advance(held.lease_ttl()).await;
    ends_as(&flow, "failed").await;
}

pub(crate) async fn a_skip_notifies_the_dependents(world: World) {
    let flow = world.graph("r>a>b>c a>either x>either").join("either", lenient(1)).submit().await;
    flow.start().await["r"].fail_for_good().await;
    assert_eq!(flow.states("a b c either").await, ["skipped", "skipped", "skipped", "waiting_children"]);
    let group = flow.group("either").await;
    assert_eq!((group.failed, group.skipped), (0, 1));
}

pub(crate) async fn a_suspended_member_holds_its_dependents_until_it_ends(world: World) {
    let (flow, held) = watched(&world, |_| {}).await;
    let waitpoint = held.wait_on("approval").await;
    world.clock.advance(Duration::from_secs(3_600)).await;
    assert_eq!(flow.states("a b").await, ["suspended", "waiting_children"]);
    waitpoint.send("approved").await.unwrap();
    let resumed = flow.start().await.remove("a").unwrap();
    resumed.complete(b"done").await.unwrap();
    assert_eq!(flow.state("b").await, "waiting");
}

pub(crate) async fn no_notification_is_pending_after_an_end(world: World) {
    let (flow, held) = watched(&world, |_| {}).await;
    held.fail_for_good().await;
    for name in ["a", "b"] {
        let cascaded = world.backend.cascade_completion(&flow.member(name)).await.unwrap();
        assert_eq!((cascaded.resolved, cascaded.cascaded_children, cascaded.more), (0, 0, false));
    }
    world.writes_nothing(world.clock.fire_due()).await;
}

pub(crate) async fn a_holder_that_is_revoked_has_ended_nothing(world: World) {
    let (flow, held) = watched(&world, |_| {}).await;
    world.revoke(&held.id()).await.unwrap();
    assert_eq!(flow.states("a b c").await, ["waiting", "waiting_children", "waiting_children"]);
    flow.start().await["a"].complete(b"done").await.unwrap();
    assert_eq!(flow.state("b").await, "waiting");
}

/// Returns a flow and its leased member `a`, with a chain below `a` and a dependent that needs `a` or `x`.
async fn watched(world: &World, change: impl FnOnce(&mut NodeSpec)) -> (Flow, LeasedExecution) {
    let graph = world.graph("a>b>c a>either x>either").join("either", lenient(1));
    let flow = graph.with("a", change).submit().await;
    let held = flow.start().await.remove("a").unwrap();
    (flow, held)
}

/// Checks that the chain is skipped to its end, and that a dependent with another upstream keeps waiting for it.
async fn ends_as(flow: &Flow, state: &str) {
    assert_eq!(flow.states("a b c either").await, [state, "skipped", "skipped", "waiting_children"]);
    assert_eq!(flow.edge_state("a", "b").await, EdgeState::Failed);
    let group = flow.group("either").await;
    assert_eq!((group.failed, group.skipped, group.state), (1, 0, GroupState::Pending));
}
