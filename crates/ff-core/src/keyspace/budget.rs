//! The keys of a budget and of the budgets on a partition.

use super::keys;
use crate::partition::Partition;
use crate::types::BudgetId;

/// The prefix of every key of a counted usage report.
pub const USAGE_DEDUP_KEY_PREFIX: &str = "ff:usagededup:";

/// Builds the keys of one budget.
#[derive(Clone, Debug)]
pub struct BudgetKeyContext {
    tag: String,
    bid: String,
}

impl BudgetKeyContext {
    /// The keys of the budget `bid`, which lives on `partition`.
    pub fn new(partition: &Partition, bid: &BudgetId) -> Self {
        Self { tag: partition.hash_tag(), bid: bid.to_string() }
    }

    /// The tag all these keys share, with its braces.
    pub fn hash_tag(&self) -> &str {
        &self.tag
    }
}

keys! { BudgetKeyContext { tag, bid }
    /// Its scope, enforcement and reset.
    definition() => "ff:budget:{tag}:{bid}";
    /// Its hard and soft limits, by dimension.
    limits() => "ff:budget:{tag}:{bid}:limits";
    /// The spent and reserved amounts, by dimension.
    usage() => "ff:budget:{tag}:{bid}:usage";
    /// The reserved and spent amounts of each execution.
    executions() => "ff:budget:{tag}:{bid}:executions";
    /// The executions that wait for it, by their place.
    waiters() => "ff:budget:{tag}:{bid}:waiters";
    /// The executions that drew on it, in the order they began.
    draws() => "ff:budget:{tag}:{bid}:draws";
}

/// The budgets attached to a scope.
pub fn budget_attach_key(tag: &str, scope_type: &str, scope_id: &str) -> String {
    format!("ff:budget_attach:{tag}:{scope_type}:{scope_id}")
}

/// The budgets of a partition, by their next reset.
pub fn budget_resets_key(tag: &str) -> String {
    format!("ff:idx:{tag}:budget_resets")
}

/// The budgets that live on a partition.
pub fn budget_policies_index(tag: &str) -> String {
    format!("ff:idx:{tag}:budget_policies")
}

/// That a usage report has been counted, so that sending it twice counts it once.
pub fn usage_dedup_key(hash_tag: &str, dedup_id: &str) -> String {
    format!("{USAGE_DEDUP_KEY_PREFIX}{hash_tag}:{dedup_id}")
}
