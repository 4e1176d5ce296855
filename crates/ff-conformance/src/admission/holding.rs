//! An operator holds an execution: no worker gets it until it is released.

use super::{nothing_to_claim, words};
use crate::event::{follow, read};
use crate::prelude::*;

const HELD: [&str; 3] = ["waiting", "blocked_by_operator", "paused_by_operator"];

pub(crate) async fn held_work_is_handed_out_after_its_release(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let placed = hold(&world, &id).await.unwrap();
    assert_eq!(placed, HoldPlaced { public_state: PublicState::Waiting, already: false });
    assert_eq!(words(&world, &id).await, HELD);
    assert!(nothing_to_claim(&world).await);
    assert_eq!(release(&world, &id).await.unwrap().public_state, PublicState::Waiting);
    assert_eq!(world.worker("w").claim().await.id(), id);
}

pub(crate) async fn a_held_execution_says_who_holds_it_and_why(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let at = world.clock.now();
    hold(&world, &id).await.unwrap();
    world.clock.advance(ms(5)).await;
    let hold = *world.describe(&id).await.hold.unwrap();
    assert_eq!((hold.at, hold.requested_by.as_deref(), hold.reason.as_deref()), (at, Some("ada"), Some("bad images")));
    release(&world, &id).await.unwrap();
    assert_eq!(world.describe(&id).await.hold, None);
}

pub(crate) async fn holding_and_releasing_twice_is_once(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    assert!(release(&world, &id).await.unwrap().already);
    hold(&world, &id).await.unwrap();
    let before = world.contents().await;
    let again = HoldArgs { reason: Some("another".into()), ..args(&id) };
    assert!(world.backend.hold(again).await.unwrap().already);
    assert_eq!(world.contents().await, before, "the first hold stays as it is");
    assert!(!release(&world, &id).await.unwrap().already);
    assert!(release(&world, &id).await.unwrap().already);
}

pub(crate) async fn a_running_execution_under_a_hold_can_complete(world: World, held: LeasedExecution) {
    assert_eq!(hold(&world, &held.id()).await.unwrap().public_state, PublicState::Active);
    held.renew().await.unwrap();
    held.complete(b"done").await.unwrap();
    assert_eq!(world.result(&held.id()).await, b"done");
    assert_eq!(world.describe(&held.id()).await.hold, None, "an end is not held");
}

pub(crate) async fn held_work_that_comes_back_from_its_worker_is_held(world: World) {
    let lost = world.held().await;
    hold(&world, &lost.id()).await.unwrap();
    world.clock.advance(lost.lease_ttl()).await;
    assert_eq!(words(&world, &lost.id()).await, HELD, "after its lease expired");
    let revoked = world.held().await;
    hold(&world, &revoked.id()).await.unwrap();
    world.revoke(&revoked.id()).await.unwrap();
    assert_eq!(words(&world, &revoked.id()).await, HELD, "after its lease was revoked");
    world.job("resize").retries(3, ms(100)).submit().await;
    let failed = world.worker("unlucky").claim().await;
    hold(&world, &failed.id()).await.unwrap();
    failed.fail("network").await.unwrap();
    assert_eq!(world.state(&failed.id()).await, PublicState::Delayed);
    world.clock.advance(ms(100)).await;
    assert_eq!(words(&world, &failed.id()).await, HELD, "after its backoff");
    assert!(nothing_to_claim(&world).await);
    release(&world, &failed.id()).await.unwrap();
    assert_eq!(world.worker("w").claim().await.task.attempt_index.0, 1);
}

pub(crate) async fn a_hold_waits_for_a_delay_and_for_a_signal(world: World) {
    let delayed = world.job("resize").after(ms(500)).submit().await;
    hold(&world, &delayed).await.unwrap();
    assert_eq!(world.state(&delayed).await, PublicState::Delayed);
    world.clock.advance(ms(500)).await;
    assert_eq!(words(&world, &delayed).await, HELD);
    let (suspended, _) = world.suspended().await;
    hold(&world, &suspended.id()).await.unwrap();
    let resume = ResumeArgs::new(suspended.id(), OperatorDecision::Approve);
    world.backend.resume(resume).await.unwrap();
    assert_eq!(words(&world, &suspended.id()).await, HELD);
    release(&world, &suspended.id()).await.unwrap();
    assert!(world.worker("w").claim().await.task.resumed);
}

