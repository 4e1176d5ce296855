//! Suspensions: an execution releases its worker and waits for signals, an operator or a timeout.

mod binding;
mod close_waitpoint;
mod condition;
pub mod contracts;
mod create_waitpoint;
mod enums;
mod expire;
mod past;
mod policy;
mod record;
mod resume;
mod suspend;
mod tally;
mod waitpoint;

pub use condition::{Condition, Distinct};
pub use contracts::answers::SuspendKeyEntry;
pub use enums::{OperatorDecision, ResumedBy, SuspendReason, SuspendedBy, TimeoutBehavior};
pub use expire::{expire, expire_pending};
pub use past::{PastSuspension, SuspensionEnd};
pub use policy::{ResumePolicy, SignalSelection};
pub use record::{BoundWaitpoint, Suspension};
pub use tally::{CountedSignal, SignalMatch, Tally, Weight};
pub use waitpoint::{BufferedSignal, PendingWaitpoint, Waitpoint, WaitpointClosed, WaitpointState};
