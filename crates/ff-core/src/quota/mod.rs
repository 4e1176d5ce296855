//! Quotas: how often, and how many at once, executions of a tenant may be claimed.
//!
//! A policy is defined at the home of its namespace and copied to every partition, so a claim finds out without a further
//! read whether anything limits an execution. The usage of a policy is counted at the policy's own home: reserve there
//! first, claim, and release unused slots at once and the others when the lease ends. A count may be too high for a
//! moment and is never too low.

mod admit;
pub mod contracts;
mod copy;
mod define;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod interleaving;
mod ledger;
mod policy;
mod put;
mod scope;
mod settle;

pub(crate) use ledger::Ledger;
pub use ledger::{QuotaRow, QuotaRowName, QuotaUse, SlotRow, SlotState};
pub use policy::{QuotaPolicy, QuotaSet, QuotaSlot, Rate, quota_policy_id};
pub(crate) use put::change_set;
pub use scope::{BadScope, Per, Scope};

use crate::types::QuotaPolicyId;

/// The writes of a rule to quotas.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuotaWrites {
    /// The policies of a namespace, as a partition is to know them.
    pub sets: Vec<(u16, QuotaSet)>,
    /// Rows at the home of a policy, as they are to be; none where there is to be none.
    pub rows: Vec<(QuotaPolicyId, QuotaRowName, Option<QuotaRow>)>,
}
