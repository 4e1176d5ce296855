//! A blocked execution leaves the queues, shows the reason, and returns to its place when it is unblocked.

use super::{nothing_to_claim, words};
use crate::event::{follow, read};
use crate::prelude::*;

pub(crate) async fn blocked_work_is_not_handed_out_and_says_why(world: World) {
    for (detail, expected) in [
        (route(), ["waiting", "blocked_by_route", "waiting_for_capable_worker"]),
        (quota(None), ["rate_limited", "blocked_by_quota", "waiting_for_quota"]),
        (budget(), ["rate_limited", "blocked_by_budget", "waiting_for_budget"]),
    ] {
        let id = world.submit("resize", b"cat.png").await;
        assert_eq!(block(&world, &[(id, 0)], detail.clone()).await, 1);
        assert_eq!(words(&world, &id).await, expected);
        assert_eq!(world.describe(&id).await.blocking_detail.as_deref(), Some(&detail));
        assert!(nothing_to_claim(&world).await);
    }
}

pub(crate) async fn unblocked_work_has_kept_its_place(world: World) {
    let first = world.job("resize").on_partition(0).submit().await;
    world.clock.advance(ms(10)).await;
    let second = world.job("resize").on_partition(0).submit().await;
    block(&world, &[(first, 0)], route()).await;
    world.clock.advance(ms(10)).await;
    assert_eq!(unblock(&world, &[first, second], Blocker::Quota).await, 0, "of what is blocked on something else");
    assert_eq!(unblock(&world, &[first, second], Blocker::Route).await, 1);
    assert_eq!(world.describe(&first).await.blocking_detail, None);
    let claimed = world.worker("w").claim_on(0, 2).await;
    assert_eq!(claimed.iter().map(LeasedExecution::id).collect::<Vec<_>>(), [first, second]);
}

pub(crate) async fn an_execution_blocked_until_a_known_time_becomes_ready_by_itself(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let retry_at = world.clock.now() + 500;
    block(&world, &[(id, 0)], quota(Some(retry_at))).await;
    assert_eq!(world.describe(&id).await.delayed_until, Some(retry_at));
    world.clock.advance(ms(499)).await;
    assert!(nothing_to_claim(&world).await);
    world.clock.advance(ms(1)).await;
    assert_eq!(words(&world, &id).await, ["waiting", "eligible_now", "waiting_for_worker"]);
    assert_eq!(world.worker("w").claim().await.id(), id);
}

pub(crate) async fn work_that_was_claimed_meanwhile_is_left_alone(world: World, held: LeasedExecution) {
    assert_eq!(world.writes_nothing(block(&world, &[(held.id(), 1)], route())).await, 0, "it runs");
    world.revoke(&held.id()).await.unwrap();
    assert_eq!(block(&world, &[(held.id(), 0)], route()).await, 0, "it waits under a later epoch");
    assert_eq!(block(&world, &[(held.id(), 1), (held.id(), 1)], route()).await, 1);
    assert_eq!(block(&world, &[(held.id(), 1)], quota(None)).await, 0, "it is blocked already");
    let gone = ExecutionId::new(held.id().partition(), Uuid::now_v7());
    assert_eq!(block(&world, &[(gone, 0)], route()).await, 0);
    assert_eq!(unblock(&world, &[gone, held.id(), held.id()], Blocker::Route).await, 1);
    assert_eq!(world.worker("w").claim().await.task.fence.lease_epoch, LeaseEpoch(2));
}

pub(crate) async fn blocked_work_ends_as_any_other(world: World) {
    let expired = world.job("resize").deadline(ms(1_000)).submit().await;
    let cancelled = world.submit("resize", b"cat.png").await;
    block(&world, &[(expired, 0)], quota(Some(world.clock.now() + 5_000))).await;
    block(&world, &[(cancelled, 0)], budget()).await;
    world.clock.advance(ms(1_000)).await;
    assert_eq!(world.state(&expired).await, PublicState::Expired);
    world.cancel(&cancelled).await.unwrap();
    world.clock.advance(ms(5_000)).await;
    assert_eq!(world.state(&expired).await, PublicState::Expired, "the moment it waited for changes nothing");
    world.replay(&cancelled).await.unwrap();
    assert_eq!(words(&world, &cancelled).await, ["waiting", "eligible_now", "waiting_for_worker"]);
    assert_eq!(world.describe(&cancelled).await.blocking_detail, None);
}

