//! The definition of a budget, and its changes at the home of its namespace.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Amounts, Reset};
use crate::engine_error::{Code, Refusal, check_limit};
use crate::limits;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, namespace_partition};
use crate::quota::{QuotaSet, QuotaSlot, Scope, change_set, name_digest, put_named};
use crate::rule::view::{Stop, View};
use crate::state::text_enum;
use crate::types::{BudgetId, BudgetName, Dimension, Kind, Namespace, QuotaPolicyId, TimestampMs};

/// A limit on spending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Budget {
    pub id: BudgetId,
    pub namespace: Namespace,
    pub name: BudgetName,
    pub definition: BudgetDefinition,
    pub revision: u64,
    /// Reset intervals are counted from this time.
    pub created_at: TimestampMs,
    pub changed_at: TimestampMs,
}

/// Definition of a budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct BudgetDefinition {
    /// What it applies to: `namespace`, `lane:<lane>`, `kind:<kind>`, `tag:<name>=<value>`, `flow:<id>` or `execution:<id>`.
    pub scope: Scope,
    /// By dimension: `tokens`, `usd_micros`, `calls`, `seconds` or any other name.
    pub limits: BTreeMap<Dimension, BudgetLimit>,
    #[serde(default)]
    pub reset: Reset,
    #[serde(default)]
    pub on_hard_limit: OnHardLimit,
    /// Amounts a claim reserves, by kind; `*` stands for all other kinds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub estimate: BTreeMap<String, Amounts>,
}

/// Spending limits of one dimension per period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct BudgetLimit {
    /// No execution is admitted once this much is spent and reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard: Option<u64>,
    /// Spending more emits one event per period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft: Option<u64>,
}

text_enum! {
    /// What happens to an execution that exceeds a hard limit.
    #[derive(Default)]
    OnHardLimit {
        /// It may finish; no further execution is admitted.
        #[default]
        Block "block",
        /// It fails with `budget_exceeded`, and is not retried.
        Fail "fail",
        /// Its worker suspends it and asks for approval to continue; no further execution is admitted.
        Suspend "suspend",
    }
}

/// Key of the estimate for all kinds that are not named.
const ANY_KIND: &str = "*";

/// Derives the id of a budget from its name, so that defining it twice makes one budget. The version of the uuid
/// distinguishes it from the id of a quota policy.
pub fn budget_id(namespace: &Namespace, name: &BudgetName) -> BudgetId {
    BudgetId::from_uuid(uuid::Builder::from_custom_bytes(name_digest("budget", namespace, name.as_str())).into_uuid())
}

impl BudgetDefinition {
    /// Raises the hard limit of a dimension; returns false when there is none.
    pub fn raise(&mut self, dimension: &Dimension, amount: u64) -> bool {
        let hard = self.limits.get_mut(dimension).and_then(|limit| limit.hard.as_mut());
        hard.map(|hard| *hard = hard.saturating_add(amount)).is_some()
    }
}

impl BudgetId {
    /// Returns the id that admission uses for the budget, in place of the id of a quota policy.
    pub fn policy_id(&self) -> QuotaPolicyId {
        QuotaPolicyId::from_uuid(*self.as_uuid())
    }
}

impl QuotaPolicyId {
    /// Returns the budget with this id; `None` if it is the id of a quota policy.
    pub fn budget(&self) -> Option<BudgetId> {
        (self.as_uuid().get_version_num() == 8).then(|| BudgetId::from_uuid(*self.as_uuid()))
    }
}

impl Budget {
    /// Returns its slot among those that an execution of this kind needs. A budget counts all kinds together; the kind
    /// selects the estimate.
    pub fn slot(&self, kind: &Kind) -> QuotaSlot {
        QuotaSlot { policy_id: self.id.policy_id(), key: kind.to_string(), revision: self.revision }
    }

    /// Returns the amounts that a claim of this kind reserves.
    pub fn estimate(&self, kind: &str) -> Amounts {
        let estimate = &self.definition.estimate;
        estimate.get(kind).or_else(|| estimate.get(ANY_KIND)).cloned().unwrap_or_default()
    }
}

/// Creates, replaces or deletes a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutBudgetArgs {
    pub namespace: Namespace,
    pub name: BudgetName,
    /// Absent to delete the budget.
    pub definition: Option<BudgetDefinition>,
}

impl PutBudgetArgs {
    pub fn budget_id(&self) -> BudgetId {
        budget_id(&self.namespace, &self.name)
    }

    pub fn check(&self) -> Result<(), Refusal> {
        let Some(definition) = &self.definition else { return Ok(()) };
        let BudgetDefinition { limits: by_dimension, estimate, reset, .. } = definition;
        if by_dimension.values().all(|limit| limit.hard.is_none() && limit.soft.is_none()) {
            return Err(Refusal::invalid("limits", "must give at least one dimension a hard or a soft limit"));
        }
        check_limit(Code::LimitExceeded, "limits", limits::BUDGET_DIMENSIONS, by_dimension.len())?;
        for (dimension, limit) in by_dimension {
            for (word, amount) in [("hard", limit.hard), ("soft", limit.soft)] {
                check_amount(&format!("limits.{dimension}.{word}"), amount.unwrap_or(0))?;
            }
        }
        check_limit(Code::LimitExceeded, "estimate", limits::BUDGET_ESTIMATES, estimate.len())?;
        for (kind, amounts) in estimate {
            if kind != ANY_KIND {
                Kind::parse(kind).map_err(|error| Refusal::invalid("estimate", format!("kind {kind:?}: {error}")))?;
            }
            for (dimension, amount) in amounts {
                let field = format!("estimate.{kind}.{dimension}");
                let hard = by_dimension.get(dimension).and_then(|limit| limit.hard);
                let hard = hard.ok_or_else(|| Refusal::invalid(&field, "must be a dimension with a hard limit"))?;
                check_limit(Code::LimitExceeded, &field, hard, *amount)?;
            }
        }
        reset.check()
    }

