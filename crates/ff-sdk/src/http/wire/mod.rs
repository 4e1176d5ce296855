//! Requests and answers as they travel, shared by the server and its clients.

mod content;
mod execution;
mod holder;
mod lease;
mod problem;
mod start;

pub use content::{Base64, Content, Encoding};
pub use execution::{Batch, Batched, Cancel, Ended, PayloadView, Replay, Submit, Tried, WirePage};
pub use holder::{Complete, Delay, Fail, Progress, Renew};
pub use lease::{Claim, Claimed, Claims, Revoke};
pub use problem::Problem;

/// What the body of a request with one payload may hold: the largest payload as base64, and all other fields.
pub const PAYLOAD_BODY_BYTES: usize = 2 * 1024 * 1024;

/// What the body of a bulk submission may hold.
pub const BATCH_BODY_BYTES: usize = 16 * 1024 * 1024;

/// The header that makes a repeated submission the same submission.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
