//! Definition of a policy at the home of the policy.

use serde::{Deserialize, Serialize};

use super::ledger::Ledger;
use super::{QuotaPolicy, QuotaRow, QuotaRowName};
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, quota_home};
use crate::rule::view::{Stop, View};
use crate::types::QuotaPolicyId;

/// Sends a policy's definition, or its deletion, to the home of the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefineQuotaArgs {
    pub policy_id: QuotaPolicyId,
    /// The revision of the namespace's policies.
    pub revision: u64,
    pub policy: Option<QuotaPolicy>,
}

/// The revision that the home knows afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaDefined {
    pub revision: u64,
}

impl Command for DefineQuotaArgs {
    type Reply = QuotaDefined;

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        quota_home(&self.policy_id, partitions)
    }

    /// Stores the definition if it is newer than the one that the home knows.
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
