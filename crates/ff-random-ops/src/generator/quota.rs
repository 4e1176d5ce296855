//! Choice of operations about quotas.

use ff_core::execution::{Execution, Phase};

use super::Generator;
use crate::reference::{Reference, vocabulary};
use crate::transition::{Policies, QUOTA_NAMESPACE, QuotaOrder, Submission, Transition};

impl Generator {
    pub(super) fn about_quotas(&mut self, reference: &Reference) -> Transition {
        let policy = *self.quotas.pick(&[0, 0, 1, 2, 2]);
        let waits = |one: &Execution| one.phase == Phase::Waiting;
        let claim = (!self.quotas.one_in(5)).then(|| *self.quotas.pick(&[0, 0, 1]));
        Transition::Quota(match self.quotas.below(50) {
            0..8 => {
                return Transition::Submit(Submission {
                    job: self.next_job(),
                    namespace: QUOTA_NAMESPACE,
                    lane: 0,
                    kind: *self.quotas.pick(&[0, 1]),
                    payload: 3,
                    priority: 0,
                    tags: *self.quotas.pick(&[0, 1]),
                    key: None,
                    start: ff_core::contracts::Start::Now,
                    policy: Policies::None,
                    rule: None,
                });
            }
            8..10 => {
                let definition = (!self.quotas.one_in(8)).then(|| *self.quotas.pick(&[0, 1, 2, 3]));
                QuotaOrder::Put { policy, definition }
            }
            10..13 => QuotaOrder::Define { policy },
            13..16 => QuotaOrder::Copy { partition: self.partition(reference) },
            16..22 => QuotaOrder::Claim { partition: self.partition(reference), max: *self.quotas.pick(&[1, 2, 10]) },
            22..30 => {
                QuotaOrder::Admit { policy, jobs: self.jobs_of_quotas(reference, |one| !one.is_finished()), claim }
            }
            30..34 => {
                // A claim lists each execution once.
                let mut jobs = self.jobs_of_quotas(reference, waits);
                jobs.sort_unstable();
                jobs.dedup();
                QuotaOrder::ClaimAdmitted { jobs, is_late: self.quotas.one_in(8) }
            }
            34..36 => QuotaOrder::Charge { job: self.job_of_quotas(reference) },
            36..38 => QuotaOrder::SettleUsage { job: self.job_of_quotas(reference) },
            38 => QuotaOrder::Reset,
            39..43 => QuotaOrder::Report {
                job: self.job_of_quotas(reference),
                report: *self.quotas.pick(&[0, 1, 2, 3, 4, 5]),
                tokens: *self.quotas.pick(&[0, 1, 2, 5]),
            },
            _ => QuotaOrder::Settle {
                policy,
                jobs: self.jobs_of_quotas(reference, |_| true),
                is_unused: self.quotas.one_in(2),
                claim,
                keys: u8::from(self.quotas.one_in(3)),
            },
        })
    }

    /// Returns a job of the namespace with quotas, or one that does not exist.
    fn job_of_quotas(&mut self, reference: &Reference) -> u32 {
        self.jobs_of_quotas(reference, |_| true).first().copied().unwrap_or(u32::MAX)
    }

    /// Returns up to three jobs of the namespace with quotas, all of one partition. A job may occur more than once.
    fn jobs_of_quotas(&mut self, reference: &Reference, suits: impl Fn(&Execution) -> bool) -> Vec<u32> {
        let namespace = vocabulary::namespace(QUOTA_NAMESPACE);
        let fits = |one: &Execution| one.namespace == namespace && suits(one);
        let all = reference.jobs().filter(|(_, id)| reference.model.find(id).is_some_and(fits));
        let all: Vec<_> = all.collect();
        let recent = &all[all.len().saturating_sub(9)..];
        let Some(first) = (!recent.is_empty()).then(|| *self.quotas.pick(recent)) else { return Vec::new() };
        let beside: Vec<_> = recent.iter().filter(|(_, id)| id.partition() == first.1.partition()).collect();
        let mut jobs = vec![first.0];
        for _ in 0..self.quotas.below(3) {
            jobs.push(self.quotas.pick(&beside).0);
        }
        jobs
    }
}
