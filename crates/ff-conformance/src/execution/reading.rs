//! Queries about an execution: its state, its history and its end, also of one that does not exist.

use tokio::time::timeout;

use crate::prelude::*;

type Words = (LifecyclePhase, OwnershipState, EligibilityState, BlockingReason, TerminalOutcome, AttemptState);

pub(crate) async fn there_is_no_result_before_the_end(world: World) {
    let delayed = world.job("resize").after(ms(1_000)).submit().await;
    let held = world.held().await;
    let waiting = world.submit("resize", b"cat.png").await;
    for (id, state) in
        [(waiting, PublicState::Waiting), (delayed, PublicState::Delayed), (held.id(), PublicState::Active)]
    {
        assert_refused!(world.backend.result(&id).await, "execution_not_terminal", state);
    }
}

pub(crate) async fn a_long_poll_on_an_end_returns_when_the_execution_ends(world: World, held: LeasedExecution) {
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

pub(crate) async fn a_long_poll_on_an_ended_execution_returns_at_once(world: World, held: LeasedExecution) {
    held.complete(b"done").await.unwrap();
    let ended = timeout(ms(10_000), world.long_poll.ended(&held.id(), 60_000)).await.expect("it has ended").unwrap();
    assert_eq!(ended, Some(world.ended(&held.id()).await));
    assert_eq!(world.long_poll.ended(&held.id(), 0).await.unwrap(), ended);
}

pub(crate) async fn a_wait_for_an_end_runs_out(world: World, held: LeasedExecution) {
    assert_eq!(world.long_poll.ended(&held.id(), 0).await.unwrap(), None);
    assert_eq!(world.long_poll.ended(&held.id(), 20).await.unwrap(), None);
}

pub(crate) async fn a_wait_for_an_end_is_refused_when_it_is_too_long(world: World, held: LeasedExecution) {
    held.complete(b"done").await.unwrap();
    assert!(world.long_poll.ended(&held.id(), 60_000).await.unwrap().is_some());
    assert_refused!(world.long_poll.ended(&held.id(), 60_001).await, "limit_exceeded", "wait_ms", 60_000, 60_001);
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

pub(crate) async fn whose_an_execution_is_follows_from_its_id(world: World) {
    let acme = Namespace::parse("acme").unwrap();
    let (own, other) = (world.submit("resize", b"cat.png").await, world.job("resize").namespace("acme").submit().await);
    assert_eq!(world.engine_store.namespace_of(&own).await, Ok(Some(Namespace::default_name())));
    assert_eq!(world.engine_store.namespace_of(&other).await, Ok(Some(acme)));
    assert_eq!(world.engine_store.namespace_of(&ExecutionId::new(0, Uuid::from_u128(9))).await, Ok(None));
}

pub(crate) async fn an_execution_without_attempts_has_no_history(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let history = world.attempts(&id).await;
    assert!(history.attempts.is_empty() && history.leases.is_empty());
}

pub(crate) async fn the_attempt_under_way_is_part_of_the_history(world: World, held: LeasedExecution) {
    let history = world.attempts(&held.id()).await;
    assert_eq!(history.attempts.len(), 1);
    let attempt = &history.attempts[0];
    assert_eq!((attempt.index, attempt.id), (AttemptIndex(0), held.fence().attempt_id));
    assert_eq!((&attempt.origin, attempt.started_at), (&Origin::Initial, world.clock.now()));
    assert_eq!((attempt.holder.worker_id.as_str(), &attempt.end), ("holder", &None));
}

/// Runs one execution through lease expiry, delay, failure, revocation, cancellation, replay and completion.
pub(crate) async fn a_history_has_every_attempt_in_order(world: World) {
    let id = world.job("resize").retries(3, ms(500)).submit().await;
    let began = world.clock.now();

    let silent = world.worker("silent").claim().await;
    world.clock.advance(silent.lease_ttl()).await;
    world.worker("patient").claim().await.delay(ms(1_000)).await.unwrap();
    world.clock.advance(ms(1_000)).await;
    world.worker("unlucky").claim().await.fail("network").await.unwrap();
    world.clock.advance(ms(500)).await;
    world.worker("removed").claim().await;
    world.revoke(&id).await.unwrap();
    world.worker("stopped").claim().await;
    world.cancel(&id).await.unwrap();
    world.replay(&id).await.unwrap();
    world.worker("lucky").claim().await.complete(b"done").await.unwrap();

    let history = world.attempts(&id).await;
    let attempts: Vec<_> = history
        .attempts
        .iter()
        .map(|attempt| {
            let end = attempt.end.as_ref().unwrap();
            (attempt.index.0, attempt.origin.clone(), attempt.holder.worker_id.as_str(), end.outcome)
        })
        .collect();
    let replay = Origin::Replay { of: Some(AttemptIndex(3)), reason: None, requested_by: None };
    let expected = [
        (0, Origin::Initial, "silent", AttemptOutcome::LeaseExpired),
        (1, Origin::Reclaim { of: AttemptIndex(0) }, "unlucky", AttemptOutcome::Failure),
        (2, Origin::Retry { of: AttemptIndex(1) }, "removed", AttemptOutcome::LeaseRevoked),
        (3, Origin::Reclaim { of: AttemptIndex(2) }, "stopped", AttemptOutcome::Cancelled),
        (4, replay, "lucky", AttemptOutcome::Success),
    ];
    assert_eq!(attempts, expected);
    assert_eq!(history.attempts[0].started_at, began);
    assert_eq!(history.attempts[0].end.as_ref().unwrap().at, began + 30_000);
    assert_eq!(history.attempts[1].started_at, began + 30_000);
    assert_eq!(history.attempts[1].end.as_ref().unwrap().failure.as_ref().unwrap().category.as_str(), "network");

    let leases: Vec<_> = history.leases.iter().map(|lease| (lease.fence.lease_epoch, lease.ended)).collect();
    let expected = [
        (LeaseEpoch(1), LeaseEnding::Expired),
        (LeaseEpoch(2), LeaseEnding::Delayed { until: began + 31_000 }),
        (LeaseEpoch(4), LeaseEnding::Revoked),
        (LeaseEpoch(5), LeaseEnding::Cancelled),
    ];
    assert_eq!(leases, expected);
}

pub(crate) async fn every_phase_has_its_words(world: World) {
    use {AttemptState as Try, BlockingReason as Why, EligibilityState as May, TerminalOutcome as End};

    let id = world.job("resize").after(ms(100)).retries(1, ms(100)).submit().await;
    assert_eq!(
        words(&world, &id).await,
        at_rest(May::NotEligibleUntilTime, Why::WaitingForDelay, Try::PendingFirstAttempt)
    );
    world.clock.advance(ms(100)).await;
    assert_eq!(words(&world, &id).await, at_rest(May::EligibleNow, Why::WaitingForWorker, Try::PendingFirstAttempt));
    let held = world.worker("worker").claim().await;
    let running =
        (LifecyclePhase::Active, OwnershipState::Leased, May::NotApplicable, Why::None, End::None, Try::RunningAttempt);
    assert_eq!(words(&world, &id).await, running);
    held.delay(ms(100)).await.unwrap();
    assert_eq!(
        words(&world, &id).await,
        at_rest(May::NotEligibleUntilTime, Why::WaitingForDelay, Try::AttemptInterrupted)
    );
    world.clock.advance(ms(100)).await;
    let held = world.worker("worker").claim().await;
    held.fail("network").await.unwrap();
    let in_backoff = at_rest(May::NotEligibleUntilTime, Why::WaitingForRetryBackoff, Try::PendingRetryAttempt);
    assert_eq!(words(&world, &id).await, in_backoff);
    world.clock.advance(ms(100)).await;
    let held = world.worker("worker").claim().await;
    world.clock.advance(held.lease_ttl()).await;
    assert_eq!(words(&world, &id).await, at_rest(May::EligibleNow, Why::WaitingForWorker, Try::AttemptInterrupted));
    world.worker("worker").claim().await.complete(b"done").await.unwrap();
    assert_eq!(words(&world, &id).await, ended(End::Success, Try::AttemptTerminal));
    world.replay(&id).await.unwrap();
    assert_eq!(words(&world, &id).await, at_rest(May::EligibleNow, Why::WaitingForWorker, Try::PendingReplayAttempt));
    world.cancel(&id).await.unwrap();
    assert_eq!(words(&world, &id).await, ended(End::Cancelled, Try::AttemptTerminal));
}

pub(crate) async fn every_end_has_its_word(world: World) {
    let failed = world.held().await;
    failed.fail_with("input", "unreadable", true).await.unwrap();
    assert_eq!(words(&world, &failed.id()).await, ended(TerminalOutcome::Failed, AttemptState::AttemptTerminal));
    let expired = world.job("resize").deadline(ms(1)).submit().await;
    world.clock.advance(ms(1)).await;
    assert_eq!(words(&world, &expired).await, ended(TerminalOutcome::Expired, AttemptState::None));
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

async fn words(world: &World, id: &ExecutionId) -> Words {
    let info = world.describe(id).await;
    let state = info.state;
    assert_eq!(state.public_state, info.public_state);
    (
        state.lifecycle_phase,
        state.ownership_state,
        state.eligibility_state,
        state.blocking_reason,
        state.terminal_outcome,
        state.attempt_state,
    )
}

fn at_rest(may: EligibilityState, why: BlockingReason, attempt: AttemptState) -> Words {
    (LifecyclePhase::Runnable, OwnershipState::Unowned, may, why, TerminalOutcome::None, attempt)
}

fn ended(outcome: TerminalOutcome, attempt: AttemptState) -> Words {
    let may = EligibilityState::NotApplicable;
    (LifecyclePhase::Terminal, OwnershipState::Unowned, may, BlockingReason::None, outcome, attempt)
}
