//! The functions of leases.

mod claim;
mod expire;
mod renew;
mod revoke;

pub use claim::{ff_claim_execution, ff_claim_granted, ff_claim_resumed_execution};
pub use expire::ff_mark_lease_expired_if_due;
pub use renew::ff_renew_lease;
pub use revoke::ff_revoke_lease;
