//! Creation and change of a policy: the home of its namespace decides, and its decision is copied to the partitions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::policy::quota_policy_id;
use super::{Per, QuotaPolicy, QuotaSet, QuotaWrites, Rate, Scope};
use crate::engine_error::{Code, Refusal, check_limit, check_range};
use crate::limits;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, namespace_partition};
use crate::rule::view::{Stop, View};
use crate::types::{Namespace, QuotaName, QuotaPolicyId, TimestampMs};

/// Creates, replaces or deletes a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutQuotaArgs {
    pub namespace: Namespace,
    pub name: QuotaName,
    /// Absent to delete the policy.
    pub definition: Option<QuotaDefinition>,
}

/// Definition of a quota policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct QuotaDefinition {
    /// What it applies to: `namespace`, `lane:<lane>`, `kind:<kind>`, `tag:<name>=<value>` or `flow:<id>`.
    pub scope: Scope,
    /// Counts each value separately: `kind`, `namespace` or `tag:<name>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<Per>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Maximum number of executions running at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_concurrent: Option<u32>,
}

impl PutQuotaArgs {
    pub fn policy_id(&self) -> QuotaPolicyId {
        quota_policy_id(&self.namespace, &self.name)
    }

    pub fn check(&self) -> Result<(), Refusal> {
        let Some(definition) = &self.definition else { return Ok(()) };
        if definition.rate.is_none() && definition.max_concurrent.is_none() {
            let why = "must say rate, max_concurrent or both";
            return Err(Refusal::new(Code::InvalidQuotaSpec).at("rate").because(why));
        }
        if let Some(rate) = definition.rate {
            check_range("rate.limit", rate.limit, 1, limits::QUOTA_LIMIT_MAX)?;
            check_range("rate.window_ms", rate.window_ms, limits::QUOTA_WINDOW_MIN_MS, limits::QUOTA_WINDOW_MAX_MS)?;
        }
        match definition.max_concurrent {
            Some(most) => check_range("max_concurrent", most.into(), 1, limits::QUOTA_LIMIT_MAX),
            None => Ok(()),
        }
    }