pub(crate) async fn a_member_of_a_flow_is_held_once_its_upstreams_have_ended(world: World) {
    let flow = world.graph("a>b").submit().await;
    let b = flow.member("b");
    hold(&world, &b).await.unwrap();
    assert_eq!(flow.state("b").await, "waiting_children");
    flow.run().await;
    assert_eq!(words(&world, &b).await, HELD);
    assert_eq!(flow.stands().await, "running");
    release(&world, &b).await.unwrap();
    flow.run().await;
    assert_eq!(flow.stands().await, "completed");
}

pub(crate) async fn released_work_has_kept_its_priority_and_its_age(world: World) {
    let first = world.job("resize").on_partition(0).submit().await;
    world.clock.advance(ms(10)).await;
    let second = world.job("resize").on_partition(0).submit().await;
    hold(&world, &first).await.unwrap();
    hold(&world, &second).await.unwrap();
    world
        .backend
        .change_priority(ChangePriorityArgs { execution_id: second, priority: Priority::new(5).unwrap() })
        .await
        .unwrap();
    world.clock.advance(ms(10)).await;
    let third = world.job("resize").on_partition(0).submit().await;
    release(&world, &first).await.unwrap();
    release(&world, &second).await.unwrap();
    let claimed = world.worker("w").claim_on(0, 3).await;
    assert_eq!(claimed.iter().map(LeasedExecution::id).collect::<Vec<_>>(), [second, first, third]);
}

pub(crate) async fn held_work_ends_as_any_other(world: World) {
    let expired = world.job("resize").deadline(ms(1_000)).submit().await;
    let cancelled = world.submit("resize", b"cat.png").await;
    hold(&world, &expired).await.unwrap();
    hold(&world, &cancelled).await.unwrap();
    world.clock.advance(ms(1_000)).await;
    assert_eq!(world.state(&expired).await, PublicState::Expired);
    world.cancel(&cancelled).await.unwrap();
    assert_eq!(world.state(&cancelled).await, PublicState::Cancelled);
    let before = world.contents().await;
    assert_refused!(hold(&world, &cancelled).await, "execution_not_active");
    assert_refused!(release(&world, &cancelled).await, "execution_not_active");
    assert_eq!(world.contents().await, before);
    world.replay(&cancelled).await.unwrap();
    assert_eq!(world.worker("w").claim().await.id(), cancelled, "a replay is not held by what was said before");
}

pub(crate) async fn a_hold_that_cannot_be_is_refused_and_writes_nothing(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let before = world.contents().await;
    let unknown = ExecutionId::new(0, Uuid::now_v7());
    assert_refused!(hold(&world, &unknown).await, "execution_not_found");
    assert_refused!(release(&world, &unknown).await, "execution_not_found");
    let long = Some("x".repeat(limits::MESSAGE_BYTES + 1));
    let answer = world.backend.hold(HoldArgs { reason: long.clone(), ..args(&id) }).await;
    assert_refused!(answer, "limit_exceeded", "reason");
    let answer = world.backend.hold(HoldArgs { requested_by: long, ..args(&id) }).await;
    assert_refused!(answer, "limit_exceeded", "requested_by");
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn a_hold_and_its_release_have_events(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let start = follow(&world).await;
    hold(&world, &id).await.unwrap();
    hold(&world, &id).await.unwrap();
    release(&world, &id).await.unwrap();
    let events: Vec<_> = read(&world, &start).await.events.iter().map(|event| event.what).collect();
    let reason = BlockingReason::PausedByOperator;
    assert_eq!(events, [EventKind::Blocked { reason }, EventKind::Unblocked { reason }]);
}

fn args(id: &ExecutionId) -> HoldArgs {
    HoldArgs { execution_id: *id, reason: Some("bad images".into()), requested_by: Some("ada".into()) }
}

async fn hold(world: &World, id: &ExecutionId) -> Answer<HoldPlaced> {
    world.backend.hold(args(id)).await
}

async fn release(world: &World, id: &ExecutionId) -> Answer<HoldReleased> {
    world.backend.release_hold(ReleaseHoldArgs { execution_id: *id }).await
}
