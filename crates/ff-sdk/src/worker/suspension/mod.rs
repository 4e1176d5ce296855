//! Waiting inside a handler: for a signal, for a person's approval, for any condition, or for a time.
//!
//! A wait ends the handler's run: the execution is suspended, its lease is given up, and the handler is dropped. When
//! the wait is over, the handler is called again from its start, and the same wait returns its end, which is recorded as
//! a step. So code before a wait that is not a step runs again, and a wait is identified by its name, not by its place.

mod approval;
mod budget;
mod error;
mod plan;
mod signal;
mod sleep;
mod suspend;
mod suspend_handler;
mod wait_log;

pub use approval::{Decision, Verdict, WaitForApproval};
pub(super) use budget::{Announcement, BudgetPause};
pub use error::WaitError;
pub use plan::WaitOutcome;
pub use signal::WaitForSignal;
pub(super) use sleep::sleep;
pub use suspend::{CreateWaitpoint, Suspend};
pub(super) use suspend_handler::{give_up_lease, suspend_until_check};
pub(super) use wait_log::WaitLog;
