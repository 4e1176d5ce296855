//! Executions as they travel.

mod bulk;
pub(crate) mod start;
pub(crate) mod submit;
mod tags;
mod view;

pub use bulk::{Bulk, Bulking};
pub use submit::{Batch, Batched, Submit, Tried, TriedOutcome};
pub use tags::SetTags;
pub use view::{Ended, Page, PayloadView};
