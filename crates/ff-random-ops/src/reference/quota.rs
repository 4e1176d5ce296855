//! Operations about quotas, made of numbers and of what the model holds.

use ff_core::contracts::{
    AdmissionAsked, AdmissionRelease, AdmissionRequest, AdmitArgs, AdmittedClaim, AdmittedClaimArgs, AdmittedClaims,
    ClaimArgs, ClaimDecision, Claims, CopyQuotasArgs, DefineQuotaArgs, PutQuotaArgs, QuotaDefinition, ReleaseGuard,
    SettleAdmissionsArgs,
};
use ff_core::engine_error::Refusal;
use ff_core::entropy::Nonce;
use ff_core::execution::Execution;
use ff_core::limits;
use ff_core::operation::{Ask, Operation, Reply};
use ff_core::partition::namespace_partition;
use ff_core::quota::{Per, QuotaPolicy, QuotaSet, Rate, Scope, quota_policy_id};
use ff_core::types::{ClaimId, LaneId, LeaseEpoch, QuotaName, QuotaPolicyId};
use ff_core::view::View;

use super::{Reference, vocabulary};
use crate::compare::calls::Output;
use crate::transition::{QUOTA_NAMESPACE, QuotaOrder};

/// How many policies there are to choose from.
pub(crate) const POLICIES: u8 = 2;

impl Reference {
    pub(super) fn quota_operation(&self, order: &QuotaOrder) -> Operation {
        let namespace = vocabulary::namespace(QUOTA_NAMESPACE);
        match order {
            QuotaOrder::Put { policy, definition } => {
                let definition = definition.map(definition_of);
                PutQuotaArgs { namespace, name: name(*policy), definition }.into_operation()
            }
            QuotaOrder::Define { policy } => {
                let policy_id = policy_id(*policy);
                let (set, policy) = (self.quota_set(), self.quota_policy(*policy));
                let revision = policy.as_ref().map_or(set.revision, |policy| policy.revision);
                DefineQuotaArgs { policy_id, revision, policy }.into_operation()
            }
            QuotaOrder::Copy { partition } => {
                CopyQuotasArgs { partition: *partition, set: self.quota_set() }.into_operation()
            }
            QuotaOrder::Claim { partition, max } => Operation::Claim(claim(*partition, *max)),
            QuotaOrder::Admit { policy, jobs, claim } => AdmitArgs {
                policy_id: policy_id(*policy),
                revision: self.quota_policy(*policy).map_or(1, |policy| policy.revision),
                claim_id: claim.map(claim_id),
                asked: self.asked(*policy, jobs),
            }
            .into_operation(),
            QuotaOrder::ClaimAdmitted { jobs, is_late } => {
                let partition = self.partition_of(jobs);
                let known = self.model.quotas(partition, &namespace).ok().flatten();
                let request = |execution: &Execution| AdmissionRequest {
                    execution_id: execution.id,
                    epoch: execution.epoch().next(),
                    slots: known.map_or_else(Vec::new, |set| set.slots_for(execution)),
                };
                let admitted = self.found(jobs).map(request).collect();
                let age_ms = if *is_late { limits::QUOTA_RESERVED_MS } else { 0 };
                let (claim, admitted_at) = (claim(partition, limits::CLAIM_AT_ONCE), self.now() - age_ms);
                AdmittedClaimArgs { claim, admitted, admitted_at, grant: None }.into_operation()
            }
            QuotaOrder::Settle { policy, jobs, is_unused, claim, keys } => {
                let guard = claim.map_or(ReleaseGuard::Any, |claim| ReleaseGuard::Claim(claim_id(claim)));
                let releases =
                    self.asked(*policy, jobs).into_iter().flat_map(|AdmissionAsked { key, execution_id, epoch }| {
                        // The lease that was to come, or the one that is there.
                        [epoch, LeaseEpoch(epoch.0 - 1)].map(|epoch| AdmissionRelease {
                            key: key.clone(),
                            execution_id,
                            epoch,
                            is_unused: *is_unused,
                            guard,
                        })
                    });
                let keys = (0..*keys).map(|_| String::new()).collect();
                SettleAdmissionsArgs { policy_id: policy_id(*policy), releases: releases.collect(), keys }
                    .into_operation()
            }
        }
    }

