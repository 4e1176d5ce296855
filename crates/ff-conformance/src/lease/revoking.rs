//! An operator revokes a lease, and the execution waits for another worker.

use crate::prelude::*;

pub(crate) async fn revoked_work_waits_for_another(world: World, held: LeasedExecution) {
    let revoked = world.revoke(&held.id()).await.unwrap();
    assert_eq!((revoked.lease_epoch, revoked.already), (held.fence().lease_epoch, false));
    let read = world.describe(&held.id()).await;
    assert_eq!((read.public_state, read.reclaims, read.retries), (PublicState::Waiting, 0, 0));

    let next = world.worker("next").claim().await;
    assert_eq!((next.id(), &next.task.attempt), (held.id(), &Origin::Reclaim { of: AttemptIndex(0) }));
    let history = world.attempts(&held.id()).await;
    assert_eq!(history.attempts[0].end.as_ref().unwrap().outcome, AttemptOutcome::LeaseRevoked);
    assert_eq!((history.leases[0].fence, history.leases[0].ended), (held.fence(), LeaseEnding::Revoked));
    next.complete(b"done").await.unwrap();
}

pub(crate) async fn why_a_lease_was_revoked_is_kept(world: World, held: LeasedExecution) {
    let reason = Some("the machine is going away: 10 %, \"now\"\n- Zoë".to_owned());
    let args = RevokeArgs { execution_id: held.id(), lease_id: None, reason: reason.clone() };
    world.backend.revoke(args).await.unwrap();
    world.worker("next").claim().await;
    world.revoke(&held.id()).await.unwrap();
    let history = world.attempts(&held.id()).await;
    let reasons: Vec<_> = history.leases.into_iter().map(|lease| lease.reason).collect();
    assert_eq!(reasons, [reason, None]);
}

/// The holder may change between reading and revoking. A revocation that names a lease revokes only that one.
pub(crate) async fn only_the_named_lease_is_revoked(world: World, held: LeasedExecution) {
    let named = |lease_id| RevokeArgs { execution_id: held.id(), lease_id: Some(lease_id), reason: None };
    assert_refused!(world.writes_nothing(world.backend.revoke(named(LeaseId::new()))).await, "stale_lease");
    assert!(!world.backend.revoke(named(held.fence().lease_id)).await.unwrap().already);
    assert!(world.backend.revoke(named(held.fence().lease_id)).await.unwrap().already);
    world.worker("next").claim().await;
    assert_refused!(world.backend.revoke(named(held.fence().lease_id)).await, "stale_lease");
}

pub(crate) async fn an_execution_without_a_lease_cannot_be_revoked(world: World) {
    let finished = world.held().await;
    finished.complete(b"done").await.unwrap();
    let put_off = world.held().await;
    put_off.delay(ms(1_000)).await.unwrap();
    let waiting = world.submit("resize", b"dog.png").await;
    let before = world.contents().await;
    for (id, state) in
        [(waiting, PublicState::Waiting), (put_off.id(), PublicState::Delayed), (finished.id(), PublicState::Completed)]
    {
        assert_refused!(world.revoke(&id).await, "no_active_lease", state);
    }
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn a_revoked_lease_does_not_expire_later(world: World, held: LeasedExecution) {
    world.revoke(&held.id()).await.unwrap();
    world.writes_nothing(world.clock.advance(held.lease_ttl())).await;
}
