//! Usage reports: a handler's spending, charged to the execution and its budgets.

use ff_core::budget::Amounts;
use ff_core::contracts::{ReportUsageArgs, UsageReported};
use ff_core::engine_error::{Code, Refusal};
use ff_core::types::{Dimension, IdempotencyKey};

use super::suspension::{Announcement, BudgetPause};
use crate::{Context, Error, Fault, Waitpoint};

/// A usage report, built dimension by dimension and then sent.
#[must_use = "nothing is counted before it is reported"]
pub struct UsageReport {
    context: Context,
    amounts: Result<Amounts, Refusal>,
    report_id: Option<String>,
    announce: Option<Announcement>,
}

impl UsageReport {
    pub(super) fn new(context: Context) -> Self {
        Self { context, amounts: Ok(Amounts::new()), report_id: None, announce: None }
    }

    /// Adds an amount to a dimension, which may have any name: `tokens`, `usd_micros`, `calls`, `seconds`.
    pub fn add(mut self, dimension: &str, amount: u64) -> Self {
        self.amounts = self.amounts.and_then(|mut amounts| {
            let dimension = Dimension::parse(dimension).map_err(|error| Refusal::invalid("dimension", error))?;
            let sum = amounts.entry(dimension).or_default();
            *sum = sum.saturating_add(amount);
            Ok(amounts)
        });
        self
    }

    /// Names the report, in at most 128 bytes. The same report under the same name counts once within a day, even if the
    /// handler runs again. Without a name the reports of an attempt are numbered: a handler that continues after a wait does
    /// not count its earlier reports again, but a retry does.
    pub fn id(mut self, report_id: &str) -> Self {
        self.report_id = Some(report_id.to_owned());
        self
    }

    /// Calls `tell` with the waitpoint when a budget makes the execution wait for an approval, for example to send the
    /// [`approval_url`](Waitpoint::approval_url).
    pub fn announce<F, Fut>(mut self, tell: F) -> Self
    where
        F: FnOnce(Waitpoint) -> Fut + Send + 'static,
        Fut: Future<Output = Result<(), Fault>> + Send + 'static,
    {
        self.announce = Some(Box::new(move |waitpoint| Box::pin(tell(waitpoint))));
        self
    }

    /// Adds the usage to the execution and to every budget that applies, and returns their state. Refused as
    /// `budget_exceeded` when a budget made the execution fail: nothing that the handler does afterwards counts.
    ///
    /// If a budget with `on_hard_limit: suspend` is exceeded, the execution waits here, as at
    /// [`wait_for_approval`](Context::wait_for_approval), until an operator decides whether it may continue. After an
    /// approval the handler is called again from its start, with its recorded steps, and this report then returns its
    /// original answer. A rejection refuses the report as `budget_exceeded`.
    pub async fn report(self) -> Result<UsageReported, Error> {
        let task = self.context.task();
        let numbered = || format!("{}-{}", task.fence.attempt_id, self.context.next_report());
        let report_id = IdempotencyKey::parse(&self.report_id.unwrap_or_else(numbered));
        let report_id = report_id.map_err(|error| Refusal::invalid("report_id", error))?;
        let pause = BudgetPause::at(&self.context, &report_id)?;
        if let Some(reported) = pause.answer().await? {
            return Ok(reported);
        }
        let (execution_id, fence, amounts) = (task.execution_id, task.fence, self.amounts?);
        let args = ReportUsageArgs { execution_id, fence, report_id, amounts };
        let reported = self.context.backend().report_usage(args).await?;
        if reported.failed {
            let over = reported.budgets.iter().filter(|one| !one.exceeded.is_empty()).map(|one| one.budget.to_string());
            let why = format!("budget {} is exceeded", over.collect::<Vec<_>>().join(", "));
            return Err(Refusal::new(Code::BudgetExceeded).because(why).into());
        }
        pause.ask(reported, self.announce).await
    }
}