    /// As the store itself answers it.
    pub(super) fn of_engine(&mut self, operation: &Operation, nonce: Nonce) -> Result<Output, Refusal> {
        let checked = operation.check(&self.partitions);
        checked.inspect_err(|refusal| self.coverage.happened(refusal.code.as_str()))?;
        let (reply, claimed) = self.execute(operation, nonce)?;
        let claims = |ClaimDecision { next, limited, admissions, .. }| Claims { claimed, next, limited, admissions };
        Ok(match reply {
            Reply::ClaimDecision(taken) => Output::Claims(claims(taken)),
            Reply::ClaimAdmitted(AdmittedClaim { taken, count, running }) => {
                Output::Admitted(AdmittedClaims { claims: claims(taken), count, running })
            }
            other => Output::Reply(other),
        })
    }

    /// The policies as the home of the namespace has them.
    pub(crate) fn quota_set(&self) -> QuotaSet {
        let namespace = vocabulary::namespace(QUOTA_NAMESPACE);
        self.model.quota_set(namespace_partition(&namespace, &self.partitions), &namespace)
    }

    fn quota_policy(&self, nth: u8) -> Option<QuotaPolicy> {
        self.quota_set().policies.remove(&name(nth))
    }

    /// Each of the jobs under its key in a policy, for the lease that is to come.
    fn asked(&self, policy: u8, jobs: &[u32]) -> Vec<AdmissionAsked> {
        let policy = self.quota_policy(policy);
        let key =
            |execution: &Execution| policy.as_ref().and_then(|policy| policy.slot_for(execution)).map(|slot| slot.key);
        let asked = self.found(jobs).map(|execution| AdmissionAsked {
            key: key(execution).unwrap_or_default(),
            execution_id: execution.id,
            epoch: execution.epoch().next(),
        });
        asked.collect()
    }

    fn found(&self, jobs: &[u32]) -> impl Iterator<Item = &Execution> {
        jobs.iter().filter_map(|job| self.model.find(&self.id(*job)))
    }
}

pub(crate) fn policy_id(nth: u8) -> QuotaPolicyId {
    quota_policy_id(&vocabulary::namespace(QUOTA_NAMESPACE), &name(nth))
}

fn name(nth: u8) -> QuotaName {
    QuotaName::parse(&format!("limit-{nth}")).unwrap()
}

fn claim_id(nth: u8) -> ClaimId {
    ClaimId::from_uuid(vocabulary::uuid(1_000 + u32::from(nth)))
}

/// The definitions the generator chooses from.
fn definition_of(nth: u8) -> QuotaDefinition {
    let rate = Some(Rate { limit: 2, window_ms: 3_000 });
    let (scope, per) = (Scope::Namespace, None);
    match nth {
        0 => QuotaDefinition { scope, per, rate: None, max_concurrent: Some(1) },
        1 => QuotaDefinition { scope, per, rate, max_concurrent: None },
        2 => QuotaDefinition { scope, per: Some(Per::Kind), rate, max_concurrent: Some(2) },
        _ => QuotaDefinition { scope: Scope::Kind(vocabulary::kind(0)), per, rate: None, max_concurrent: None },
    }
}

fn claim(partition: u16, max: usize) -> ClaimArgs {
    ClaimArgs {
        partition,
        namespace: vocabulary::namespace(QUOTA_NAMESPACE),
        lane: LaneId::default_name(),
        kinds: vec![],
        capabilities: vocabulary::capabilities(2),
        assigned: false,
        max,
        holder: vocabulary::holder(0),
        lease_ttl_ms: 5_000,
    }
}
