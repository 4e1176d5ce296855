//! Resetting: an operator resets a budget before its period ends.

use serde::{Deserialize, Serialize};

use super::ledger::BudgetLedger;
use crate::engine_error::Code;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, quota_home};
use crate::rule::view::{Stop, View};
use crate::types::{BudgetId, TimestampMs};

/// Resets a budget. The next scheduled reset keeps its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetBudgetArgs {
    pub budget_id: BudgetId,
}

/// The budget is reset: nothing is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BudgetReset {
    /// When it next resets by itself; absent when it never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_reset_at: Option<TimestampMs>,
}

impl Command for ResetBudgetArgs {
    type Reply = BudgetReset;

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        quota_home(&self.budget_id.policy_id(), partitions)
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<BudgetReset>, Stop> {
        let mut ledger = BudgetLedger::of(view, self.budget_id);
        ledger.require(None)?;
        let budget = ledger.definition()?.and_then(|(_, budget)| budget).ok_or(Code::BudgetNotFound)?;
        let mut balance = ledger.balance(Some(&budget), at.now)?;
        balance.used.clear();
        balance.crossings.clear();
        let next_reset_at = balance.period.until;
        ledger.put_balance(balance);
        Ok(ledger.into_decision(BudgetReset { next_reset_at }))
    }
}
