//! A holder that renews its lease keeps it.

use crate::prelude::*;

pub(crate) async fn a_renewal_moves_the_end_of_the_lease(world: World, held: LeasedExecution) {
    for _ in 0..5 {
        world.clock.advance(ms(20_000)).await;
        let renewed = held.renew().await.unwrap();
        assert_eq!(renewed.lease_expires_at, world.clock.now() + 30_000);
    }
    assert_eq!(world.describe(&held.id()).await.lease.unwrap().expires_at, world.clock.now() + 30_000);
    held.complete(b"done").await.unwrap();
}

pub(crate) async fn a_renewal_may_ask_for_another_length_from_then_on(world: World, held: LeasedExecution) {
    assert_eq!(held.renew_for(ms(5_000)).await.unwrap().lease_expires_at, world.clock.now() + 5_000);
    world.clock.advance(ms(4_000)).await;
    assert_eq!(held.renew().await.unwrap().lease_expires_at, world.clock.now() + 5_000);
    world.clock.advance(ms(5_000)).await;
    assert_refused!(held.renew().await, "lease_expired");
}

pub(crate) async fn a_renewal_keeps_to_the_limits_of_a_lease(world: World, held: LeasedExecution) {
    for (ttl, limit) in [(999, 1_000), (3_600_001, 3_600_000)] {
        assert_refused!(held.renew_for(ms(ttl)).await, "limit_exceeded", "lease_ttl_ms", limit, ttl);
    }
    assert_eq!(world.describe(&held.id()).await.lease.unwrap().expires_at, world.clock.now() + 30_000);
    held.renew_for(ms(3_600_000)).await.unwrap();
    held.renew_for(ms(1_000)).await.unwrap();
}

pub(crate) async fn a_renewal_may_be_repeated(world: World, held: LeasedExecution) {
    world.clock.advance(ms(1_000)).await;
    let first = held.renew().await.unwrap();
    assert_eq!(world.writes_nothing(held.renew()).await.unwrap(), first);
}

pub(crate) async fn a_renewed_lease_keeps_its_fence(world: World, held: LeasedExecution) {
    let before = world.describe(&held.id()).await;
    world.clock.advance(ms(10_000)).await;
    held.renew().await.unwrap();
    let after = world.describe(&held.id()).await;
    assert_eq!(after.lease.as_ref().unwrap().lease_epoch, before.lease.as_ref().unwrap().lease_epoch);
    assert_eq!((after.attempts_made, after.changed_at), (1, before.changed_at));
    held.complete(b"done").await.unwrap();
}
