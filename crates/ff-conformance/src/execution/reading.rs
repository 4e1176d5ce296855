//! Queries about an execution that exists, and about one that does not.

use tokio::time::timeout;

use crate::prelude::*;

pub(crate) async fn there_is_no_result_before_the_end(world: World) {
    let delayed = world.job("resize").after(ms(1_000)).submit().await;
    let held = world.held().await;
    let waiting = world.submit("resize", b"cat.png").await;
    for (id, state) in
        [(waiting, PublicState::Waiting), (delayed, PublicState::Delayed), (held.id(), PublicState::Active)]
    {
        let refusal = assert_refused!(world.backend.result(&id).await, "execution_not_terminal");
        assert_eq!(refusal.state, Some(state));
    }
}

pub(crate) async fn a_long_poll_on_an_end_returns_when_the_execution_ends(world: World) {
    let held = world.held().await;
    let id = held.id();
    let long_poll = world.long_poll.clone();
    let waiting = tokio::spawn(async move { long_poll.ended(&id, 60_000).await });
    held.complete(b"done").await.unwrap();
    let ended = timeout(ms(10_000), waiting).await.expect("no waiter was woken").unwrap().unwrap().unwrap();
    assert_eq!(ended, world.ended(&held.id()).await);
}

pub(crate) async fn a_long_poll_returns_every_kind_of_end(world: World) {
    let failing = world.held().await;
    let cancelled = world.submit("resize", b"cat.png").await;
    let expiring = world.job("resize").deadline(ms(1_000)).submit().await;
    let wait = |id: ExecutionId| {
        let long_poll = world.long_poll.clone();
        tokio::spawn(async move { long_poll.ended(&id, 60_000).await.unwrap().unwrap().outcome })
    };
    let waiting = [wait(failing.id()), wait(cancelled), wait(expiring)];
    failing.fail_with("input", "unreadable", true).await.unwrap();
    world.cancel(&cancelled).await.unwrap();
    world.clock.advance(ms(1_000)).await;
    for (waiting, outcome) in waiting.into_iter().zip([Outcome::Failed, Outcome::Cancelled, Outcome::Expired]) {
        assert_eq!(timeout(ms(10_000), waiting).await.expect("no waiter was woken").unwrap(), outcome);
    }
}

pub(crate) async fn a_long_poll_on_an_ended_execution_returns_at_once(world: World) {
    let held = world.held().await;
    held.complete(b"done").await.unwrap();
    let ended = timeout(ms(10_000), world.long_poll.ended(&held.id(), 60_000)).await.expect("it has ended").unwrap();
    assert_eq!(ended, Some(world.ended(&held.id()).await));
    assert_eq!(world.long_poll.ended(&held.id(), 0).await.unwrap(), ended);
}

pub(crate) async fn a_wait_for_an_end_runs_out(world: World) {
    let held = world.held().await;
    assert_eq!(world.long_poll.ended(&held.id(), 0).await.unwrap(), None);
    assert_eq!(world.long_poll.ended(&held.id(), 20).await.unwrap(), None);
}

pub(crate) async fn a_wait_for_an_end_is_refused_when_it_is_too_long(world: World) {
    let held = world.held().await;
    held.complete(b"done").await.unwrap();
    assert!(world.long_poll.ended(&held.id(), 60_000).await.unwrap().is_some());
    let refusal = assert_refused!(world.long_poll.ended(&held.id(), 60_001).await, "limit_exceeded");
    assert_eq!((refusal.field.as_deref(), refusal.limit), (Some("wait_ms"), Some((60_000, 60_001))));
}

pub(crate) async fn an_unknown_execution_id_is_not_found(world: World) {
    let id = ExecutionId::new(1, Uuid::now_v7());
    for (call, answer) in every_call(&world, id).await {
        let refused = matches!(&answer, Err(error) if error.code().as_str() == "execution_not_found");
        assert!(refused, "{call}: {answer:?}");
    }
}

/// An execution with such an id would be stored where no query looks.
pub(crate) async fn an_id_beyond_the_last_partition_is_refused(world: World) {
    let id = ExecutionId::new(world.backend.partitions().num_flow_partitions, Uuid::now_v7());
    for (call, answer) in every_call(&world, id).await {
        let refused = matches!(&answer, Err(error) if error.code().as_str() == "invalid_execution_id");
        assert!(refused, "{call}: {answer:?}");
    }
}

/// Makes every call about one execution, and returns the answers with the names of the calls.
async fn every_call(world: &World, execution_id: ExecutionId) -> Vec<(&'static str, Answer<()>)> {
    let fence = Fence { lease_id: LeaseId::new(), lease_epoch: LeaseEpoch(1), attempt_id: AttemptId::new() };
    let failure = Failure { category: Kind::parse("network").unwrap(), message: String::new(), permanent: false };
    let (reason, requested_by) = (None::<String>, None::<String>);
    let cancel = CancelArgs { execution_id, reason: reason.clone(), requested_by: requested_by.clone() };
    let replay = ReplayArgs { reason: reason.clone(), requested_by, ..ReplayArgs::new(execution_id) };
    let progress = ProgressArgs { execution_id, fence, percent: Some(1), message: None };
    let backend = &world.backend;
    vec![
        ("describe", backend.describe(&execution_id).await.map(drop)),
        ("payload", backend.payload(&execution_id).await.map(drop)),
        ("result", backend.result(&execution_id).await.map(drop)),
        ("attempts", backend.attempts(&execution_id).await.map(drop)),
        ("ended", world.long_poll.ended(&execution_id, 0).await.map(drop)),
        ("progress", backend.progress(progress).await.map(drop)),
        ("complete", backend.complete(CompleteArgs { execution_id, fence, result: None }).await.map(drop)),
        ("fail", backend.fail(FailArgs { execution_id, fence, failure }).await.map(drop)),
        ("delay", backend.delay(DelayArgs { execution_id, fence, start: Start::Now }).await.map(drop)),
        ("cancel", backend.cancel(cancel).await.map(drop)),
        ("replay", backend.replay(replay).await.map(drop)),
        ("renew", backend.renew(RenewArgs { execution_id, fence, lease_ttl_ms: None }).await.map(drop)),
        ("revoke", backend.revoke(RevokeArgs { execution_id, lease_id: None, reason }).await.map(drop)),
    ]
}

pub(crate) async fn whose_an_execution_is_follows_from_its_id(world: World) {
    let acme = Namespace::parse("acme").unwrap();
    let (own, other) = (world.submit("resize", b"cat.png").await, world.job("resize").namespace("acme").submit().await);
    assert_eq!(world.engine_store.namespace_of(&own).await, Ok(Some(Namespace::default_name())));
    assert_eq!(world.engine_store.namespace_of(&other).await, Ok(Some(acme)));
    assert_eq!(world.engine_store.namespace_of(&ExecutionId::new(0, Uuid::from_u128(9))).await, Ok(None));
}