    /// Returns the policies of the namespace after this change. Repeating the change has no effect, so a caller can
    /// repeat it when some copies did not arrive.
    pub fn apply(&self, mut set: QuotaSet, now: TimestampMs) -> Result<QuotaSet, Refusal> {
        let created_at = set.policies.get(&self.name).map_or(now, |known| known.created_at);
        let policy = self.definition.clone().map(|definition| QuotaPolicy {
            id: self.policy_id(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            scope: definition.scope,
            per: definition.per,
            rate: definition.rate,
            max_concurrent: definition.max_concurrent,
            revision: set.revision + 1,
            created_at,
            changed_at: now,
        });
        let is_same = |known: &QuotaPolicy, new: &QuotaPolicy| {
            (&known.scope, &known.per, known.rate, known.max_concurrent)
                == (&new.scope, &new.per, new.rate, new.max_concurrent)
        };
        set.revision += put_named(&mut set.policies, &self.name, policy, is_same, ("quotas", limits::QUOTAS))?;
        Ok(set)
    }
}

/// Replaces or removes a policy or a budget. Returns the number of changes, which is 0 if it is the same again.
pub(crate) fn put_named<K: Ord + Clone, V>(
    known: &mut BTreeMap<K, V>,
    name: &K,
    new: Option<V>,
    is_same: impl FnOnce(&V, &V) -> bool,
    (field, most): (&str, usize),
) -> Result<u64, Refusal> {
    let Some(new) = new else { return Ok(known.remove(name).map_or(0, |_| 1)) };
    match known.get(name) {
        Some(before) if is_same(before, &new) => return Ok(0),
        Some(_) => {}
        None => check_limit(Code::LimitExceeded, field, most, known.len() + 1)?,
    }
    known.insert(name.clone(), new);
    Ok(1)
}

impl Command for PutQuotaArgs {
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

/// Changes the policies and budgets of a namespace, at its home. A change without effect writes nothing.
pub(crate) fn change_set(
    namespace: &Namespace,
    view: &dyn View,
    at: &Conditions,
    change: impl FnOnce(QuotaSet) -> Result<QuotaSet, Refusal>,
) -> Result<Decision<QuotaSet>, Stop> {
    let home = namespace_partition(namespace, &at.partitions);
    let known = view.quotas(home, namespace)?.cloned();
    let before = known.unwrap_or_else(|| QuotaSet::empty(namespace.clone()));
    let revision = before.revision;
    let after = change(before)?;
    let sets = if after.revision > revision { vec![(home, after.clone())] } else { Vec::new() };
    Ok(Decision::about_quotas(after, QuotaWrites { sets, rows: Vec::new() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(name: &str, max_concurrent: Option<u32>) -> PutQuotaArgs {
        let definition = QuotaDefinition { scope: Scope::Namespace, per: None, rate: None, max_concurrent };
        let name = QuotaName::parse(name).unwrap();
        PutQuotaArgs { namespace: Namespace::default_name(), name, definition: Some(definition) }
    }

    fn with_rate(limit: u64, window_ms: u64) -> PutQuotaArgs {
        let mut args = put("mail", None);
        if let Some(definition) = &mut args.definition {
            definition.rate = Some(Rate { limit, window_ms });
        }
        args
    }

    fn nothing() -> QuotaSet {
        QuotaSet::empty(Namespace::default_name())
    }

    #[test]
    fn the_same_again_changes_nothing() {
        let first = put("mail", Some(2)).apply(nothing(), TimestampMs(1)).unwrap();
        assert_eq!((first.revision, first.policies.len()), (1, 1));
        assert_eq!(put("mail", Some(2)).apply(first.clone(), TimestampMs(2)).unwrap(), first);
        let changed = put("mail", Some(3)).apply(first, TimestampMs(2)).unwrap();
        let policy = &changed.policies[&QuotaName::parse("mail").unwrap()];
        assert_eq!((policy.revision, policy.created_at, policy.changed_at), (2, TimestampMs(1), TimestampMs(2)));
        let gone = PutQuotaArgs { definition: None, ..put("mail", None) };
        let gone_once = gone.apply(changed, TimestampMs(3)).unwrap();
        assert_eq!((gone_once.revision, gone_once.policies.len()), (3, 0), "a policy of this name begins anew");
        assert_eq!(gone.apply(gone_once.clone(), TimestampMs(4)).unwrap(), gone_once);
    }

    #[test]
    fn a_quota_policy_over_the_namespace_limit_is_refused() {
        let mut set = nothing();
        for nth in 0..limits::QUOTAS {
            set = put(&format!("q{nth}"), Some(1)).apply(set, TimestampMs(1)).unwrap();
        }
        let refusal = put("more", Some(1)).apply(set.clone(), TimestampMs(1)).unwrap_err();
        assert_eq!((refusal.code, refusal.limit), (Code::LimitExceeded, Some((256, 257))));
        assert!(put("q0", Some(2)).apply(set, TimestampMs(1)).is_ok(), "one that is there may change");
    }

    #[test]
    fn a_policy_that_limits_nothing_or_too_much_is_refused() {
        assert_eq!(put("mail", None).check().unwrap_err().code, Code::InvalidQuotaSpec);
        let field = |args: PutQuotaArgs| args.check().unwrap_err().field.unwrap();
        assert_eq!(field(put("mail", Some(0))), "max_concurrent");
        assert_eq!(field(put("mail", Some(1_000_001))), "max_concurrent");
        assert_eq!(field(with_rate(0, 1_000)), "rate.limit");
        assert_eq!(field(with_rate(1, 0)), "rate.window_ms");
        assert_eq!(field(with_rate(1, 99)), "rate.window_ms");
        assert_eq!(field(with_rate(1, limits::QUOTA_WINDOW_MAX_MS + 1)), "rate.window_ms");
        assert!(with_rate(1, 100).check().is_ok());
    }
}