pub(crate) async fn the_priority_and_the_deadline_of_blocked_work_can_be_changed(world: World) {
    let low = world.job("resize").on_partition(0).submit().await;
    let raised = world.job("resize").on_partition(0).submit().await;
    block(&world, &[(raised, 0)], route()).await;
    let priority = Priority::new(5).unwrap();
    world.backend.change_priority(ChangePriorityArgs { execution_id: raised, priority }).await.unwrap();
    let deadline_at = world.clock.now() + 60_000;
    world.backend.extend_deadline(ExtendDeadlineArgs { execution_id: raised, deadline_at }).await.unwrap();
    assert_eq!(words(&world, &raised).await[1], "blocked_by_route");
    unblock(&world, &[raised], Blocker::Route).await;
    let claimed = world.worker("w").claim_on(0, 2).await;
    assert_eq!(claimed.iter().map(LeasedExecution::id).collect::<Vec<_>>(), [raised, low]);
    assert_eq!(claimed[0].task.deadline_at, Some(deadline_at));
}

pub(crate) async fn a_lane_says_how_much_of_it_is_blocked_and_why(world: World) {
    let start = world.clock.now();
    for (nth, detail) in [route(), route(), quota(None), budget()].into_iter().enumerate() {
        let id = world.submit("resize", b"cat.png").await;
        world.clock.advance(ms(10)).await;
        assert_eq!(block(&world, &[(id, 0)], detail).await, 1, "{nth}");
    }
    let held = world.submit("resize", b"cat.png").await;
    world.backend.hold(HoldArgs { execution_id: held, reason: None, requested_by: None }).await.unwrap();
    let lane = world.lane("default");
    for (standing, count, first_at) in [
        (LanePlace::BlockedByRoute, 2, Some(start + 10)),
        (LanePlace::BlockedByQuota, 1, Some(start + 30)),
        (LanePlace::BlockedByBudget, 1, Some(start + 40)),
        (LanePlace::BlockedByOperator, 1, Some(start + 40)),
        (LanePlace::Waiting, 0, None),
        (LanePlace::WaitingChildren, 0, None),
    ] {
        let depth = lane.depth(standing).await;
        assert_eq!((depth.count, depth.first_at), (count, first_at), "{standing}");
    }
}

pub(crate) async fn a_blocked_member_goes_its_way_in_its_flow(world: World) {
    let flow = world.graph("a>c b>c").submit().await;
    let (a, b) = (flow.member("a"), flow.member("b"));
    assert_eq!(block(&world, &[(a, 0), (b, 0)], quota(None)).await, 2);
    assert_eq!(flow.counts().await, [("rate_limited", 2), ("waiting_children", 1)]);
    unblock(&world, &[a], Blocker::Quota).await;
    flow.run().await;
    assert_eq!(flow.states("a b c").await, ["completed", "rate_limited", "waiting_children"]);
    flow.cancel(CancelPolicy::CancelPending).await.unwrap();
    flow.settle().await;
    assert_eq!(flow.states("b c").await, ["cancelled", "cancelled"]);
}

pub(crate) async fn a_blocked_member_may_still_get_upstreams(world: World) {
    let flow = world.held_open().await;
    flow.grow(&["b"], &[]).await;
    let b = flow.member("b");
    block(&world, &[(b, 0)], quota(Some(world.clock.now() + 500))).await;
    flow.grow(&["a"], &[("a", "b")]).await;
    assert_eq!(flow.states("a b").await, ["waiting", "waiting_children"]);
    assert_eq!(world.describe(&b).await.blocking_detail, None);
    world.clock.advance(ms(500)).await;
    assert_eq!(flow.state("b").await, "waiting_children");
    flow.close().await;
    flow.run().await;
    assert_eq!(flow.stands().await, "completed");
}

