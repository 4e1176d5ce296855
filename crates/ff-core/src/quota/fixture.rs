//! A fixture for tests of quotas: two partitions with work of customers, and a clock that the test controls.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::contracts::*;
use super::{QuotaPolicy, QuotaSet, Rate, Scope};
use crate::backend::entropy::{Entropy, SeededEntropy};
use crate::backend::hint::Hint;
use crate::engine_error::Refusal;
use crate::execution::Phase;
use crate::execution::contracts::{CompleteArgs, SubmitArgs};
use crate::lease::Holder;
use crate::lease::contracts::{AdmissionRequest, AdmittedClaim, AdmittedClaimArgs, ClaimArgs, Task};
use crate::limits;
use crate::model::Model;
use crate::operation::{Ask, Conditions};
use crate::partition::PartitionConfig;
use crate::payload::Payload;
use crate::rule::samples::at;
use crate::types::{ClaimId, Kind, Namespace, QuotaName, TimestampMs};

const PARTITIONS: PartitionConfig =
    PartitionConfig { num_flow_partitions: 2, num_budget_partitions: 1, num_quota_partitions: 1 };

/// Two partitions with work of three customers, and a clock that the test controls.
pub(super) struct QuotaFixture {
    pub(super) model: Model,
    entropy: SeededEntropy,
    pub(super) now: TimestampMs,
    pub(super) hints: Vec<Hint>,
    uuids: u128,
}

impl QuotaFixture {
    pub(super) fn new() -> Self {
        Self { model: Model::default(), entropy: SeededEntropy::new(1), now: at(0), hints: Vec::new(), uuids: 0 }
    }

    pub(super) fn ask<A: Ask>(&mut self, args: A) -> Result<A::Reply, Refusal> {
        let at = Conditions { partitions: PARTITIONS, nonce: self.entropy.nonce(), now: self.now };
        let (reply, hints) = self.model.execute(&args.into_operation(), &at)?;
        self.hints.extend(hints);
        Ok(A::decided(reply).unwrap())
    }

    pub(super) fn put(&mut self, name: &str, rate: Option<Rate>, max_concurrent: Option<u32>) -> QuotaPolicy {
        let per = Some("tag:customer".parse().unwrap());
        let definition = QuotaDefinition { scope: Scope::Namespace, per, rate, max_concurrent };
        let name = QuotaName::parse(name).unwrap();
        let put = PutQuotaArgs { namespace: Namespace::default_name(), name, definition: Some(definition) };
        let set = self.ask(put.clone()).unwrap();
        let policy = set.policies[&put.name].clone();
        let define = DefineQuotaArgs { policy_id: policy.id, revision: policy.revision, policy: Some(policy.clone()) };
        self.ask(define).unwrap();
        self.copy(&set);
        policy
    }

    pub(super) fn copy(&mut self, set: &QuotaSet) {
        for partition in 0..PARTITIONS.num_flow_partitions {
            self.ask(CopyQuotasArgs { partition, set: set.clone() }).unwrap();
        }
    }

    pub(super) fn submit(&mut self, customer: u64) {
        self.uuids += 1;
        let work = SubmitArgs::new(Kind::parse("send").unwrap(), Payload::json("1"));
        let tags = [("customer".parse().unwrap(), format!("c{customer}").parse().unwrap())].into();
        self.ask(SubmitArgs { uuid: Uuid::from_u128(self.uuids), tags, ..work }).unwrap();
    }

    pub(super) fn claim(&mut self, partition: u16, max: usize) -> Vec<AdmissionRequest> {
        let claim = ClaimArgs { max, ..ClaimArgs::new(partition, Holder::parse("w", "w-1").unwrap()) };
        self.ask(claim).unwrap().admissions
    }

    pub(super) fn admit(&mut self, policy: &QuotaPolicy, requests: &[AdmissionRequest]) -> AdmissionVerdicts {
        self.admit_for(Some(ClaimId::from_uuid(Uuid::nil())), policy, requests)
    }

