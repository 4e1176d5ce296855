//! Usage: the holder of an execution reports usage. The report is added to the execution, and from there to every budget.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Amounts;
use super::charge::{BudgetState, UsageTotal};
use super::definition::check_amount;
use super::ledger::{add, amount};
use crate::engine_error::{Code, Refusal, check_limit};
use crate::event::{Event, EventKind};
use crate::execution::{AttemptSlot, Execution, Phase};
use crate::lease::Fence;
use crate::limits;
use crate::operation::command::{Conditions, Decision, ExecutionCommand, found};
use crate::quota::QuotaSet;
use crate::rule::view::{Stop, View};
use crate::types::{AttemptIndex, BudgetId, ExecutionId, IdempotencyKey, Kind, TimestampMs};

/// The usage of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Number of reports that were accepted.
    pub seq: u64,
    pub by_attempt: BTreeMap<AttemptIndex, Amounts>,
    /// The usage that every budget is known to have counted.
    #[serde(default)]
    pub counted: UsageTotal,
}

impl Usage {
    /// Returns the sum of all attempts.
    pub fn total(&self) -> Amounts {
        let mut total = Amounts::new();
        for (dimension, more) in self.by_attempt.values().flatten() {
            add(&mut total, dimension, *more);
        }
        total
    }

    /// Returns whether budgets may not have counted all of it yet.
    pub fn is_pending(&self) -> bool {
        self.counted.seq < self.seq
    }
}

/// A report that was accepted, and until when it is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageReportEntry {
    pub execution_id: ExecutionId,
    pub report_id: IdempotencyKey,
    pub until: TimestampMs,
}

/// The holder reports its usage since its last report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportUsageArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
    /// Id of the report. A report sent again with the same id counts once.
    pub report_id: IdempotencyKey,
    pub amounts: Amounts,
}

/// Usage of an execution, and the state of its budgets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UsageReported {
    /// True when this report was already counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub duplicate: bool,
    /// True when the lease had ended. The usage is counted all the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
    /// The execution's total.
    pub usage: Amounts,
    /// Every budget that applies, by name.
    pub budgets: Vec<BudgetState>,
    /// True when a budget made the execution fail.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Usage that budgets still have to count. Only an engine uses it.
    #[serde(skip)]
    pub pending: Option<Box<PendingUsage>>,
}

/// Usage that budgets still have to count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingUsage {
    pub execution_id: ExecutionId,
    pub kind: Kind,
    pub budgets: Vec<BudgetId>,
    pub total: UsageTotal,
    pub counted: UsageTotal,
}

impl ExecutionCommand for ReportUsageArgs {
    type Reply = UsageReported;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        if self.amounts.values().all(|amount| *amount == 0) {
            return Err(Refusal::invalid("amounts", "must have at least one amount above zero"));
        }
        check_limit(Code::LimitExceeded, "amounts", limits::BUDGET_DIMENSIONS, self.amounts.len())?;
        self.amounts.iter().try_for_each(|(dimension, amount)| check_amount(&format!("amounts.{dimension}"), *amount))
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<UsageReported>, Stop> {
        let execution = found(view, &self.execution_id)?;
        let attempt = reporting_attempt(execution, &self.fence, at.now)?;
        let set = view.quotas(self.execution_id.partition(), &execution.namespace)?;
        let reported = match execution.usage {
            Some(_) => view.usage_report(&execution.id, &self.report_id)?.is_some_and(|entry| at.now < entry.until),
            None => false,
        };
        let mut change = execution.unchanged();
        let mut usage = execution.usage.as_deref().cloned().unwrap_or_default();
        if !reported {
            self.add_to(&mut usage, attempt.index)?;
        }
        let pending = pending(execution, &usage, set);
        if pending.is_none() {
            usage.counted = UsageTotal { seq: usage.seq, amounts: usage.total() };
        }
        let reply = UsageReported {
            duplicate: reported,
            late: attempt.late,
            usage: usage.total(),
            budgets: Vec::new(),
            failed: false,
            pending: pending.map(Box::new),
        };
        if !reported {
            let (execution_id, report_id) = (self.execution_id, self.report_id.clone());
            let until = at.now + limits::USAGE_REMEMBERED_MS;
            change.usage_report = Some(UsageReportEntry { execution_id, report_id, until });
        } else if execution.usage.as_deref() == Some(&usage) {
            return Ok(Decision::of(reply, None));
        }
        change.after.usage = Some(Box::new(usage));
        Ok(Decision::of(reply, [change]))
    }
}

