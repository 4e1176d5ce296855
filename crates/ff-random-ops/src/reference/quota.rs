//! Operations about quotas, built from numbers and from the records of the model.

use super::{Output, Reference, vocabulary};
use crate::prelude::*;
use crate::transition::{QUOTA_NAMESPACE, QuotaOrder};

/// Number of policies to choose from. The last one is a budget.
pub(crate) const POLICIES: u8 = 3;
pub(crate) const BUDGET: u8 = POLICIES - 1;

impl Reference {
    pub(super) fn quota_operation(&self, order: &QuotaOrder) -> Operation {
        let namespace = vocabulary::namespace(QUOTA_NAMESPACE);
        match order {
            QuotaOrder::Put { policy: BUDGET, definition } => {
                let definition = definition.map(budget_definition);
                PutBudgetArgs { namespace, name: budget_name(), definition }.into_operation()
            }
            QuotaOrder::Put { policy, definition } => {
                let definition = definition.map(definition_of);
                PutQuotaArgs { namespace, name: name(*policy), definition }.into_operation()
            }
            QuotaOrder::Define { policy: BUDGET } => {
                let mut set = self.quota_set();
                let budget = set.budgets.remove(&budget_name());
                let revision = budget.as_ref().map_or(set.revision, |budget| budget.revision);
                DefineBudgetArgs { budget_id: the_budget(), revision, budget }.into_operation()
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
                revision: self.policy_revision(*policy),
                claim_id: claim.map(claim_id),
                requests: self.admissions(*policy, jobs),
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
                let admitted = self.executions(jobs).map(request).collect();
                let age_ms = if *is_late { limits::QUOTA_RESERVED_MS } else { 0 };
                let (claim, admitted_at) = (claim(partition, limits::CLAIM_AT_ONCE), self.now() - age_ms);
                AdmittedClaimArgs { claim, admitted, admitted_at, grant: None }.into_operation()
            }
            QuotaOrder::Settle { policy, jobs, is_unused, claim, keys } => {
                let guard = claim.map_or(ReleaseGuard::Any, |claim| ReleaseGuard::Claim(claim_id(claim)));
                let releases =
                    self.admissions(*policy, jobs).into_iter().flat_map(|SlotRequest { key, execution_id, epoch }| {
                        // The epoch of the expected lease, and that of the current lease.
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
            QuotaOrder::Report { job, report, tokens } => {
                let execution = self.model.find(&self.id(*job));
                let last = execution.and_then(|one| match &one.phase {
                    Phase::Running { lease } => Some(lease.fence),
                    _ => one.last_lease.as_ref().map(|last| last.fence),
                });
                let unknown = vocabulary::uuid(*job);
                let fence = last.unwrap_or_else(|| Fence {
                    lease_id: LeaseId::from_uuid(unknown),
                    lease_epoch: LeaseEpoch(1),
                    attempt_id: AttemptId::from_uuid(unknown),
                });
                let report_id = IdempotencyKey::parse(&format!("report-{report}")).unwrap();
                let amounts = Amounts::from([(tokens_name(), *tokens)]);
                ReportUsageArgs { execution_id: self.id(*job), fence, report_id, amounts }.into_operation()
            }
            QuotaOrder::Charge { job } => {
                let (total, counted) = self.usage_of(*job);
                let kind = self.model.find(&self.id(*job)).map_or_else(|| vocabulary::kind(0), |one| one.kind.clone());
                let (budget_id, execution_id) = (the_budget(), self.id(*job));
                ChargeBudgetArgs { budget_id, execution_id, kind, total, counted }.into_operation()
            }
            QuotaOrder::SettleUsage { job } => {
                let (counted, _) = self.usage_of(*job);
                SettleUsageArgs { execution_id: self.id(*job), counted, crossed: vec![the_budget()] }.into_operation()
            }
            QuotaOrder::Reset => ResetBudgetArgs { budget_id: the_budget() }.into_operation(),
        }
    }

    /// Returns the usage of an execution, and the part that is recorded as counted.
    fn usage_of(&self, job: u32) -> (UsageTotal, UsageTotal) {
        let usage = self.model.find(&self.id(job)).and_then(|execution| execution.usage.as_deref());
        let Some(usage) = usage else { return (UsageTotal::default(), UsageTotal::default()) };
        (UsageTotal { seq: usage.seq, amounts: usage.total() }, usage.counted.clone())
    }

    fn policy_revision(&self, policy: u8) -> u64 {
        let set = self.quota_set();
        let budget = set.budgets.values().next().filter(|_| policy == BUDGET).map(|budget| budget.revision);
        budget.or_else(|| self.quota_policy(policy).map(|policy| policy.revision)).unwrap_or(1)
    }

    /// Performs an operation and returns the answer in the form of the store.
    pub(super) fn perform_engine(&mut self, operation: &Operation, nonce: Nonce) -> Result<Output, Refusal> {
        let checked = operation.check(&self.partitions);
        checked.inspect_err(|refusal| self.coverage.record(refusal.code.as_str()))?;
        let (reply, claimed) = self.execute(operation, nonce)?;
        let claims = |ClaimDecision { next, limited, admissions, .. }| Claims { claimed, next, limited, admissions };
        Ok(match reply {
            Reply::ClaimDecision(decision) => Output::Claims(claims(decision)),
            Reply::ClaimAdmitted(AdmittedClaim { decision, count, running }) => {
                Output::Admitted(AdmittedClaims { claims: claims(decision), count, running })
            }
            other => Output::Reply(other),
        })
    }

    /// Returns the policies as the home of the namespace has them.
    pub(crate) fn quota_set(&self) -> QuotaSet {
        let namespace = vocabulary::namespace(QUOTA_NAMESPACE);
        self.model.quota_set(namespace_partition(&namespace, &self.partitions), &namespace)
    }

    fn quota_policy(&self, nth: u8) -> Option<QuotaPolicy> {
        self.quota_set().policies.remove(&name(nth))
    }

    /// Returns a slot request for each of the jobs, under its key in a policy and for its next lease.
    fn admissions(&self, nth: u8, jobs: &[u32]) -> Vec<SlotRequest> {
        let policy = self.quota_policy(nth);
        let key =
            |execution: &Execution| policy.as_ref().and_then(|policy| policy.slot_for(execution)).map(|slot| slot.key);
        let key = |execution: &Execution| if nth == BUDGET { Some(execution.kind.to_string()) } else { key(execution) };
        let admissions = self.executions(jobs).map(|execution| SlotRequest {
            key: key(execution).unwrap_or_default(),
            execution_id: execution.id,
            epoch: execution.epoch().next(),
        });
        admissions.collect()
    }

    fn executions(&self, jobs: &[u32]) -> impl Iterator<Item = &Execution> {
        jobs.iter().filter_map(|job| self.model.find(&self.id(*job)))
    }
}

pub(crate) fn policy_id(nth: u8) -> QuotaPolicyId {
    if nth == BUDGET {
        return the_budget().policy_id();
    }
    quota_policy_id(&vocabulary::namespace(QUOTA_NAMESPACE), &name(nth))
}

fn name(nth: u8) -> QuotaName {
    QuotaName::parse(&format!("limit-{nth}")).unwrap()
}

fn claim_id(nth: u8) -> ClaimId {
    ClaimId::from_uuid(vocabulary::uuid(1_000 + u32::from(nth)))
}

/// Returns the id of the only budget.
pub(crate) fn the_budget() -> BudgetId {
    budget_id(&vocabulary::namespace(QUOTA_NAMESPACE), &budget_name())
}

fn budget_name() -> BudgetName {
    BudgetName::parse("budget").unwrap()
}

fn tokens_name() -> Dimension {
    Dimension::parse("tokens").unwrap()
}

/// Returns one of the budgets that the generator chooses from. The last one is refused.
fn budget_definition(nth: u8) -> BudgetDefinition {
    let limit = |hard, soft| [(tokens_name(), BudgetLimit { hard, soft })].into();
    let estimate = |kind: &str, tokens| [(kind.to_owned(), Amounts::from([(tokens_name(), tokens)]))].into();
    let (scope, on_hard_limit, reset) = (Scope::Namespace, OnHardLimit::Block, Reset::Never);
    match nth {
        0 => {
            let (limits, estimate) = (limit(Some(20), Some(10)), estimate("*", 6));
            BudgetDefinition { scope, limits, reset, on_hard_limit, estimate }
        }
        1 => {
            let (limits, reset) = (limit(Some(9), None), Reset::Interval { every_ms: 3_000 });
            BudgetDefinition { scope, limits, reset, on_hard_limit, estimate: Default::default() }
        }
        2 => {
            let (scope, estimate) = (Scope::Kind(vocabulary::kind(0)), estimate(vocabulary::kind(0).as_str(), 3));
            BudgetDefinition { scope, limits: limit(Some(12), Some(4)), reset, on_hard_limit, estimate }
        }
        _ => BudgetDefinition { scope, limits: limit(None, None), reset, on_hard_limit, estimate: Default::default() },
    }
}

/// Returns one of the definitions that the generator chooses from.
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
