//! A worker claims waiting executions, and gets everything it needs to run them.

use std::collections::BTreeSet;

use futures_util::future::join_all;

use crate::prelude::*;

pub(crate) async fn a_claim_brings_everything_the_work_needs(world: World) {
    let job = world
        .job("resize")
        .namespace("acme")
        .lane("images")
        .priority(17)
        .tag("customer", "c-1")
        .payload(Payload::json("{\"width\": 640}"))
        .retries(7, ms(250))
        .deadline(ms(90_000));
    let sent = job.clone().args();
    let id = job.submit().await;
    let created_at = world.clock.now();
    world.clock.advance(ms(5)).await;

    let held = world.worker("worker").namespace("acme").lanes(&["images"]).ttl(ms(45_000)).claim().await;
    let task = &held.task;
    assert_eq!((held.id(), &held.payload), (id, &sent.payload));
    assert_eq!((&task.namespace, &task.lane_id, &task.kind), (&sent.namespace, &sent.lane, &sent.kind));
    assert_eq!((task.priority, &task.tags, &task.policy), (sent.priority, &sent.tags, &sent.policy));
    assert_eq!((task.attempt_index, &task.attempt, task.resumed), (AttemptIndex(0), &Origin::Initial, false));
    assert_eq!((task.lease_ttl_ms, task.lease_expires_at), (45_000, world.clock.now() + 45_000));
    assert_eq!((task.created_at, task.deadline_at), (created_at, Some(created_at + 90_000)));
    assert_eq!(task.fence.lease_epoch, LeaseEpoch(1));
}

/// Callers see which worker holds an execution, but nothing that lets them act as the holder.
pub(crate) async fn everybody_sees_who_holds_what(world: World, held: LeasedExecution) {
    let read = world.describe(&held.id()).await;
    let lease = read.lease.unwrap();
    assert_eq!((lease.worker_id.as_str(), lease.worker_instance_id.as_str()), ("holder", "holder-1"));
    assert_eq!((lease.lease_epoch, lease.attempt_index), (held.fence().lease_epoch, AttemptIndex(0)));
    assert_eq!((lease.acquired_at, lease.expires_at), (world.clock.now(), held.task.lease_expires_at));
    assert_eq!(read.started_at, Some(world.clock.now()));
}

pub(crate) async fn a_claim_takes_up_to_as_many_as_it_says(world: World) {
    for _ in 0..5 {
        world.job("resize").on_partition(2).submit().await;
    }
    let worker = world.worker("worker");
    assert_eq!(worker.claim_on(2, 3).await.len(), 3);
    assert_eq!(worker.claim_on(2, 3).await.len(), 2);
    assert_eq!(worker.claim_on(2, 3).await.len(), 0);
}

pub(crate) async fn a_claim_says_what_is_left(world: World) {
    for priority in [3, 2, 1] {
        world.job("resize").on_partition(2).priority(priority).submit().await;
    }
    let next = async |max| world.backend.claim(world.worker("worker").claim_args(2, max)).await.unwrap().next;
    let head = |priority| Some(Head::new(Priority::new(priority).unwrap(), world.clock.now()));
    assert_eq!(next(1).await, head(2));
    assert_eq!(next(1).await, head(1));
    assert_eq!(next(1).await, None);
    assert_eq!(next(1).await, None);
}

pub(crate) async fn a_claim_leaves_other_kinds_alone(world: World) {
    let job = async |kind| world.job(kind).on_partition(0).submit().await;
    let (resize, shrink, send) = (job("resize").await, job("shrink").await, job("send").await);
    let pictures = world.worker("pictures").kinds(&["resize", "shrink", "resize"]);
    assert_eq!(ids(&pictures.claim_on(0, 9).await), BTreeSet::from([resize, shrink]));
    assert!(world.worker("films").kinds(&["cut"]).claim_on(0, 9).await.is_empty());
    assert_eq!(ids(&world.worker("anything").claim_on(0, 9).await), BTreeSet::from([send]));
}

pub(crate) async fn a_claim_leaves_other_lanes_alone(world: World) {
    let mail = world.job("send").lane("mail").submit().await;
    let chat = world.job("send").lane("chat").submit().await;
    assert!(world.worker("worker").claim_up_to(9).await.is_empty());
    assert_eq!(ids(&world.worker("worker").lanes(&["mail"]).claim_up_to(9).await), BTreeSet::from([mail]));
    assert_eq!(ids(&world.worker("worker").lanes(&["chat"]).claim_up_to(9).await), BTreeSet::from([chat]));
}

pub(crate) async fn two_tenants_lanes_of_one_name_are_two_lanes(world: World) {
    let ours = world.submit("resize", b"cat.png").await;
    let theirs = world.job("resize").namespace("acme").submit().await;
    assert_eq!(ids(&world.worker("worker").namespace("acme").claim_up_to(9).await), BTreeSet::from([theirs]));
    assert_eq!(ids(&world.worker("worker").claim_up_to(9).await), BTreeSet::from([ours]));
}

