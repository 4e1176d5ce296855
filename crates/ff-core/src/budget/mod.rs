//! Budgets: limits on the spending of executions, in tokens, money, calls or anything else that is counted.
//!
//! Like a quota policy, a budget is defined, copied to partitions and asked before a claim. Its home keeps the used and
//! the reserved amounts. A usage report is added to the execution first, and then to every budget that applies, which is
//! repeated until it succeeds. The execution's total and its number of reports are sent to the budget, so that each
//! report counts once.

mod admit;
mod charge;
pub mod contracts;
mod define;
mod definition;
mod ledger;
mod reset;
mod restart;
#[cfg(test)]
mod tests;
mod usage;

use std::collections::BTreeMap;

use crate::types::Dimension;

pub(crate) use admit::{release, reserve};
pub use definition::{Budget, BudgetDefinition, BudgetLimit, OnHardLimit, budget_id};
pub use ledger::{Balance, Draw, SoftCrossing};
pub use reset::{CalendarUnit, Period, Reset};
pub use usage::{Usage, UsageReportEntry};

/// Amounts by dimension. A dimension with nothing to count is left out.
pub type Amounts = BTreeMap<Dimension, u64>;
