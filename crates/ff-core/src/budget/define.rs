//! Defining: stores the definition of a budget at its home.

use super::Budget;
use super::ledger::BudgetLedger;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, quota_home};
use crate::quota::contracts::QuotaDefined;
use crate::rule::view::{Stop, View};
use crate::types::BudgetId;

/// Stores the definition or the deletion of a budget at its home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefineBudgetArgs {
    pub budget_id: BudgetId,
    /// Revision of the namespace's set of policies and budgets.
    pub revision: u64,
    pub budget: Option<Budget>,
}

impl Command for DefineBudgetArgs {
    type Reply = QuotaDefined;

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        quota_home(&self.budget_id.policy_id(), partitions)
    }

    /// Stores a newer definition. If the budget was deleted and created again, nothing is used of it.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<QuotaDefined>, Stop> {
        let mut ledger = BudgetLedger::of(view, self.budget_id);
        ledger.require(None)?;
        let known = ledger.definition()?;
        let revision = known.as_ref().map_or(0, |(revision, _)| *revision);
        if revision < self.revision {
            let mut balance = ledger.balance(self.budget.as_ref(), at.now)?;
            let begun = |budget: &Budget| budget.created_at;
            let before = known.and_then(|(_, budget)| budget);
            if let Some(budget) = &self.budget
                && before.as_ref().map(begun) != Some(begun(budget))
            {
                balance.used.clear();
                balance.crossings.clear();
            }
            ledger.put_balance(balance);
            ledger.put_definition(self.revision, self.budget.clone());
        }
        Ok(ledger.into_decision(QuotaDefined { revision: revision.max(self.revision) }))
    }
}
