//! Waiting inside a handler: for a signal, for a person's approval, or for any condition.
//!
//! A wait ends the handler's run: the execution is suspended, its lease given up, and the handler dropped. Once the wait is
//! over the handler is called again from its start, and the same wait returns what ended it. So what stands before a wait
//! runs again, and waits are told apart by their names, not by where they stand.

mod approval;
mod error;
mod journal;
mod signal;
mod suspend;
mod suspend_handler;

pub use approval::{Decision, Verdict, WaitForApproval};
pub use error::WaitError;
pub(super) use journal::Journal;
pub use signal::WaitForSignal;
pub use suspend::{CreateWaitpoint, Suspend, WaitOutcome};
