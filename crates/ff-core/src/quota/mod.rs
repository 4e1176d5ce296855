//! Quotas: limits on the rate and the concurrency of claims of a namespace's executions.
//!
//! A policy is defined at the home of its namespace and copied to every partition, so a claim needs no further read to
//! find the policies of an execution. The usage of a policy is counted at the policy's own home: a claim first reserves
//! slots there, then takes the executions. Unused slots are released at once, the others when the lease ends. A count
//! may temporarily be too high, but is never too low.

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
pub(crate) use policy::name_digest;
pub use policy::{QuotaPolicy, QuotaSet, QuotaSlot, Rate, quota_policy_id};
pub(crate) use put::{change_set, put_named};
pub use scope::{BadScope, Per, Scope};

use crate::types::QuotaPolicyId;

/// The writes of a rule to quotas.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuotaWrites {
    /// The policies of a namespace, for each partition that receives them.
    pub sets: Vec<(u16, QuotaSet)>,
    /// Rows at the home of a policy; `None` removes the row.
    pub rows: Vec<(QuotaPolicyId, QuotaRowName, Option<QuotaRow>)>,
}
