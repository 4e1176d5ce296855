//! Metrics of admission: quota decisions, blocked executions, and how long they were blocked.

use std::time::Duration;

use ff_core::contracts::{AdmissionVerdict, AdmissionVerdicts, UnblockedExecutions};
use ff_core::execution::Blocker;
use ff_core::state::BlockingReason;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use super::labels::WordLabel;
use super::register::{HistogramFamily, enter, long_family};

pub(super) struct Admission {
    verdicts: Family<WordLabel, Counter>,
    blocked: Family<WordLabel, Counter>,
    wait: HistogramFamily<WordLabel>,
    soft_exceeded: Counter,
}

impl Admission {
    /// Registers the metrics. Counters begin at zero, so that the first event is an increase.
    pub(super) fn registered(registry: &mut Registry) -> Self {
        let admission = Self {
            verdicts: enter(registry, "quota_verdicts", "Answers of quotas and budgets to claims", Family::default()),
            blocked: enter(registry, "blocked", "Executions blocked by admission, by reason", Family::default()),
            soft_exceeded: enter(
                registry,
                "budget_soft_exceeded",
                "Usage reports that were the first to exceed a soft limit within a period",
                Counter::default(),
            ),
            wait: enter(
                registry,
                "admission_wait_seconds",
                "Time for which admission blocked executions",
                long_family(),
            ),
        };
        for word in ["admitted", "no_slot", "no_budget", "window_full"] {
            drop(admission.verdicts.get_or_create(&verdict(word)));
        }
        for on in Blocker::ADMISSION {
            drop(admission.blocked.get_or_create(&reason(on.reason())));
            if !matches!(on, Blocker::Operator | Blocker::Assignment) {
                drop(admission.wait.get_or_create(&reason(on.reason())));
            }
        }
        admission
    }

    /// Counts the verdicts of a quota. An execution with a retry time waits until then.
    pub(super) fn count_verdicts(&self, answer: &AdmissionVerdicts) {
        for one in &answer.verdicts {
            let word = match one {
                AdmissionVerdict::Admitted => "admitted",
                AdmissionVerdict::ReservedForOther => continue,
                AdmissionVerdict::Refused { dimension: Some(_), .. } => "no_budget",
                AdmissionVerdict::Refused { retry_at: None, .. } => "no_slot",
                AdmissionVerdict::Refused { retry_at: Some(at), .. } => {
                    self.waited(BlockingReason::WaitingForQuota, at.since(answer.at));
                    "window_full"
                }
            };
            self.verdicts.get_or_create(&verdict(word)).inc();
        }
    }

    /// Counts the budgets whose soft limit a usage report was the first to exceed.
    pub(super) fn soft_exceeded(&self, count: usize) {
        self.soft_exceeded.inc_by(count as u64);
    }

    /// Counts blocked executions.
    pub(super) fn blocked(&self, why: BlockingReason, count: usize) {
        self.blocked.get_or_create(&reason(why)).inc_by(count as u64);
    }

    /// Records how long unblocked executions were blocked.
    pub(super) fn unblocked(&self, why: BlockingReason, answer: &UnblockedExecutions) {
        answer.waits_ms.iter().for_each(|ms| self.waited(why, *ms));
    }

    fn waited(&self, why: BlockingReason, ms: u64) {
        self.wait.get_or_create(&reason(why)).observe(Duration::from_millis(ms).as_secs_f64());
    }
}

fn verdict(word: &'static str) -> WordLabel {
    WordLabel { label: "verdict", word }
}

fn reason(why: BlockingReason) -> WordLabel {
    WordLabel { label: "reason", word: why.as_str() }
}