    /// Returns the namespace's policies and budgets with this change. The same definition again changes nothing, so that
    /// a change that did not reach all copies can be repeated.
    pub fn apply(&self, mut set: QuotaSet, now: TimestampMs) -> Result<QuotaSet, Refusal> {
        let created_at = set.budgets.get(&self.name).map_or(now, |known| known.created_at);
        let budget = self.definition.clone().map(|definition| Budget {
            id: self.budget_id(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            definition,
            revision: set.revision + 1,
            created_at,
            changed_at: now,
        });
        let is_same = |known: &Budget, new: &Budget| known.definition == new.definition;
        set.revision += put_named(&mut set.budgets, &self.name, budget, is_same, ("budgets", limits::BUDGETS))?;
        Ok(set)
    }
}

/// Refuses an amount that cannot be counted exactly everywhere.
pub(super) fn check_amount(field: &str, amount: u64) -> Result<(), Refusal> {
    check_limit(Code::LimitExceeded, field, limits::AMOUNT_MAX, amount)
}

impl Command for PutBudgetArgs {
    type Reply = QuotaSet;

    fn check(&self, _: &PartitionConfig) -> Result<(), Refusal> {
        self.check()
    }

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        namespace_partition(&self.namespace, partitions)
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<QuotaSet>, Stop> {
        change_set(&self.namespace, view, at, |before| self.apply(before, at.now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(json: &str) -> PutBudgetArgs {
        let definition = Some(serde_json::from_str(json).unwrap());
        PutBudgetArgs { namespace: Namespace::default_name(), name: "daily".parse().unwrap(), definition }
    }

    #[test]
    fn a_budget_that_makes_no_sense_is_refused() {
        let field = |json: &str| put(json).check().unwrap_err().field.unwrap();
        assert_eq!(field(r#"{"scope":"namespace","limits":{}}"#), "limits");
        assert_eq!(field(r#"{"scope":"namespace","limits":{"tokens":{}}}"#), "limits");
        assert_eq!(field(r#"{"scope":"namespace","limits":{"t":{"hard":9007199254740992}}}"#), "limits.t.hard");
        let estimate = |text: &str| {
            format!(r#"{{"scope":"namespace","limits":{{"t":{{"hard":5}},"s":{{"soft":1}}}},"estimate":{text}}}"#)
        };
        assert_eq!(field(&estimate(r#"{"*":{"t":6}}"#)), "estimate.*.t");
        assert_eq!(field(&estimate(r#"{"*":{"s":1}}"#)), "estimate.*.s");
        assert_eq!(field(&estimate(r#"{"a b":{"t":1}}"#)), "estimate");
        assert!(put(&estimate(r#"{"*":{"t":5},"resize":{"t":1}}"#)).check().is_ok());
        for wrong in [
            r#"{"scope":"namespace","limits":{"t":{"hard":-1}}}"#,
            r#"{"scope":"namespace","limits":{"t":{"hard":18446744073709551616}}}"#,
            r#"{"scope":"namespace","limits":{"a:b":{"hard":1}}}"#,
            r#"{"scope":"namespace","limits":{"t":{"hard":1}},"on_hard_limit":"explode"}"#,
        ] {
            assert!(serde_json::from_str::<BudgetDefinition>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_same_again_changes_nothing_and_a_change_keeps_the_beginning() {
        let one = put(r#"{"scope":"namespace","limits":{"t":{"hard":5}}}"#);
        let first = one.apply(QuotaSet::empty(Namespace::default_name()), TimestampMs(1)).unwrap();
        assert_eq!(one.apply(first.clone(), TimestampMs(2)).unwrap(), first);
        let changed = put(r#"{"scope":"namespace","limits":{"t":{"hard":6}}}"#).apply(first, TimestampMs(2)).unwrap();
        let budget = &changed.budgets[&one.name];
        assert_eq!((budget.revision, budget.created_at, budget.changed_at), (2, TimestampMs(1), TimestampMs(2)));
        let gone = PutBudgetArgs { definition: None, ..one }.apply(changed, TimestampMs(3)).unwrap();
        assert_eq!((gone.revision, gone.budgets.len()), (3, 0));
    }

    #[test]
    fn an_id_says_whether_it_is_that_of_a_budget() {
        let id = budget_id(&Namespace::default_name(), &"daily".parse().unwrap());
        assert_eq!(id.policy_id().budget(), Some(id));
        assert_eq!(crate::quota::quota_policy_id(&Namespace::default_name(), &"daily".parse().unwrap()).budget(), None);
    }

    #[test]
    fn the_estimate_of_a_kind_goes_before_that_of_all() {
        let json = r#"{"scope":"namespace","limits":{"t":{"hard":9}},"estimate":{"*":{"t":5},"resize":{"t":1}}}"#;
        let set = put(json).apply(QuotaSet::empty(Namespace::default_name()), TimestampMs(1)).unwrap();
        let budget = set.budgets.values().next().unwrap();
        let tokens = |kind: &str| budget.estimate(kind).values().copied().collect::<Vec<_>>();
        assert_eq!((tokens("resize"), tokens("other")), (vec![1], vec![5]));
    }
}
