//! Cancelling an execution in any state.

use crate::prelude::*;

pub(crate) async fn waiting_work_can_be_cancelled(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    cancelled(&world, &id).await;
    assert!(world.worker("late").claim_up_to(1).await.is_empty());
    assert!(world.attempts(&id).await.attempts.is_empty());
}

pub(crate) async fn delayed_work_can_be_cancelled(world: World) {
    let id = world.job("resize").after(ms(1_000)).submit().await;
    cancelled(&world, &id).await;
    world.clock.advance(ms(1_000)).await;
    assert!(world.worker("late").claim_up_to(1).await.is_empty());
}

pub(crate) async fn work_in_backoff_can_be_cancelled(world: World) {
    let id = world.job("resize").retries(3, ms(1_000)).submit().await;
    world.worker("unlucky").claim().await.fail("network").await.unwrap();
    cancelled(&world, &id).await;
    world.clock.advance(ms(1_000)).await;
    assert!(world.worker("late").claim_up_to(1).await.is_empty());
    assert_eq!(world.ended(&id).await.failure.unwrap().category.as_str(), "network");
}

pub(crate) async fn running_work_can_be_cancelled(world: World, held: LeasedExecution) {
    cancelled(&world, &held.id()).await;
    let history = world.attempts(&held.id()).await;
    assert_eq!(history.attempts[0].end.as_ref().unwrap().outcome, AttemptOutcome::Cancelled);
    assert_eq!((history.leases[0].fence, history.leases[0].ended), (held.fence(), LeaseEnding::Cancelled));
}

pub(crate) async fn an_execution_delayed_by_its_worker_can_be_cancelled(world: World, held: LeasedExecution) {
    held.delay(ms(1_000)).await.unwrap();
    cancelled(&world, &held.id()).await;
    let attempts = world.attempts(&held.id()).await.attempts;
    assert_eq!(attempts[0].end.as_ref().unwrap().outcome, AttemptOutcome::Cancelled);
    world.clock.advance(ms(1_000)).await;
    assert!(world.worker("late").claim_up_to(1).await.is_empty());
}

pub(crate) async fn a_holder_of_cancelled_work_is_refused(world: World, held: LeasedExecution) {
    world.cancel(&held.id()).await.unwrap();
    let before = world.contents().await;
    for refusal in [
        assert_refused!(held.complete(b"done").await, "execution_not_active"),
        assert_refused!(held.fail("network").await, "execution_not_active"),
        assert_refused!(held.delay(ms(1)).await, "execution_not_active"),
        assert_refused!(held.renew().await, "execution_not_active"),
        assert_refused!(held.progress(Some(1), None).await, "execution_not_active"),
    ] {
        assert_eq!(refusal.state, Some(PublicState::Cancelled));
    }
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn a_cancellation_keeps_its_author_and_reason(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let args = CancelArgs {
        execution_id: id,
        reason: Some("changed my mind — twice".into()),
        requested_by: Some("ops@example.org".into()),
    };
    world.backend.cancel(args.clone()).await.unwrap();
    let by = FinishedBy::Cancel { reason: args.reason, requested_by: args.requested_by };
    assert_eq!(world.ended(&id).await.by, by);
    assert_eq!(world.describe(&id).await.finished_by, Some(by));
}

/// The first cancellation sets the reason. A second one cannot change it.
pub(crate) async fn a_second_reason_is_not_taken(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let because = |reason: &str| CancelArgs { execution_id: id, reason: Some(reason.into()), requested_by: None };
    world.backend.cancel(because("first")).await.unwrap();
    assert!(world.backend.cancel(because("second")).await.unwrap().already);
    let by = FinishedBy::Cancel { reason: Some("first".into()), requested_by: None };
    assert_eq!(world.ended(&id).await.by, by);
}

pub(crate) async fn a_completed_failed_or_expired_execution_cannot_be_cancelled(world: World) {
    let completed = world.held().await;
    completed.complete(b"done").await.unwrap();
    let failed = world.held().await;
    failed.fail_with("input", "unreadable", true).await.unwrap();
    let expired = world.job("resize").deadline(ms(1_000)).submit().await;
    world.clock.advance(ms(1_000)).await;

    let before = world.contents().await;
    for (id, state) in
        [(completed.id(), PublicState::Completed), (failed.id(), PublicState::Failed), (expired, PublicState::Expired)]
    {
        assert_refused!(world.cancel(&id).await, "execution_not_active", state);
    }
    assert_eq!(world.contents().await, before);
}

async fn cancelled(world: &World, id: &ExecutionId) {
    let answer = world.cancel(id).await.unwrap();
    assert_eq!((answer.public_state, answer.already), (PublicState::Cancelled, false));
    let ended = world.ended(id).await;
    assert_eq!((ended.outcome, ended.at, ended.result), (Outcome::Cancelled, world.clock.now(), None));
    assert_eq!(world.state(id).await, PublicState::Cancelled);
}