impl ReportUsageArgs {
    /// Adds the report to the usage. Refuses too many dimensions, and a sum that cannot be counted exactly.
    fn add_to(&self, usage: &mut Usage, attempt: AttemptIndex) -> Result<(), Refusal> {
        let total = usage.total();
        let added = self.amounts.keys().filter(|dimension| !total.contains_key(*dimension)).count();
        check_limit(Code::LimitExceeded, "amounts", limits::BUDGET_DIMENSIONS, total.len() + added)?;
        let sums = usage.by_attempt.entry(attempt).or_default();
        for (dimension, more) in &self.amounts {
            let sum = amount(&total, dimension).saturating_add(*more);
            check_amount(&format!("amounts.{dimension}"), sum)?;
            add(sums, dimension, *more);
        }
        usage.seq += 1;
        Ok(())
    }
}

/// The attempt that used the reported amounts, and whether its lease has ended.
struct Spender {
    index: AttemptIndex,
    late: bool,
}

/// Returns the attempt of the present or the last holder. Usage that is reported after the lease has ended counts as well.
fn reporting_attempt(execution: &Execution, fence: &Fence, now: TimestampMs) -> Result<Spender, Refusal> {
    let held = execution.held_by(fence, now);
    let open = match &execution.attempt {
        AttemptSlot::Open(attempt) => Some(attempt.index),
        AttemptSlot::Next(_) => None,
    };
    if held.is_ok() {
        return Ok(Spender { index: open.unwrap_or_default(), late: false });
    }
    let is_current = matches!(&execution.phase, Phase::Running { lease } if lease.fence == *fence);
    let was_last = execution.last_lease.as_ref().is_some_and(|last| last.fence == *fence);
    match held {
        Err(refusal) if !is_current && !was_last => Err(refusal),
        _ => Ok(Spender { index: AttemptIndex(execution.attempts_made.saturating_sub(1)), late: true }),
    }
}

/// Returns the usage that budgets still have to count; `None` when there is none or no budget applies.
pub(super) fn pending(execution: &Execution, usage: &Usage, set: Option<&QuotaSet>) -> Option<PendingUsage> {
    let budgets: Vec<_> = set.into_iter().flat_map(|set| set.budgets_for(execution)).map(|budget| budget.id).collect();
    if budgets.is_empty() || !usage.is_pending() {
        return None;
    }
    Some(PendingUsage {
        execution_id: execution.id,
        kind: execution.kind.clone(),
        budgets,
        total: UsageTotal { seq: usage.seq, amounts: usage.total() },
        counted: usage.counted.clone(),
    })
}

impl PendingUsage {
    /// Returns the usage of an execution that budgets still have to count.
    pub fn of(execution: &Execution, set: Option<&QuotaSet>) -> Option<Self> {
        pending(execution, execution.usage.as_deref()?, set)
    }
}

/// Records that every budget has counted the first reports of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettleUsageArgs {
    pub execution_id: ExecutionId,
    pub counted: UsageTotal,
    /// Budgets whose soft limit one of these reports was the first to exceed within the period.
    pub crossed: Vec<BudgetId>,
}

/// Whether the count was new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageSettled {
    pub settled: bool,
}

impl ExecutionCommand for SettleUsageArgs {
    type Reply = UsageSettled;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<UsageSettled>, Stop> {
        let execution = view.execution(&self.execution_id)?;
        let found = execution.and_then(|execution| Some((execution, execution.usage.as_deref()?)));
        let new = |usage: &Usage| usage.counted.seq < self.counted.seq && self.counted.seq <= usage.seq;
        let Some((execution, usage)) = found.filter(|(_, usage)| new(usage)) else {
            return Ok(Decision::of(UsageSettled { settled: false }, None));
        };
        let mut change = execution.unchanged();
        change.after.usage = Some(Box::new(Usage { counted: self.counted.clone(), ..usage.clone() }));
        let event = |budget_id: &BudgetId| {
            Event::new(&execution.id, at.now, EventKind::SoftLimitExceeded { budget_id: *budget_id })
        };
        change.events.extend(self.crossed.iter().map(event));
        Ok(Decision::of(UsageSettled { settled: true }, [change]))
    }
}
