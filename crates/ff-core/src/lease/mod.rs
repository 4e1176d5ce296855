//! Leases: an execution has one holder at a time, with a fence, and loses it when the holder stops renewing the lease.

mod admission;
mod assign;
mod claim;
mod claim_admitted;
mod claim_granted;
pub mod contracts;
mod expire;
mod fence;
mod record;
mod renew;
mod revoke;

pub use assign::ClaimGrant;
pub use expire::expire;
pub use fence::Fence;
pub use record::{Holder, LastLease, Lease, LeaseEnding, LeaseEvent};
pub use revoke::revoke;
