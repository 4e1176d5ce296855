//! What a handler has spent, told to the execution and its budgets.

use std::sync::Arc;

use ff_core::backend::EngineBackend;
use ff_core::budget::Amounts;
use ff_core::contracts::{ReportUsageArgs, Task, UsageReported};
use ff_core::engine_error::{Code, Refusal};
use ff_core::types::{Dimension, IdempotencyKey};
use uuid::Uuid;

use crate::Error;

/// What was spent, put together dimension by dimension and then reported.
#[must_use = "nothing is counted before it is reported"]
pub struct UsageReport {
    backend: Arc<dyn EngineBackend>,
    args: Result<ReportUsageArgs, Refusal>,
}

impl UsageReport {
    pub(super) fn new(backend: Arc<dyn EngineBackend>, task: &Task) -> Self {
        let report_id = IdempotencyKey::parse(&Uuid::now_v7().to_string());
        let args = report_id.map_err(|error| Refusal::invalid("report_id", error)).map(|report_id| ReportUsageArgs {
            execution_id: task.execution_id,
            fence: task.fence,
            report_id,
            amounts: Amounts::new(),
        });
        Self { backend, args }
    }

    /// Adds an amount of something: tokens, usd_micros, calls, seconds, any name.
    pub fn add(mut self, dimension: &str, amount: u64) -> Self {
        self.args = self.args.and_then(|mut args| {
            let dimension = Dimension::parse(dimension).map_err(|error| Refusal::invalid("dimension", error))?;
            let sum = args.amounts.entry(dimension).or_default();
            *sum = sum.saturating_add(amount);
            Ok(args)
        });
        self
    }

    /// Names the report. The same report under the same name counts once within a day, however often the handler runs: what was spent
    /// before the handler began anew is then not counted again.
    pub fn id(mut self, report_id: &str) -> Self {
        self.args = self.args.and_then(|mut args| {
            args.report_id = IdempotencyKey::parse(report_id).map_err(|error| Refusal::invalid("report_id", error))?;
            Ok(args)
        });
        self
    }

    /// Adds it to the execution and to every budget that applies, and says how they stand. Refused as `budget_exceeded` when a budget
    /// made the execution fail: nothing that the handler does from then on counts.
    pub async fn report(self) -> Result<UsageReported, Error> {
        let reported = self.backend.report_usage(self.args?).await?;
        if reported.failed {
            let over = reported.budgets.iter().filter(|one| !one.exceeded.is_empty()).map(|one| one.budget.to_string());
            let why = format!("budget {} is exceeded", over.collect::<Vec<_>>().join(", "));
            return Err(Refusal::new(Code::BudgetExceeded).because(why).into());
        }
        Ok(reported)
    }
}
