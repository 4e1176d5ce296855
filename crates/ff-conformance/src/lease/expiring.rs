//! A holder that stops renewing loses its lease, and another worker gets the execution.

use crate::prelude::*;

pub(crate) async fn work_of_a_silent_holder_waits_again_by_itself(world: World) {
    let silent = world.held().await;
    let began = world.clock.now();
    world.clock.advance(silent.lease_ttl() - ms(1)).await;
    assert_eq!(world.state(&silent.id()).await, PublicState::Active);
    assert!(world.worker("early").claim_up_to(1).await.is_empty());
    world.clock.advance(ms(1)).await;
    let read = world.describe(&silent.id()).await;
    assert_eq!((read.public_state, read.reclaims, read.retries), (PublicState::Waiting, 1, 0));
    assert_eq!((read.lease, read.failure), (None, None));

    let next = world.worker("next").claim().await;
    assert_eq!((next.id(), next.task.attempt_index), (silent.id(), AttemptIndex(1)));
    assert_eq!(next.task.attempt, Origin::Reclaim { of: AttemptIndex(0) });
    assert_eq!(next.fence().lease_epoch, silent.fence().lease_epoch.next());
    assert_ne!(next.fence().attempt_id, silent.fence().attempt_id);
    assert_eq!(world.describe(&silent.id()).await.started_at, Some(began), "it started when the first one took it");
}

pub(crate) async fn an_expired_lease_is_remembered(world: World) {
    let silent = world.held().await;
    let acquired_at = world.clock.now();
    world.clock.advance(silent.lease_ttl()).await;
    let history = world.attempts(&silent.id()).await;
    assert_eq!(history.attempts[0].end.as_ref().unwrap().outcome, AttemptOutcome::LeaseExpired);
    let lease = &history.leases[0];
    assert_eq!((lease.fence, lease.ended), (silent.fence(), LeaseEnding::Expired));
    assert_eq!(lease.holder.worker_instance_id.as_str(), "holder-1");
    assert_eq!((lease.acquired_at, lease.ended_at), (acquired_at, world.clock.now()));
}

/// An execution that kills every worker must not do so for ever.
pub(crate) async fn work_that_kills_its_workers_is_given_up(world: World) {
    let id = world.job("resize").policy(Policy { max_reclaim_count: 2, ..Policy::default() }).submit().await;
    for reclaims in 1..=2 {
        let doomed = world.worker("doomed").claim().await;
        world.clock.advance(doomed.lease_ttl()).await;
        assert_eq!(world.describe(&id).await.reclaims, reclaims);
    }
    let last = world.worker("doomed").claim().await;
    world.clock.advance(last.lease_ttl()).await;
    let ended = world.ended(&id).await;
    assert_eq!((ended.outcome, ended.by, ended.at), (Outcome::Failed, FinishedBy::ReclaimCap, world.clock.now()));
    assert_eq!(ended.failure.unwrap().category.as_str(), Failure::MAX_RECLAIMS_EXCEEDED);
    assert!(world.worker("next").claim_up_to(1).await.is_empty());
}

pub(crate) async fn work_may_be_given_up_at_the_first_expiry(world: World) {
    let id = world.job("resize").policy(Policy { max_reclaim_count: 0, ..Policy::default() }).submit().await;
    let doomed = world.worker("doomed").claim().await;
    world.clock.advance(doomed.lease_ttl()).await;
    assert_eq!(world.state(&id).await, PublicState::Failed);
}

pub(crate) async fn a_hundred_expiries_are_the_default(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    for _ in 0..100 {
        let doomed = world.worker("doomed").claim().await;
        world.clock.advance(doomed.lease_ttl()).await;
    }
    assert_eq!(world.state(&id).await, PublicState::Waiting);
    let doomed = world.worker("doomed").claim().await;
    world.clock.advance(doomed.lease_ttl()).await;
    assert_eq!(world.state(&id).await, PublicState::Failed);
    assert_eq!(world.attempts(&id).await.leases.len(), 101);
}

/// More than one batch of leases expires at one moment, and none is forgotten.
pub(crate) async fn many_leases_may_expire_at_once(world: World) {
    let jobs = (0..250).map(|_| world.job("resize").on_partition(1).args()).collect();
    world.backend.submit_many(jobs).await.unwrap();
    assert_eq!(world.worker("silent").claim_on(1, 250).await.len(), 250);
    world.clock.advance(ms(30_000)).await;
    assert_eq!(world.worker("next").claim_on(1, 250).await.len(), 250);
}
