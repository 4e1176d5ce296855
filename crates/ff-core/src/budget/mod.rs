//! Budgets: how much executions may spend of tokens, money, calls or anything else that is counted.
//!
//! A budget is defined, copied to partitions and asked before a claim as a quota policy is. Its home keeps the used and
//! the reserved amounts. A report of usage is added to the execution first, and then, as often as it takes, to every
//! budget that applies: an execution tells it its total and its number of reports, so that each report counts once.

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

/// How much of each dimension. A dimension of which there is nothing is left out.
pub type Amounts = BTreeMap<Dimension, u64>;
