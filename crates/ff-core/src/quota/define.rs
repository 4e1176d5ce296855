//! Defining: the home of a policy learns its definition.

use serde::{Deserialize, Serialize};

use super::ledger::Ledger;
use super::{QuotaPolicy, QuotaRow, QuotaRowName};
use crate::engine_error::Refusal;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, quota_home};
use crate::types::QuotaPolicyId;
use crate::view::{Stop, View};

/// Tells the home of a policy how it is defined, or that it is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefineQuotaArgs {
    pub policy_id: QuotaPolicyId,
    /// Of the namespace's policies.
    pub revision: u64,
    pub policy: Option<QuotaPolicy>,
}

/// Which revision the home knows then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaDefined {
    pub revision: u64,
}

impl Command for DefineQuotaArgs {
    type Reply = QuotaDefined;

    fn check(&self, _: &PartitionConfig) -> Result<(), Refusal> {
        Ok(())
    }

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        quota_home(&self.policy_id, partitions)
    }

    /// Takes over a newer definition.
    fn decide(&self, view: &dyn View, _: &Conditions) -> Result<Decision<QuotaDefined>, Stop> {
        let mut ledger = Ledger::of(view, self.policy_id);
        let known = ledger.definition()?.map_or(0, |(revision, _)| revision);
        if known < self.revision {
            let row = QuotaRow::Policy { revision: self.revision, policy: self.policy.clone() };
            ledger.put(QuotaRowName::Policy, row);
        }
        Ok(ledger.into_decision(QuotaDefined { revision: known.max(self.revision) }))
    }
}