/// A reply of a thousand payloads of a mebibyte each would be too large.
pub(crate) async fn a_claim_stops_at_four_mebibytes(world: World) {
    for _ in 0..5 {
        world.job("resize").on_partition(3).payload(Payload::bytes(vec![0; 1024 * 1024])).submit().await;
    }
    world.job("resize").on_partition(3).submit().await;
    let claims = world.backend.claim(world.worker("worker").claim_args(3, 10)).await.unwrap();
    assert_eq!(claims.claimed.len(), 4);
    assert!(claims.next.is_some());
    assert_eq!(world.worker("worker").claim_on(3, 10).await.len(), 2);
}

/// Other callers wait while a partition hands out work, so one claim takes a bounded number.
pub(crate) async fn a_claim_takes_no_more_than_go_at_once(world: World) {
    for _ in 0..=limits::CLAIM_AT_ONCE {
        world.job("resize").on_partition(3).submit().await;
    }
    let worker = world.worker("worker");
    let claims = world.backend.claim(worker.claim_args(3, limits::CLAIM)).await.unwrap();
    assert_eq!(claims.claimed.len(), limits::CLAIM_AT_ONCE);
    assert!(claims.next.is_some(), "there is more to come for");
    let rest = world.backend.claim(worker.claim_args(3, limits::CLAIM)).await.unwrap();
    assert_eq!((rest.claimed.len(), rest.next), (1, None));
}

pub(crate) async fn no_two_workers_get_the_same_work(world: World) {
    let mut submitted = BTreeSet::new();
    for _ in 0..60 {
        submitted.insert(world.submit("resize", b"cat.png").await);
    }
    let claims = (0..12).map(|nth| {
        let world = world.clone();
        tokio::spawn(async move { world.worker(&format!("worker-{nth}")).claim_up_to(9).await })
    });
    let taken: Vec<LeasedExecution> = join_all(claims).await.into_iter().flat_map(Result::unwrap).collect();
    assert_eq!(taken.len(), 60);
    assert_eq!(ids(&taken), submitted);
    let leases: BTreeSet<_> = taken.iter().map(|held| held.fence().lease_id).collect();
    assert_eq!(leases.len(), 60, "every lease has an id of its own");
}

pub(crate) async fn a_claim_of_nothing_or_of_too_much_is_refused(world: World) {
    world.submit("resize", b"cat.png").await;
    let worker = world.worker("worker");
    assert_refused!(world.backend.claim(worker.claim_args(0, 0)).await, "invalid_input", "max");
    assert_refused!(world.backend.claim(worker.claim_args(0, 1_001)).await, "limit_exceeded", "max", 1_000, 1_001);
    world.backend.claim(worker.claim_args(0, 1_000)).await.unwrap();
}

pub(crate) async fn a_claim_may_name_so_many_kinds(world: World) {
    let names: Vec<_> = (0..257).map(|nth| format!("kind-{nth}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let id = world.job("kind-255").on_partition(0).submit().await;
    let too_many = world.worker("worker").kinds(&names).claim_args(0, 1);
    assert_refused!(world.backend.claim(too_many).await, "limit_exceeded", "kinds", 256, 257);
    assert_eq!(world.worker("worker").kinds(&names[..256]).claim_on(0, 1).await[0].id(), id);
}

pub(crate) async fn a_partition_that_is_not_there_is_refused(world: World) {
    let beyond = world.backend.partitions().num_flow_partitions;
    let answer = world.backend.claim(world.worker("worker").claim_args(beyond, 1)).await;
    assert_refused!(answer, "invalid_input", "partition");
}

pub(crate) async fn a_lease_lasts_from_a_second_to_an_hour(world: World) {
    for _ in 0..2 {
        world.job("resize").on_partition(0).submit().await;
    }
    for (ttl, limit) in [(999, 1_000), (3_600_001, 3_600_000), (0, 1_000)] {
        let args = world.worker("worker").ttl(ms(ttl)).claim_args(0, 1);
        assert_refused!(world.backend.claim(args).await, "limit_exceeded", "lease_ttl_ms", limit, ttl);
    }
    for ttl in [1_000, 3_600_000] {
        let held = world.worker("worker").ttl(ms(ttl)).claim().await;
        assert_eq!(held.task.lease_expires_at, world.clock.now() + ttl);
    }
}

pub(crate) async fn an_epoch_is_higher_with_every_lease(world: World) {
    world.submit("resize", b"cat.png").await;
    let mut last = LeaseEpoch(0);
    for _ in 0..5 {
        let held = world.worker("worker").claim().await;
        assert_eq!(held.fence().lease_epoch, last.next());
        last = held.fence().lease_epoch;
        held.delay_to(Start::Now).await.unwrap();
    }
}

fn ids(held: &[LeasedExecution]) -> BTreeSet<ExecutionId> {
    held.iter().map(LeasedExecution::id).collect()
}
