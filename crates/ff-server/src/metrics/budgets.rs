//! The balances of budgets, read when a scraper asks.

use std::fmt;

use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::{BudgetInfo, ReadBudgetLedger};
use ff_core::types::{BudgetName, Dimension, Namespace, TimestampMs};
use prometheus_client::encoding::{EncodeLabel, EncodeLabelSet, LabelSetEncoder};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// Maximum number of budgets with metrics.
const BUDGETS: usize = 100;

/// Label of a budget within its namespace, with a dimension and a state if the metric has them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct BudgetLabel {
    namespace: Namespace,
    budget: BudgetName,
    of: Option<(Dimension, &'static str)>,
}

impl EncodeLabelSet for BudgetLabel {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        ("namespace", self.namespace.as_str()).encode(encoder.encode_label())?;
        ("budget", self.budget.as_str()).encode(encoder.encode_label())?;
        if let Some((dimension, state)) = &self.of {
            ("dimension", dimension.as_str()).encode(encoder.encode_label())?;
            ("state", *state).encode(encoder.encode_label())?;
        }
        Ok(())
    }
}

/// The balances of the last read.
pub(super) struct Budgets {
    amount: Family<BudgetLabel, Gauge>,
    waiting: Family<BudgetLabel, Gauge>,
}

impl Budgets {
    pub(super) fn registered(registry: &mut Registry) -> Self {
        let budgets = Self { amount: Family::default(), waiting: Family::default() };
        registry.register("budget_amount", "What is used, reserved and allowed of a budget", budgets.amount.clone());
        registry.register("budget_waiting", "Executions that wait for a budget", budgets.waiting.clone());
        budgets
    }

    /// Removes all values.
    pub(super) fn clear(&self) {
        self.amount.clear();
        self.waiting.clear();
    }

    pub(super) async fn look(&self, store: &dyn EngineStore, now: TimestampMs) -> Answer<()> {
        let budgets = store.all_quotas().await?.into_iter().flat_map(|set| set.budgets.into_values());
        for budget in budgets.take(BUDGETS) {
            let read = ReadBudgetLedger { budget_id: budget.id, with_draws: false };
            let sums = store.budget_ledger(read).await?;
            self.enter(&BudgetInfo::of(budget, &sums.balance, now));
        }
        Ok(())
    }

    fn enter(&self, info: &BudgetInfo) {
        let label = |of| BudgetLabel { namespace: info.budget.namespace.clone(), budget: info.budget.name.clone(), of };
        let set = |gauge: &Family<_, Gauge>, label, amount| {
            gauge.get_or_create(&label).set(i64::try_from(amount).unwrap_or(i64::MAX));
        };
        set(&self.waiting, label(None), info.waiting);
        for (dimension, of) in &info.balance {
            let states =
                [("used", Some(of.used)), ("reserved", Some(of.reserved)), ("hard", of.hard), ("soft", of.soft)];
            for (state, amount) in states {
                if let Some(amount) = amount {
                    set(&self.amount, label(Some((dimension.clone(), state))), amount);
                }
            }
        }
    }
}
