//! An operator assigns an execution to one worker instance: only that instance gets it, until the grant expires.

use crate::event::{follow, read};
use crate::prelude::*;

pub(crate) async fn assigned_work_goes_to_the_worker_that_is_meant(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let at = world.clock.now();
    let issued = assign(&world, &id, "w").await.unwrap();
    assert_eq!(issued, GrantIssued { expires_at: at + 30_000, already: false });
    let state = world.describe(&id).await.state;
    assert_eq!(
        (state.public_state, state.eligibility_state, state.blocking_reason),
        (PublicState::Waiting, EligibilityState::BlockedByRoute, BlockingReason::WaitingForLocalityMatch)
    );
    assert!(own(&world, "other", &id).await.is_empty());
    assert!(world.worker("other").claim_up_to(9).await.is_empty());
    assert!(world.worker("w").claim_up_to(9).await.is_empty(), "what is assigned is asked for as such");
    let held = own(&world, "w", &id).await.pop().expect("it is its own");
    assert_eq!(held.id(), id);
    held.complete(b"done").await.unwrap();
    assert_eq!(world.result(&id).await, b"done");
}

pub(crate) async fn workers_that_wait_get_what_is_meant_for_them(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    assign(&world, &id, "w").await.unwrap();
    let free = world.submit("resize", b"dog.png").await;
    let taken = world.worker("other").next(9, ms(30_000)).await;
    assert_eq!(taken.iter().map(LeasedExecution::id).collect::<Vec<_>>(), [free]);
    assert_eq!(world.worker("w").next(9, ms(30_000)).await.pop().expect("it is handed out").id(), id);
}

pub(crate) async fn a_worker_that_waits_is_woken_by_what_is_assigned_to_it(world: World) {
    let id = world.job("resize").require(&["gpu"]).submit().await;
    let waits = world.worker("w");
    let waiting = tokio::spawn(async move { waits.next(1, ms(30_000)).await });
    assign(&world, &id, "w").await.unwrap();
    assert_eq!(waiting.await.unwrap().pop().expect("it is woken").id(), id, "whatever it requires");
}

pub(crate) async fn a_grant_that_expires_or_is_revoked_leaves_the_work_to_anybody(world: World) {
    let (first, second) = (world.submit("resize", b"1").await, world.submit("resize", b"2").await);
    for id in [&first, &second] {
        assign(&world, id, "gone").await.unwrap();
    }
    let revoked = unassign(&world, &second).await.unwrap();
    assert_eq!(revoked, GrantRevoked { public_state: PublicState::Waiting, already: false });
    assert!(unassign(&world, &second).await.unwrap().already);
    assert_eq!(world.worker("w").claim().await.id(), second);
    world.clock.advance(ms(29_999)).await;
    assert!(world.worker("w").claim_up_to(9).await.is_empty());
    world.clock.advance(ms(1)).await;
    assert!(own(&world, "gone", &first).await.is_empty(), "its time has passed");
    assert_eq!(world.worker("w").claim().await.id(), first);
}

pub(crate) async fn assigning_twice_is_once_and_to_another_is_refused(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let first = assign(&world, &id, "w").await.unwrap();
    let before = world.contents().await;
    world.clock.advance(ms(5)).await;
    assert_eq!(assign(&world, &id, "w").await.unwrap(), GrantIssued { already: true, ..first });
    assert_eq!(world.contents().await, before, "the first grant stays as it is");
    assert_refused!(assign(&world, &id, "other").await, "grant_already_exists");
}

pub(crate) async fn an_execution_with_an_expired_lease_can_be_assigned_to_a_worker(world: World) {
    let lost = world.held().await;
    assert_refused!(assign(&world, &lost.id(), "w").await, "lease_conflict");
    world.clock.advance(lost.lease_ttl()).await;
    assign(&world, &lost.id(), "w").await.unwrap();
    assert!(world.worker("other").claim_up_to(9).await.is_empty());
    assert_refused!(lost.complete(b"late").await, "lease_expired");
    let held = own(&world, "w", &lost.id()).await.pop().expect("it is its own");
    assert_eq!((held.task.attempt_index.0, held.task.fence.lease_epoch.0), (1, 2));
}

pub(crate) async fn blocked_executions_can_be_assigned_but_held_or_delayed_ones_cannot(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let route = BlockDetail::Route { class: "gpu".into() };
    let target = |detail| BlockTarget { execution_id: id, lease_epoch: LeaseEpoch(0), detail };
    let block = |detail| BlockArgs { partition: id.partition(), executions: vec![target(detail)] };
    world.engine_store.block(block(route.clone())).await.unwrap();
    assign(&world, &id, "w").await.unwrap();
    assert_eq!(world.engine_store.block(block(route)).await.unwrap().blocked, 0, "an operator knows better");
    let budget = BlockDetail::Budget { name: "b".into(), dimension: "calls".into(), retry_at: None };
    assert_eq!(world.engine_store.block(block(budget)).await.unwrap().blocked, 1, "a limit ends the assignment");
    assert!(own(&world, "w", &id).await.is_empty());
    assign(&world, &id, "w").await.unwrap();
    let hold = HoldArgs { execution_id: id, reason: None, requested_by: None };
    world.backend.hold(hold).await.unwrap();
    assert!(own(&world, "w", &id).await.is_empty(), "a hold ends the assignment");
    assert_refused!(assign(&world, &id, "w").await, "execution_not_eligible");
    let delayed = world.job("resize").after(ms(500)).submit().await;
    assert_refused!(assign(&world, &delayed, "w").await, "execution_not_eligible");
    let (suspended, _) = world.suspended().await;
    assert_refused!(assign(&world, &suspended.id(), "w").await, "execution_not_eligible");
    world.cancel(&id).await.unwrap();
    assert_refused!(assign(&world, &id, "w").await, "execution_not_active");
    assert_refused!(unassign(&world, &id).await, "execution_not_active");
    let absent = ExecutionId::new(0, Uuid::from_u128(1));
    assert_refused!(assign(&world, &absent, "w").await, "execution_not_found");
    assert_refused!(unassign(&world, &absent).await, "execution_not_found");
    let short = AssignArgs { ttl_ms: limits::GRANT_TTL_MIN_MS - 1, ..args(&id, "w") };
    assert_refused!(world.backend.assign(short).await, "limit_exceeded");
}

