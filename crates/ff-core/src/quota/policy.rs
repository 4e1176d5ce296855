//! The policies of a namespace, and which of them apply to an execution.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Per, Scope};
use crate::budget::{Budget, OnHardLimit};
use crate::execution::Execution;
use crate::types::{BudgetName, Namespace, QuotaName, QuotaPolicyId, TimestampMs};

/// A limit on claims of executions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct QuotaPolicy {
    pub id: QuotaPolicyId,
    pub namespace: Namespace,
    pub name: QuotaName,
    pub scope: Scope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<Per>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Maximum number of executions running at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_concurrent: Option<u32>,
    pub revision: u64,
    pub created_at: TimestampMs,
    pub changed_at: TimestampMs,
}

/// Maximum number of claims within any window of this length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Rate {
    pub limit: u64,
    pub window_ms: u64,
}

/// The policies of a namespace, as decided at its home or as known to a partition. The higher revision is the current one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaSet {
    pub namespace: Namespace,
    pub revision: u64,
    pub policies: BTreeMap<QuotaName, QuotaPolicy>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub budgets: BTreeMap<BudgetName, Budget>,
}

/// The place of an execution in a policy: the value of the policy's key under which the execution counts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct QuotaSlot {
    pub policy_id: QuotaPolicyId,
    pub key: String,
    /// The revision of the policy.
    pub revision: u64,
}

/// Returns the id of a policy. It is derived from the name, so that putting the policy twice creates one policy.
pub fn quota_policy_id(namespace: &Namespace, name: &QuotaName) -> QuotaPolicyId {
    QuotaPolicyId::from_uuid(uuid::Builder::from_sha1_bytes(name_digest("quota", namespace, name.as_str())).into_uuid())
}

/// Returns the bytes of an id that is derived from a name.
pub(crate) fn name_digest(purpose: &str, namespace: &Namespace, name: &str) -> [u8; 16] {
    let digest = Sha256::digest(format!("{purpose}{namespace}/{name}"));
    std::array::from_fn(|nth| digest[nth])
}

impl QuotaSet {
    /// Returns the set of a namespace without policies.
    pub fn empty(namespace: Namespace) -> Self {
        Self { namespace, revision: 0, policies: BTreeMap::new(), budgets: BTreeMap::new() }
    }

    /// Returns the slots that an execution needs before it is claimed: of quota policies in the order of their names, then of
    /// budgets. Once an execution's pause because of a budget was answered, budgets that suspend no longer limit it.
    pub fn slots_for(&self, execution: &Execution) -> Vec<QuotaSlot> {
        let is_answered = execution.last_suspension.as_ref().is_some_and(|past| past.is_answered_pause());
        let lets_go_on = |budget: &&Budget| is_answered && budget.definition.on_hard_limit == OnHardLimit::Suspend;
        let budgets = self.budgets_for(execution).filter(|budget| !lets_go_on(budget));
        let budgets = budgets.map(|budget| budget.slot(&execution.kind));
        self.policies.values().filter_map(|policy| policy.slot_for(execution)).chain(budgets).collect()
    }

    /// Returns the budgets that an execution is charged to, in the order of their names.
    pub fn budgets_for<'s>(&'s self, execution: &Execution) -> impl Iterator<Item = &'s Budget> {
        self.budgets.values().filter(move |budget| budget.definition.scope.takes_in(execution))
    }

    /// Returns whether the namespace has no policy and no budget.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty() && self.budgets.is_empty()
    }
}

impl QuotaPolicy {
    /// Returns the slot of an execution in this policy; `None` when the policy does not apply to it.
    pub fn slot_for(&self, execution: &Execution) -> Option<QuotaSlot> {
        if !self.scope.takes_in(execution) {
            return None;
        }
        let key = self.per.as_ref().map_or_else(|| Some(String::new()), |per| per.key_of(execution))?;
        Some(QuotaSlot { policy_id: self.id, key, revision: self.revision })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_policy_follows_from_its_name() {
        let id = |namespace: &str, name: &str| {
            quota_policy_id(&Namespace::parse(namespace).unwrap(), &QuotaName::parse(name).unwrap())
        };
        assert_eq!(id("a", "mail"), id("a", "mail"));
        assert_ne!(id("a", "mail"), id("b", "mail"));
        assert_ne!(id("a", "mail"), id("a", "post"));
        assert_eq!(id("a", "mail").as_uuid().get_version_num(), 5);
    }
}
