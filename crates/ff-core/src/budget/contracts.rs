//! Arguments and replies about budgets, from callers and between partitions.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::ledger::add;
use super::{Amounts, Balance, Budget, Draw, Period, Usage};
use crate::execution::Execution;
use crate::quota::QuotaRow;
use crate::types::{AttemptIndex, BudgetId, BudgetName, Dimension, Namespace, TimestampMs};

pub use super::charge::{BudgetAnswer, BudgetState, BudgetStatus, ChargeBudgetArgs, UsageTotal};
pub use super::define::DefineBudgetArgs;
pub use super::definition::PutBudgetArgs;
pub use super::restart::{BudgetReset, ResetBudgetArgs};
pub use super::usage::{PendingUsage, ReportUsageArgs, SettleUsageArgs, UsageReported, UsageSettled};

/// Budgets of a namespace, ordered by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Budgets {
    pub budgets: Vec<Budget>,
}

/// The reply to a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BudgetDeleted {
    /// True when it did not exist.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub already: bool,
}

/// A budget, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetRef {
    pub namespace: Namespace,
    pub name: BudgetName,
}

/// A budget and its usage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BudgetInfo {
    #[serde(flatten)]
    pub budget: Budget,
    pub period: Period,
    /// By dimension.
    pub balance: BTreeMap<Dimension, DimensionBalance>,
    /// Upper bound of the executions waiting for it; cancelled ones count until their turn.
    pub waiting: u64,
}

/// Usage of one dimension of a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DimensionBalance {
    /// Spent within the period.
    pub used: u64,
    /// Reserved for executions that run or are about to start.
    pub reserved: u64,
    /// Spent since the budget was created.
    pub spent: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft: Option<u64>,
}

impl BudgetInfo {
    /// Returns a budget with its balance at `now`. If the stored period is over, nothing is used in the present one.
    pub fn of(budget: Budget, balance: &Balance, now: TimestampMs) -> Self {
        let period = budget.definition.reset.period_at(budget.created_at, now);
        let amount = |amounts: &Amounts, dimension| amounts.get(dimension).copied().unwrap_or(0);
        let is_over = balance.period.from < period.from;
        let by_dimension = budget.definition.limits.iter().map(|(dimension, limit)| {
            let used = if is_over { 0 } else { amount(&balance.used, dimension) };
            let (reserved, spent) = (amount(&balance.reserved, dimension), amount(&balance.spent, dimension));
            (dimension.clone(), DimensionBalance { used, reserved, spent, hard: limit.hard, soft: limit.soft })
        });
        Self { balance: by_dimension.collect(), period, waiting: balance.waiting(), budget }
    }
}

/// Usage of an execution or a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UsageInfo {
    pub usage: Amounts,
    /// By attempt; only for an execution.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attempts: BTreeMap<AttemptIndex, Amounts>,
}

impl UsageInfo {
    /// Returns the usage of an execution.
    pub fn of(execution: &Execution) -> Self {
        let usage = execution.usage.as_deref();
        Self {
            usage: usage.map(Usage::total).unwrap_or_default(),
            attempts: usage.map(|usage| usage.by_attempt.clone()).unwrap_or_default(),
        }
    }

    /// Adds the usage of another execution, without its attempts.
    pub fn add(&mut self, other: &Self) {
        other.usage.iter().for_each(|(dimension, amount)| add(&mut self.usage, dimension, *amount));
    }
}

/// Request for executions of a namespace whose usage some budget may not have counted, at most `limit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageBacklogArgs {
    pub namespace: Namespace,
    pub limit: usize,
}

/// The balance of a budget and, for the doctor, the sums of its draws.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BudgetLedgerSums {
    pub balance: Balance,
    pub drawn: Amounts,
    pub reserved: Amounts,
}

impl BudgetLedgerSums {
    /// Sums up the rows of a budget.
    pub fn of<'r>(rows: impl Iterator<Item = &'r QuotaRow>) -> Self {
        let mut sums = Self::default();
        for row in rows {
            match row {
                QuotaRow::Balance(balance) => sums.balance = (**balance).clone(),
                QuotaRow::Draw(draw) => sums.add(draw),
                _ => {}
            }
        }
        sums
    }

    /// Adds the draw of an execution.
    pub fn add(&mut self, draw: &Draw) {
        draw.seen.iter().for_each(|(dimension, amount)| add(&mut self.drawn, dimension, *amount));
        draw.reserved.iter().for_each(|(dimension, amount)| add(&mut self.reserved, dimension, *amount));
    }

    /// Returns the mismatches of the sums: `spent` must equal the draws plus `folded`, and `reserved` the sum of the
    /// draws' reservations.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let Balance { spent, folded, .. } = &self.balance;
        let dimensions: BTreeSet<_> = spent.keys().chain(folded.keys()).chain(self.drawn.keys()).collect();
        for dimension in dimensions {
            let of = |amounts: &Amounts| i128::from(amounts.get(dimension).copied().unwrap_or(0));
            let accounted = of(&self.drawn) + i128::from(folded.get(dimension).copied().unwrap_or(0));
            if of(spent) != accounted {
                faults.push(format!("{} of {dimension} are spent, and reports account for {accounted}", of(spent)));
            }
        }
        if self.reserved != self.balance.reserved {
            faults.push(format!("{:?} are reserved, and executions have {:?}", self.balance.reserved, self.reserved));
        }
        faults
    }
}

/// Request for the sums of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadBudgetLedger {
    pub budget_id: BudgetId,
    /// Whether to sum up the draws, which takes longer.
    pub with_draws: bool,
}
