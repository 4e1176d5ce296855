//! The keys of a budget and of the budgets on a partition.

use super::keys;
use crate::partition::Partition;
use crate::types::BudgetId;

/// The prefix of every key of a counted usage report.
pub const USAGE_DEDUP_KEY_PREFIX: &str = "ff:usagededup:";

/// A builder of the keys of one budget.
#[derive(Clone, Debug)]
pub struct BudgetKeyContext {
    tag: String,
    bid: String,
}

impl BudgetKeyContext {
    /// Returns the builder for the budget `bid`, which is on `partition`.
    pub fn new(partition: &Partition, bid: &BudgetId) -> Self {
        Self { tag: partition.hash_tag(), bid: bid.to_string() }
    }

    /// Returns the hash tag that all these keys share, with its braces.
    pub fn hash_tag(&self) -> &str {
        &self.tag
    }
}

keys! { BudgetKeyContext { tag, bid }
    /// The definition of the budget: name, enforcement, reset and estimates.
    definition() => "ff:budget:{tag}:{bid}";
    /// The hard and soft limits, by dimension.
    limits() => "ff:budget:{tag}:{bid}:limits";
    /// The spent and reserved amounts, by dimension.
    usage() => "ff:budget:{tag}:{bid}:usage";
    /// The reserved and spent amounts of each execution.
    executions() => "ff:budget:{tag}:{bid}:executions";
    /// The executions that wait for the budget, by their place.
    waiters() => "ff:budget:{tag}:{bid}:waiters";
    /// The executions that drew on the budget, in the order of their first draw.
    draws() => "ff:budget:{tag}:{bid}:draws";
}

/// Returns the key of the budgets attached to a scope. It is reserved and not written.
pub fn budget_attach_key(tag: &str, scope_type: &str, scope_id: &str) -> String {
    format!("ff:budget_attach:{tag}:{scope_type}:{scope_id}")
}

/// Returns the key of a partition's budgets by their next reset. It is reserved and not written.
pub fn budget_resets_key(tag: &str) -> String {
    format!("ff:idx:{tag}:budget_resets")
}

/// Returns the key of the budgets of a partition.
pub fn budget_policies_index(tag: &str) -> String {
    format!("ff:idx:{tag}:budget_policies")
}

/// Returns the key of the mark that a usage report was counted, so that a repeated report counts once.
pub fn usage_dedup_key(hash_tag: &str, dedup_id: &str) -> String {
    format!("{USAGE_DEDUP_KEY_PREFIX}{hash_tag}:{dedup_id}")
}
