//! The holder delays the execution, and the same attempt continues later.

use crate::prelude::*;

pub(crate) async fn an_execution_delayed_by_its_worker_resumes_the_same_attempt(world: World) {
    let first = world.held().await;
    let until = first.delay(ms(2_000)).await.unwrap().until;
    assert_eq!(until, world.clock.now() + 2_000);
    let read = world.describe(&first.id()).await;
    assert_eq!((read.public_state, read.delayed_until), (PublicState::Delayed, Some(until)));

    world.clock.advance(ms(1_999)).await;
    assert!(world.worker("early").claim_up_to(1).await.is_empty());
    world.clock.advance(ms(1)).await;
    let second = world.worker("punctual").claim().await;
    assert!(second.task.resumed && !first.task.resumed);
    assert_eq!((second.task.attempt_index, &second.task.attempt), (AttemptIndex(0), &Origin::Initial));
    assert_eq!(second.fence().attempt_id, first.fence().attempt_id);
    assert_eq!(second.fence().lease_epoch, first.fence().lease_epoch.next());
    assert_ne!(second.fence().lease_id, first.fence().lease_id);

    second.complete(b"done").await.unwrap();
    assert_eq!(world.attempts(&first.id()).await.attempts.len(), 1);
}

pub(crate) async fn a_worker_cannot_use_its_lease_after_a_delay(world: World) {
    let first = world.held().await;
    first.delay(ms(1_000)).await.unwrap();
    assert_refused!(first.complete(b"done").await, "execution_not_active");
    world.clock.advance(ms(1_000)).await;
    let second = world.worker("second").claim().await;
    assert_refused!(first.complete(b"done").await, "stale_lease");
    assert_refused!(first.delay(ms(1_000)).await, "stale_lease");
    second.complete(b"done").await.unwrap();
}

pub(crate) async fn a_worker_can_delay_an_execution_to_a_timestamp(world: World, held: LeasedExecution) {
    let moment = world.clock.now() + 5_000;
    assert_eq!(held.delay_to(Start::At(moment)).await.unwrap().until, moment);
    world.clock.advance(ms(5_000)).await;
    assert_eq!(world.worker("next").claim().await.id(), held.id());
}

pub(crate) async fn a_delay_into_the_past_waits_at_once(world: World, held: LeasedExecution) {
    let past = world.clock.now() - 1;
    assert_eq!(held.delay_to(Start::At(past)).await.unwrap().until, world.clock.now());
    assert_eq!(world.state(&held.id()).await, PublicState::Waiting);
    assert!(world.worker("next").claim().await.task.resumed);
}

pub(crate) async fn a_delay_is_no_failure_and_no_retry(world: World) {
    let id = world.job("resize").retries(0, ms(0)).submit().await;
    for _ in 0..5 {
        world.worker("patient").claim().await.delay(ms(10)).await.unwrap();
        world.clock.advance(ms(10)).await;
    }
    let read = world.describe(&id).await;
    assert_eq!((read.public_state, read.attempts_made, read.retries), (PublicState::Waiting, 1, 0));
    assert_eq!(read.failure, None);
}

pub(crate) async fn a_lease_given_up_is_remembered(world: World, held: LeasedExecution) {
    let acquired_at = world.clock.now();
    world.clock.advance(ms(300)).await;
    let until = held.delay(ms(700)).await.unwrap().until;
    let leases = world.attempts(&held.id()).await.leases;
    assert_eq!(leases.len(), 1);
    assert_eq!((leases[0].fence, leases[0].attempt_index), (held.fence(), AttemptIndex(0)));
    assert_eq!((leases[0].acquired_at, leases[0].ended_at), (acquired_at, world.clock.now()));
    assert_eq!(leases[0].ended, LeaseEnding::Delayed { until });
}
