//! The worker: registers, claims executions of the kinds it has handlers for, renews their leases, and reports their
//! ends.

mod backoff;
mod children;
mod claiming;
mod context;
mod handler;
mod held_executions;
mod options;
mod output;
mod registration;
mod report;
mod running;
mod setup;
mod slots;
mod step;
mod suspension;
mod usage;

pub use children::{AddChildren, Child, Children};
pub use context::Context;
pub use handler::{Fault, Handler, HandlerFuture, IntoReply, Reply};
pub use options::Worker;
pub use output::Output;
pub use step::RunStep;
pub use suspension::{
    CreateWaitpoint, Decision, Suspend, Verdict, WaitError, WaitForApproval, WaitForSignal, WaitOutcome,
};
pub use usage::UsageReport;
