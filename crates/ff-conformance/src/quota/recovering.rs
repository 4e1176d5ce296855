//! A quota recovers from crashed processes and lost messages, and is never exceeded meanwhile.

use ff_core::quota::QuotaPolicy;

use super::{Quota, claim_all, count_in, get, submit_for, with_engine};
use crate::prelude::*;

/// Reserves the admissions of a claim in a policy, like a process that crashes right after. Returns the number admitted.
async fn reserve(world: &World, policy: &QuotaPolicy) -> usize {
    let mut admitted = 0;
    for partition in world.partitions() {
        let claim = world.worker("dies").claim_args(partition, 24);
        for request in world.engine_store.claim(claim).await.unwrap().admissions {
            let key = request.slots[0].key.clone();
            let requests = vec![SlotRequest { key, execution_id: request.execution_id, epoch: request.epoch }];
            let args =
                AdmitArgs { policy_id: policy.id, revision: policy.revision, claim_id: Some(ClaimId::new()), requests };
            let answer = world.engine_store.admit(args).await.unwrap();
            admitted += answer.verdicts.iter().filter(|one| **one == AdmissionVerdict::Admitted).count();
        }
    }
    admitted
}

pub(crate) async fn reservations_of_a_dead_process_are_released(world: World) {
    let policy = Quota::new(&world, "two").at_once(2).put().await;
    submit_for(&world, "acme", 5).await;
    assert_eq!(reserve(&world, &policy).await, 2);
    world.clock.slip(ms(2 * limits::QUOTA_RESERVED_MS));
    with_engine(&world);
    get(&world, 2).await;
    assert_eq!(count_in(&world, PublicState::Active).await, 2);
    assert_eq!(claim_all(&world).await.len(), 0);
}

/// A reservation that is used late counts in the window from its use on, so it makes no extra room.
pub(crate) async fn a_reservation_that_is_used_late_counts_when_it_is_used(world: World) {
    let policy = Quota::new(&world, "api").rate(1, 1_000).put().await;
    submit_for(&world, "acme", 2).await;
    assert_eq!(reserve(&world, &policy).await, 1);
    world.clock.slip(ms(limits::QUOTA_RESERVED_MS));
    assert_eq!(claim_all(&world).await.len(), 1);
}

pub(crate) async fn a_claim_that_comes_too_late_takes_nothing(world: World) {
    let policy = Quota::new(&world, "one").at_once(1).put().await;
    submit_for(&world, "acme", 1).await;
    let mut late = Vec::new();
    for partition in world.partitions() {
        let claim = world.worker("late").claim_args(partition, 24);
        let admitted = world.engine_store.claim(claim.clone()).await.unwrap().admissions;
        late.push(AdmittedClaimArgs { claim, admitted, admitted_at: world.clock.now(), grant: None });
    }
    assert_eq!(reserve(&world, &policy).await, 1);
    world.clock.slip(ms(limits::QUOTA_RESERVED_MS));
    for args in late {
        assert_eq!(world.engine_store.claim_admitted(args).await.unwrap().claims.claimed.len(), 0);
    }
}

pub(crate) async fn a_slot_is_released_although_no_engine_saw_the_end(world: World) {
    Quota::new(&world, "one").at_once(1).put().await;
    submit_for(&world, "acme", 2).await;
    let held = claim_all(&world).await;
    // No engine sees this end.
    held[0].complete(b"done").await.unwrap();
    assert_eq!(claim_all(&world).await.len(), 0);
    world.clock.slip(ms(2 * limits::QUOTA_RESERVED_MS));
    with_engine(&world);
    get(&world, 1).await;
}

pub(crate) async fn admissions_of_two_callers_at_once_are_both_counted(world: World) {
    let policy = Quota::new(&world, "three").at_once(3).put().await;
    submit_for(&world, "acme", 12).await;
    let callers = (0..4).map(|_| {
        let (world, policy) = (world.clone(), policy.clone());
        tokio::spawn(async move { reserve(&world, &policy).await })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.unwrap();
    }
    let slots = QuotaSlotsArgs { policy_id: policy.id, after: None, limit: 99 };
    assert_eq!(world.engine_store.quota_slots(slots).await.unwrap().slots.len(), 3);
}

/// The first claim on a partition that missed a change brings the partition's copy up to date.
pub(crate) async fn a_partition_that_missed_a_change_learns_of_it(world: World) {
    Quota::new(&world, "all").at_once(1).put().await;
    let put = Quota::new(&world, "all").at_once(2).args;
    let set = world.engine_store.put_quota_home(put).await.unwrap();
    let policy = set.policies.values().next().unwrap().clone();
    let define = DefineQuotaArgs { policy_id: policy.id, revision: policy.revision, policy: Some(policy) };
    world.engine_store.define_quota(define).await.unwrap();
    submit_for(&world, "acme", 5).await;
    assert_eq!(claim_all(&world).await.len(), 2);
}
