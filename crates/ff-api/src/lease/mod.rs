//! Leases on the wire: claims, and the calls of a holder.

mod batch;
mod claim;
mod claimed;
mod grants;
pub(crate) mod holder;

pub use batch::{LeaseCall, WorkerBatch, WorkerBatchReply, WorkerCall, WorkerCallResult};
pub use claim::{Claim, ClaimRequest};
pub use claimed::{ClaimedExecution, Claims, Input};
pub use grants::{Grants, GrantsQuery};
pub use holder::{Complete, Delay, Fail, Progress, Renew, ReportUsage};