pub(crate) async fn cancelling_a_deadline_and_another_priority_apply_to_what_is_assigned(world: World) {
    let stopped = world.submit("resize", b"1").await;
    assign(&world, &stopped, "w").await.unwrap();
    world.cancel(&stopped).await.unwrap();
    let late = world.submit("resize", b"2").await;
    let deadline_at = world.clock.now() + 500;
    world.backend.extend_deadline(ExtendDeadlineArgs { execution_id: late, deadline_at }).await.unwrap();
    assign(&world, &late, "w").await.unwrap();
    world.clock.advance(ms(500)).await;
    assert_eq!(world.state(&late).await, PublicState::Expired);
    let low = world.job("resize").on_partition(1).submit().await;
    let high = world.job("resize").on_partition(1).submit().await;
    for id in [&low, &high] {
        assign(&world, id, "w").await.unwrap();
    }
    let priority = Priority::new(7).unwrap();
    world.backend.change_priority(ChangePriorityArgs { execution_id: high, priority }).await.unwrap();
    world.check_invariants().await;
    let taken: Vec<_> = own(&world, "w", &low).await.iter().map(LeasedExecution::id).collect();
    assert_eq!(taken, [high, low]);
}

pub(crate) async fn a_lane_that_is_paused_or_full_hands_out_nothing_that_is_assigned(world: World) {
    let id = world.job("resize").on_partition(1).submit().await;
    assign(&world, &id, "w").await.unwrap();
    world.lane("default").pause().await;
    assert!(own(&world, "w", &id).await.is_empty());
    world.lane("default").resume().await;
    assert_eq!(world.worker("w").next(1, ms(30_000)).await.pop().expect("the lane goes on").id(), id);
}

pub(crate) async fn an_assigned_execution_is_listed_counted_and_explained(world: World) {
    let cursor = follow(&world).await;
    let id = world.submit("resize", b"cat.png").await;
    world.submit("resize", b"free").await;
    assign(&world, &id, "w").await.unwrap();
    let reason = BlockingReason::WaitingForLocalityMatch;
    let filter = Filter { blocking_reason: Some(reason), ..Filter::everything(Namespace::default_name()) };
    let list = || async {
        let page = world.backend.list(ListArgs { filter: filter.clone(), after: None, limit: 9 }).await.unwrap();
        page.executions.iter().filter_map(GrantInfo::of).collect::<Vec<_>>()
    };
    let found = list().await;
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].execution_id, found[0].grant.worker_instance_id.as_str()), (id, "w-1"));
    assert_eq!(
        (found[0].grant.requested_by.as_deref(), found[0].grant.reason.as_deref()),
        (Some("ada"), Some("it has the data"))
    );
    let route = world.lane("default").depth(LanePlace::BlockedByRoute).await.count;
    assert_eq!((route, world.lane("default").depth(LanePlace::Waiting).await.count), (1, 1));
    let explained = world.backend.explain(&id).await.unwrap();
    assert_eq!(explained.summary, "It is assigned to worker w-1 by ada: it has the data.");
    assert_eq!(explained.next.unwrap().at, Some(found[0].grant.expires_at));
    assert!(explained.actions.iter().any(|action| action.command.starts_with("ff unassign")));
    unassign(&world, &id).await.unwrap();
    assert_eq!(list().await, []);
    let events: Vec<_> = read(&world, &cursor).await.events.into_iter().map(|event| event.what).collect();
    assert!(events.contains(&EventKind::Blocked { reason }) && events.contains(&EventKind::Unblocked { reason }));
}

pub(crate) async fn a_member_of_a_flow_is_assigned_as_any_other(world: World) {
    let flow = world.graph("a>b").submit().await;
    let (first, second) = (flow.member("a"), flow.member("b"));
    assert_refused!(assign(&world, &second, "w").await, "execution_not_eligible");
    assign(&world, &first, "w").await.unwrap();
    assert!(world.worker("other").claim_up_to(9).await.is_empty());
    let held = own(&world, "w", &first).await.pop().expect("it is its own");
    held.complete(b"done").await.unwrap();
    assign(&world, &second, "w").await.unwrap();
    flow.cancel(CancelPolicy::CancelAll).await.unwrap();
    assert_eq!(flow.state("b").await, "cancelled");
}

fn args(id: &ExecutionId, worker: &str) -> AssignArgs {
    AssignArgs {
        execution_id: *id,
        worker_instance_id: WorkerInstanceId::parse(&format!("{worker}-1")).unwrap(),
        ttl_ms: limits::GRANT_TTL_MS,
        reason: Some("it has the data".into()),
        requested_by: Some("ada".into()),
    }
}

async fn assign(world: &World, id: &ExecutionId, worker: &str) -> Answer<GrantIssued> {
    world.backend.assign(args(id, worker)).await
}

async fn unassign(world: &World, id: &ExecutionId) -> Answer<GrantRevoked> {
    world.backend.unassign(UnassignArgs { execution_id: *id }).await
}

/// Claims the executions assigned to a worker, on the partition of an execution.
async fn own(world: &World, worker: &str, id: &ExecutionId) -> Vec<LeasedExecution> {
    world.worker(worker).claim_assigned(id.partition()).await
}
