//! A store counts the use of a quota like the model, for any calls in any order.

use std::sync::atomic::{AtomicU64, Ordering};

use ff_core::backend::entropy::{Entropy, SeededEntropy};
use ff_core::model::Model;
use ff_core::operation::{Ask, Conditions, Operation};
use ff_core::quota::QuotaPolicy;

use super::Quota;
use crate::prelude::*;

/// Random numbers that are the same in every run.
struct Rolls(AtomicU64);

impl Rolls {
    fn below(&self, limit: usize) -> usize {
        let before = self.0.load(Ordering::Relaxed);
        let after = before.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0.store(after, Ordering::Relaxed);
        usize::try_from((after >> 33) % limit as u64).unwrap()
    }

    fn key(&self) -> String {
        ["", "acme", "a b:{x}"][self.below(3)].to_owned()
    }

    fn execution(&self) -> (ExecutionId, LeaseEpoch) {
        let nth = u16::try_from(self.below(14)).unwrap();
        let epoch = LeaseEpoch(1 + self.below(3) as u64 / 2);
        (ExecutionId::new(nth % 4, Uuid::from_u128(nth.into())), epoch)
    }

    fn claim(&self) -> Option<ClaimId> {
        let nth = self.below(3) as u128;
        (nth > 0).then(|| ClaimId::from_uuid(Uuid::from_u128(nth)))
    }

    /// Returns a random operation on a policy.
    fn operation(&self, policy: &QuotaPolicy) -> Operation {
        if self.below(5) < 3 {
            let ask = |_| {
                let (execution_id, epoch) = self.execution();
                SlotRequest { key: self.key(), execution_id, epoch }
            };
            let requests = (0..=self.below(3)).map(ask).collect();
            let (policy_id, revision, claim_id) = (policy.id, policy.revision, self.claim());
            return AdmitArgs { policy_id, revision, claim_id, requests }.into_operation();
        }
        let release = |_| {
            let (execution_id, epoch) = self.execution();
            let (is_unused, guard) = (self.below(2) == 0, self.claim().map_or(ReleaseGuard::Any, ReleaseGuard::Claim));
            AdmissionRelease { key: self.key(), execution_id, epoch, is_unused, guard }
        };
        let releases = (0..self.below(5)).map(release).collect();
        let keys = (0..self.below(2)).map(|_| self.key()).collect();
        SettleAdmissionsArgs { policy_id: policy.id, releases, keys }.into_operation()
    }
}

pub(crate) async fn slots_are_counted_as_the_rules_say(world: World) {
    let policy = Quota::new(&world, "slots").at_once(3).put().await;
    compare(world, policy, 1).await;
}

pub(crate) async fn windows_are_counted_as_the_rules_say(world: World) {
    let policy = Quota::new(&world, "rate").rate(4, 700).put().await;
    compare(world, policy, 2).await;
}

pub(crate) async fn slots_and_windows_together_are_counted_as_the_rules_say(world: World) {
    let policy = Quota::new(&world, "both").rate(5, 900).at_once(2).put().await;
    compare(world, policy, 3).await;
}

/// Sends the same operations to the store and to the model, and compares every answer.
async fn compare(world: World, policy: QuotaPolicy, seed: u64) {
    let (rolls, entropy) = (Rolls(AtomicU64::new(seed)), SeededEntropy::new(seed));
    let partitions = world.engine_store.partitions();
    let mut model = Model::default();
    let mut decide = |operation: &Operation, now| {
        let at = Conditions { partitions, nonce: entropy.nonce(), now };
        model.execute(operation, &at).unwrap().0
    };
    let define = DefineQuotaArgs { policy_id: policy.id, revision: policy.revision, policy: Some(policy.clone()) };
    decide(&define.into_operation(), world.clock.now());
    for nth in 0..400 {
        let operation = rolls.operation(&policy);
        let expected = decide(&operation, world.clock.now());
        assert_eq!(world.engine_store.perform(operation.clone()).await.unwrap(), expected, "{nth}: {operation:?}");
        world.clock.slip(ms(rolls.below(120) as u64));
    }
}
