//! Suspensions, waitpoints and their secrets on the wire, and links to waitpoints.

pub(crate) mod condition;
mod decision;
mod link;
mod secret;
mod suspend;
mod waitpoint;

pub use decision::{Decision, Decisions, DecisionsQuery};
pub use link::{ApprovalQuery, PublicUrl, Waitpoint};
pub use secret::{FailedPartition, RotateSecret, RotatedPartition, RotationReport, Secrets};
pub use suspend::{Approval, Binding, CreateWaitpoint, Suspend, SuspendReply};
pub use waitpoint::{CloseWaitpoint, Decide, WaitpointTokenReply, Waitpoints};
