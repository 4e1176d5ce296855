//! The fence table: which fence may still write, and how the others are refused.

use crate::prelude::*;

/// A worker paused past its lease wakes up late; it must not be able to change anything.
pub(crate) async fn a_zombie_cannot_write(world: World) {
    let job = world.submit("resize", b"cat.png").await;
    let slow = world.worker("slow").claim().await;

    world.clock.advance(slow.lease_ttl() + ms(1)).await;
    let fast = world.worker("fast").claim().await;

    everything_is_refused(&world, &slow, "stale_lease").await; // another worker has held it since
    fast.complete(b"done").await.unwrap();

    assert_eq!(world.result(&job).await, b"done");
    everything_is_refused(&world, &slow, "stale_lease").await;
}

pub(crate) async fn the_current_fence_may_do_everything_in_time(world: World, held: LeasedExecution) {
    world.clock.advance(held.lease_ttl() - ms(1)).await;
    held.progress(Some(1), None).await.unwrap();
    held.renew().await.unwrap();
    held.complete(b"done").await.unwrap();
}

/// The lease has expired, whether or not the engine has acted on it yet.
pub(crate) async fn a_lease_past_its_end_counts_before_anybody_acts(world: World, held: LeasedExecution) {
    world.clock.slip(held.lease_ttl() - ms(1));
    held.progress(Some(1), None).await.unwrap();
    world.clock.slip(ms(1));
    everything_is_refused(&world, &held, "lease_expired").await;
    assert_eq!(world.state(&held.id()).await, PublicState::Active, "nothing has fired yet");
    world.clock.fire_due().await;
    everything_is_refused(&world, &held, "lease_expired").await;
    assert_eq!(world.state(&held.id()).await, PublicState::Waiting);
}

pub(crate) async fn a_lease_that_expired_is_called_that(world: World, held: LeasedExecution) {
    world.clock.advance(held.lease_ttl()).await;
    everything_is_refused(&world, &held, "lease_expired").await;
}

pub(crate) async fn a_lease_that_was_revoked_is_called_that(world: World, held: LeasedExecution) {
    world.revoke(&held.id()).await.unwrap();
    everything_is_refused(&world, &held, "lease_revoked").await;
}

pub(crate) async fn an_older_fence_is_stale_wherever_the_work_is(world: World) {
    let id = world.job("resize").retries(3, ms(1_000)).submit().await;
    let first = world.worker("first").claim().await;
    world.clock.advance(first.lease_ttl()).await;

    let second = world.worker("second").claim().await;
    everything_is_refused(&world, &first, "stale_lease").await;
    second.fail("network").await.unwrap();
    everything_is_refused(&world, &first, "stale_lease").await;
    world.clock.advance(ms(1_000)).await;
    everything_is_refused(&world, &first, "stale_lease").await;
    world.cancel(&id).await.unwrap();
    everything_is_refused(&world, &first, "stale_lease").await;
}

pub(crate) async fn each_part_of_a_fence_counts(world: World, held: LeasedExecution) {
    let epoch = held.fence().lease_epoch;
    for forged in [
        held.with_fence(|fence| fence.lease_id = LeaseId::new()),
        held.with_fence(|fence| fence.lease_epoch = epoch.next()),
        held.with_fence(|fence| fence.lease_epoch = LeaseEpoch(0)),
        held.with_fence(|fence| fence.attempt_id = AttemptId::new()),
    ] {
        everything_is_refused(&world, &forged, "stale_lease").await;
    }
    held.complete(b"done").await.unwrap();
}

pub(crate) async fn a_fence_of_other_work_opens_nothing(world: World) {
    let (one, other) = (world.held().await, world.held().await);
    let fence = other.fence();
    everything_is_refused(&world, &one.with_fence(|own| *own = fence), "stale_lease").await;
}

pub(crate) async fn an_execution_that_was_never_leased_cannot_be_finished(world: World, held: LeasedExecution) {
    let waiting = world.submit("resize", b"dog.png").await;
    let delayed = world.job("resize").after(ms(1_000)).submit().await;
    for (id, state) in [(waiting, PublicState::Waiting), (delayed, PublicState::Delayed)] {
        let mut pretending = held.clone();
        pretending.task.execution_id = id;
        assert_refused!(pretending.complete(b"done").await, "execution_not_active", state);
        everything_is_refused(&world, &pretending, "execution_not_active").await;
    }
}

/// Checks that complete, fail, delay, renew and progress are refused with this code and change nothing.
async fn everything_is_refused(world: &World, held: &LeasedExecution, code: &str) {
    let before = world.contents().await;
    assert_refused!(held.complete(b"late").await, code);
    assert_refused!(held.fail("network").await, code);
    assert_refused!(held.delay(ms(1_000)).await, code);
    assert_refused!(held.renew().await, code);
    assert_refused!(held.progress(Some(1), Some("late")).await, code);
    assert_eq!(world.contents().await, before);
}
