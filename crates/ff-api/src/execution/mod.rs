//! Executions as they travel.

mod bulk;
pub(crate) mod start;
mod steer;
pub(crate) mod submit;
mod view;

pub use bulk::{Bulk, Bulking};
pub use steer::{Cancel, ChangePriority, Replay, Revoke, SetTags};
pub use submit::{Batch, Batched, Submit, Tried, TriedOutcome};
pub use view::{Ended, Page, PayloadView};