    /// Requests admission for one claim, or without a claim.
    pub(super) fn admit_for(
        &mut self,
        claim_id: Option<ClaimId>,
        policy: &QuotaPolicy,
        requests: &[AdmissionRequest],
    ) -> AdmissionVerdicts {
        let of = |request: &AdmissionRequest| {
            let slot = request.slots.iter().find(|slot| slot.policy_id == policy.id)?;
            let (execution_id, epoch) = (request.execution_id, request.epoch);
            Some(SlotRequest { key: slot.key.clone(), execution_id, epoch })
        };
        let slots = requests.iter().filter_map(of).collect();
        self.ask(AdmitArgs { policy_id: policy.id, revision: policy.revision, claim_id, requests: slots }).unwrap()
    }

    pub(super) fn take(
        &mut self,
        partition: u16,
        admitted: Vec<AdmissionRequest>,
        admitted_at: TimestampMs,
    ) -> Vec<Task> {
        self.claim_admitted(partition, admitted, admitted_at).decision.tasks
    }

    pub(super) fn claim_admitted(
        &mut self,
        partition: u16,
        admitted: Vec<AdmissionRequest>,
        admitted_at: TimestampMs,
    ) -> AdmittedClaim {
        let lease_ttl_ms = limits::LEASE_TTL_MAX_MS;
        let claim =
            ClaimArgs { max: 24, lease_ttl_ms, ..ClaimArgs::new(partition, Holder::parse("w", "w-1").unwrap()) };
        self.ask(AdmittedClaimArgs { claim, admitted, admitted_at, grant: None }).unwrap()
    }

    pub(super) fn complete(&mut self, task: &Task) {
        self.ask(CompleteArgs { execution_id: task.execution_id, fence: task.fence, result: None }).unwrap();
    }

    pub(super) fn settle(&mut self, policy: &QuotaPolicy, releases: Vec<AdmissionRelease>) -> AdmissionsSettled {
        self.ask(SettleAdmissionsArgs { policy_id: policy.id, releases, keys: Vec::new() }).unwrap()
    }

    /// Runs a claim under one policy to its end. Returns the claimed tasks and the verdicts.
    pub(super) fn claim_whole(
        &mut self,
        policy: &QuotaPolicy,
        partition: u16,
        max: usize,
    ) -> (Vec<Task>, AdmissionVerdicts) {
        let requests = self.claim(partition, max);
        let verdicts = self.admit(policy, &requests);
        let admitted = requests.into_iter().zip(&verdicts.verdicts);
        let admitted = admitted.filter(|(_, verdict)| **verdict == AdmissionVerdict::Admitted);
        let admitted: Vec<_> = admitted.map(|(request, _)| request).collect();
        (self.take(partition, admitted, verdicts.at), verdicts)
    }

    pub(super) fn running(&self) -> BTreeMap<String, usize> {
        let mut running = BTreeMap::new();
        for execution in self.model.executions().filter(|one| matches!(one.phase, Phase::Running { .. })) {
            let customer = execution.tags.values().next().unwrap().to_string();
            *running.entry(customer).or_default() += 1;
        }
        running
    }
}

/// Returns the slots of a policy that are reported as freed by hints.
pub(super) fn freed(hints: &mut Vec<Hint>, policy: &QuotaPolicy) -> Vec<AdmissionRelease> {
    let of = |hint| match hint {
        Hint::SlotsFreed { execution_id, epoch, slots, .. } => Some((execution_id, epoch, slots)),
        _ => None,
    };
    let freed = hints.drain(..).filter_map(of).flat_map(|(execution_id, epoch, slots)| {
        let own = slots.into_iter().filter(|slot| slot.policy_id == policy.id);
        own.map(move |slot| AdmissionRelease {
            key: slot.key,
            execution_id,
            epoch,
            is_unused: false,
            guard: ReleaseGuard::Any,
        })
    });
    freed.collect()
}
