//! Executions on the wire.

mod bulk;
mod query;
pub(crate) mod start;
pub(crate) mod submit;
mod tags;
mod view;

pub use bulk::{Bulk, BulkVerb};
pub use query::{ExecutionsQuery, PayloadQuery, ResultQuery};
pub use submit::{Batch, BatchItem, BatchReply, Submit, SubmitOutcome};
pub use tags::SetTags;
pub use view::{ExecutionEnd, Page, PayloadView};