pub(crate) async fn a_hold_takes_the_place_of_another_blocker(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    block(&world, &[(id, 0)], quota(Some(world.clock.now() + 500))).await;
    world.backend.hold(HoldArgs { execution_id: id, reason: None, requested_by: None }).await.unwrap();
    assert_eq!(world.describe(&id).await.blocking_detail, None);
    world.clock.advance(ms(500)).await;
    assert_eq!(words(&world, &id).await[1], "blocked_by_operator");
    assert_eq!(unblock(&world, &[id], Blocker::Quota).await, 0);
    world.backend.release_hold(ReleaseHoldArgs { execution_id: id }).await.unwrap();
    assert_eq!(world.worker("w").claim().await.id(), id);
}

pub(crate) async fn blocking_and_unblocking_have_events_with_the_reason(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let start = follow(&world).await;
    block(&world, &[(id, 0)], route()).await;
    unblock(&world, &[id], Blocker::Route).await;
    block(&world, &[(id, 0)], quota(Some(world.clock.now() + 1))).await;
    world.clock.advance(ms(1)).await;
    let events: Vec<_> = read(&world, &start).await.events.iter().map(|event| event.what).collect();
    let (route, quota) = (BlockingReason::WaitingForCapableWorker, BlockingReason::WaitingForQuota);
    let blocked = |reason| EventKind::Blocked { reason };
    let unblocked = |reason| EventKind::Unblocked { reason };
    assert_eq!(events, [blocked(route), unblocked(route), blocked(quota), unblocked(quota)]);
}

pub(crate) async fn an_invalid_unblock_is_refused_and_writes_nothing(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let before = world.contents().await;
    let store = &world.engine_store;
    let elsewhere = UnblockArgs { partition: id.partition() ^ 1, executions: vec![id], from: Blocker::Route };
    assert_refused!(store.unblock(elsewhere.clone()).await, "invalid_input", "executions");
    let operator = UnblockArgs { partition: id.partition(), from: Blocker::Operator, ..elsewhere.clone() };
    assert_refused!(store.unblock(operator).await, "invalid_blocking_reason");
    let executions = vec![id; limits::BLOCK + 1];
    let many = UnblockArgs { partition: id.partition(), executions, ..elsewhere };
    assert_refused!(store.unblock(many).await, "limit_exceeded");
    assert_eq!(world.contents().await, before);
}

fn route() -> BlockDetail {
    BlockDetail::Route { class: "gpu,region=eu".into() }
}

fn quota(retry_at: Option<TimestampMs>) -> BlockDetail {
    let policy_id = QuotaPolicyId::from_uuid(Uuid::nil());
    BlockDetail::Quota { policy_id, name: "api".into(), key: "acme \"é\"".into(), used: 3, limit: 3, retry_at }
}

fn budget() -> BlockDetail {
    BlockDetail::Budget { name: "tokens".into(), dimension: "usd_micros".into(), retry_at: None }
}

/// Blocks executions of one partition, each given with its lease epoch, and returns the number blocked.
async fn block(world: &World, targets: &[(ExecutionId, u64)], detail: BlockDetail) -> usize {
    let target = |(execution_id, epoch): &(ExecutionId, u64)| BlockTarget {
        execution_id: *execution_id,
        lease_epoch: LeaseEpoch(*epoch),
        detail: detail.clone(),
    };
    let (partition, executions) = (targets[0].0.partition(), targets.iter().map(target).collect());
    world.engine_store.block(BlockArgs { partition, executions }).await.unwrap().blocked
}

async fn unblock(world: &World, ids: &[ExecutionId], from: Blocker) -> usize {
    let args = UnblockArgs { partition: ids[0].partition(), executions: ids.to_vec(), from };
    world.engine_store.unblock(args).await.unwrap().count()
}
