//! The keys of a budget and of the budgets on a partition.

use super::{key_functions, keys};
use crate::types::BudgetId;

/// The prefix of every key of a counted usage report.
pub const USAGE_DEDUP_KEY_PREFIX: &str = "ff:usagededup:";

keys! {
    /// A builder of the keys of one budget.
    BudgetKeyContext { tag, bid: BudgetId }

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

key_functions! {
    /// Returns the key of the budgets attached to a scope. It is reserved and not written.
    budget_attach_key(tag: &str, scope_type: &str, scope_id: &str) => "ff:budget_attach:{tag}:{scope_type}:{scope_id}";
    /// Returns the key of a partition's budgets by their next reset. It is reserved and not written.
    budget_resets_key(tag: &str) => "ff:idx:{tag}:budget_resets";
    /// Returns the key of the budgets of a partition.
    budget_policies_index(tag: &str) => "ff:idx:{tag}:budget_policies";
    /// Returns the key of the mark that a usage report was counted, so that a repeated report counts once.
    usage_dedup_key(hash_tag: &str, dedup_id: &str) => "ff:usagededup:{hash_tag}:{dedup_id}";
}
