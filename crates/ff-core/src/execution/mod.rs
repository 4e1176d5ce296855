//! Executions: work that is submitted, attempted, and ended exactly once.

mod attempt;
mod block;
mod cancel;
mod complete;
pub mod contracts;
mod deadline;
mod definition;
mod delay;
mod fail;
mod hold;
mod info;
mod json;
mod phase;
mod priority;
mod progress;
mod record;
mod replay;
mod retention;
mod submit;
mod tag;

pub use attempt::{Attempt, AttemptEnd, AttemptOutcome, AttemptSlot, Failure, Origin};
pub use block::{BlockDetail, unblock};
pub use cancel::cancel;
pub use complete::complete;
pub use deadline::expire;
pub use definition::{ExecutionDefinition, Tags};
pub use delay::promote;
pub use fail::time_out;
pub use hold::Hold;
pub use phase::{Blocker, DelayReason, FinishedBy, Outcome, Phase};
pub use progress::Progress;
pub(crate) use record::End;
pub use record::Execution;
pub(crate) use submit::create;
pub use tag::set_tags;
