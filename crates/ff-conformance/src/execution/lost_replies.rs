//! A reply may be lost after the operation was applied. A repeated call gets the first answer and changes nothing.

use crate::prelude::*;

pub(crate) async fn finishing_twice_is_one_finish(world: World) {
    let held = world.held().await;
    let first = held.complete(b"first").await.unwrap();
    let before = world.contents().await;
    world.clock.advance(ms(100)).await;
    assert_eq!(held.complete(b"second").await.unwrap(), first);
    assert_eq!(world.contents().await, before);
    assert_eq!(world.result(&held.id()).await, b"first");
}

pub(crate) async fn failing_twice_is_one_failure(world: World) {
    world.job("resize").retries(3, ms(500)).submit().await;
    let held = world.worker("worker").claim().await;
    let first = held.fail("network").await.unwrap();
    let before = world.contents().await;
    world.clock.advance(ms(100)).await;
    assert_eq!(held.fail("network").await.unwrap(), first);
    assert_eq!(world.contents().await, before);

    world.clock.advance(ms(400)).await;
    assert_eq!(
        held.fail("network").await.unwrap(),
        first,
        "the retry waits for a worker, and it has had no lease since"
    );
    world.worker("other").claim().await;
    assert_refused!(held.fail("network").await, "stale_lease");
}

/// With jitter a second decision would differ, so the first must be remembered.
pub(crate) async fn a_repeated_failure_returns_the_same_retry_time(world: World) {
    let held = world.held().await;
    let FailedAttempt::RetryScheduled { retry_at } = held.fail("network").await.unwrap() else { panic!("no retry") };
    for _ in 0..20 {
        assert_eq!(held.fail("network").await.unwrap(), FailedAttempt::RetryScheduled { retry_at });
    }
}

pub(crate) async fn failing_for_good_twice_is_one_end(world: World) {
    let held = world.held().await;
    assert_eq!(held.fail_with("input", "unreadable", true).await.unwrap(), FailedAttempt::Failed);
    let before = world.contents().await;
    assert_eq!(held.fail_with("other", "something else", true).await.unwrap(), FailedAttempt::Failed);
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn putting_off_twice_is_one_delay(world: World) {
    let held = world.held().await;
    let first = held.delay(ms(5_000)).await.unwrap();
    let before = world.contents().await;
    world.clock.advance(ms(1_000)).await;
    assert_eq!(held.delay(ms(5_000)).await.unwrap(), first);
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn cancelling_twice_is_one_cancellation(world: World) {
    let held = world.held().await;
    let first = world.cancel(&held.id()).await.unwrap();
    assert_eq!((first.public_state, first.already), (PublicState::Cancelled, false));
    let before = world.contents().await;
    world.clock.advance(ms(100)).await;
    let again = world.cancel(&held.id()).await.unwrap();
    assert_eq!((again.public_state, again.already), (PublicState::Cancelled, true));
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn revoking_twice_is_one_revocation(world: World) {
    let held = world.held().await;
    let first = world.revoke(&held.id()).await.unwrap();
    assert_eq!((first.lease_epoch, first.already), (held.fence().lease_epoch, false));
    let before = world.contents().await;
    let again = world.revoke(&held.id()).await.unwrap();
    assert_eq!((again.lease_epoch, again.already), (held.fence().lease_epoch, true));
    assert_eq!(world.contents().await, before);
}

/// The second request finds a live execution and is refused.
pub(crate) async fn replaying_twice_is_one_replay(world: World) {
    let held = world.held().await;
    held.complete(b"done").await.unwrap();
    let args = ReplayArgs { reason: Some("again".into()), ..ReplayArgs::new(held.id()) };
    assert_eq!(world.backend.replay(args.clone()).await.unwrap().replays, 1);
    let before = world.contents().await;
    assert_refused!(world.backend.replay(args).await, "execution_not_terminal");
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn one_call_is_not_answered_with_the_end_of_another(world: World) {
    let completed = world.held().await;
    completed.complete(b"done").await.unwrap();
    let refusal = assert_refused!(completed.fail("network").await, "execution_not_active");
    assert_eq!(refusal.state, Some(PublicState::Completed));
    assert_refused!(completed.delay(ms(1)).await, "execution_not_active");

    let put_off = world.held().await;
    put_off.delay(ms(1_000)).await.unwrap();
    let refusal = assert_refused!(put_off.complete(b"done").await, "execution_not_active");
    assert_eq!(refusal.state, Some(PublicState::Delayed));
    assert_refused!(put_off.renew().await, "execution_not_active");
    assert_refused!(put_off.progress(Some(1), None).await, "execution_not_active");
}
