//! The names of states.

use crate::prelude::*;

type Words = (LifecyclePhase, OwnershipState, EligibilityState, BlockingReason, TerminalOutcome, AttemptState);

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
