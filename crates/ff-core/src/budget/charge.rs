//! Charging: a budget counts the usage of an execution it applies to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ledger::{BudgetLedger, SoftCrossing, add, amount, fold, take};
use super::{Amounts, Balance, BudgetLimit, OnHardLimit};
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, quota_home};
use crate::quota::QuotaRowName;
use crate::rule::view::{Stop, View};
use crate::types::{BudgetId, BudgetName, Dimension, ExecutionId, Kind};

/// Reports the total usage of an execution to a budget. Reports that the budget has counted are not counted again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChargeBudgetArgs {
    pub budget_id: BudgetId,
    pub execution_id: ExecutionId,
    pub kind: Kind,
    pub total: UsageTotal,
    /// The usage that every budget is known to have counted.
    pub counted: UsageTotal,
}

/// The sum of the first usage reports of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageTotal {
    /// Number of reports in the sum.
    pub seq: u64,
    pub amounts: Amounts,
}

/// State of a budget after a usage report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BudgetState {
    pub budget: BudgetName,
    pub status: BudgetStatus,
    /// Amount left of each dimension with a hard limit, less reservations.
    pub remaining: Amounts,
    /// Dimensions over their hard limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exceeded: Vec<Dimension>,
    pub on_hard_limit: OnHardLimit,
}

/// Whether a limit is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BudgetStatus {
    Ok,
    SoftExceeded,
    HardExceeded,
}

/// The reply of a budget to a charge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetAnswer {
    /// Absent when the budget is gone; then nothing was counted.
    pub state: Option<BudgetState>,
    /// Whether one of these reports was the first to exceed a soft limit within the period.
    pub crossed: bool,
}

impl Command for ChargeBudgetArgs {
    type Reply = BudgetAnswer;

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        quota_home(&self.budget_id.policy_id(), partitions)
    }

    /// Counts new usage, which is neither in this budget's own count of the execution nor in the count that every budget
    /// is known to have. Usage from before the budget applied is therefore not counted. New usage uses up the
    /// execution's reservation first.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<BudgetAnswer>, Stop> {
        let (kind, id) = (self.kind.as_str(), self.execution_id);
        let mut ledger = BudgetLedger::of(view, self.budget_id);
        ledger.require([QuotaRowName::Slot(kind.to_owned(), id)])?;
        let Some(budget) = ledger.definition()?.and_then(|(_, budget)| budget) else {
            return Ok(Decision::of(BudgetAnswer { state: None, crossed: false }, None));
        };
        let mut balance = ledger.balance(Some(&budget), at.now)?;
        let mut draw = ledger.draw(kind, &id)?;
        if draw.seq < self.total.seq {
            if draw.seq == 0 {
                ledger.log_draw(&mut balance, kind, id, at.now);
            }
            for dimension in budget.definition.limits.keys() {
                let seen = amount(&draw.seen, dimension);
                let known = if self.counted.seq >= draw.seq { amount(&self.counted.amounts, dimension) } else { seen };
                let total = amount(&self.total.amounts, dimension);
                let new = total.saturating_sub(known);
                add(&mut balance.used, dimension, new);
                add(&mut balance.spent, dimension, new);
                let elsewhere = i64::try_from(known.saturating_sub(seen)).unwrap_or(i64::MAX);
                fold(&mut balance.folded, dimension, -elsewhere);
                let from_reserve = new.min(amount(&draw.reserved, dimension));
                take(&mut draw.reserved, dimension, from_reserve);
                take(&mut balance.reserved, dimension, from_reserve);
                if total > 0 {
                    draw.seen.insert(dimension.clone(), total);
                }
                let soft = budget.definition.limits[dimension].soft;
                if soft.is_some_and(|soft| amount(&balance.used, dimension) > soft) {
                    let crossing = SoftCrossing { execution_id: id, seq: self.total.seq };
                    balance.crossings.entry(dimension.clone()).or_insert(crossing);
                }
            }
            (draw.seq, draw.at) = (self.total.seq, at.now);
            ledger.put_draw(kind, id, draw);
            ledger.forget_draws(&mut balance, at.now)?;
        }
        let crossed = balance.crossings.values().any(|crossing| {
            crossing.execution_id == id && crossing.seq > self.counted.seq && crossing.seq <= self.total.seq
        });
        let super::BudgetDefinition { limits, on_hard_limit, .. } = &budget.definition;
        let state = BudgetState::of(budget.name.clone(), *on_hard_limit, limits, &balance);
        ledger.put_balance(balance);
        Ok(ledger.into_decision(BudgetAnswer { state: Some(state), crossed }))
    }
}

impl BudgetState {
    /// Returns the state of a budget with this balance.
    pub fn of(
        budget: BudgetName,
        on_hard_limit: OnHardLimit,
        limits: &BTreeMap<Dimension, BudgetLimit>,
        balance: &Balance,
    ) -> Self {
        let used = |dimension: &Dimension| amount(&balance.used, dimension);
        let is_over = |dimension: &Dimension, limit: Option<u64>| limit.is_some_and(|limit| used(dimension) > limit);
        let exceeded: Vec<_> = limits.iter().filter(|(name, limit)| is_over(name, limit.hard)).collect();
        let status = if !exceeded.is_empty() {
            BudgetStatus::HardExceeded
        } else if limits.iter().any(|(name, limit)| is_over(name, limit.soft)) {
            BudgetStatus::SoftExceeded
        } else {
            BudgetStatus::Ok
        };
        let left = |(name, limit): (&Dimension, &BudgetLimit)| {
            let taken = used(name).saturating_add(amount(&balance.reserved, name));
            Some((name.clone(), limit.hard?.saturating_sub(taken)))
        };
        let remaining = limits.iter().filter_map(left).collect();
        let exceeded = exceeded.into_iter().map(|(name, _)| name.clone()).collect();
        Self { budget, status, remaining, exceeded, on_hard_limit }
    }
}
