//! Executions: work that is submitted, attempted, and ended exactly once.

mod attempt;
mod block;
mod cancel;
mod complete;
pub mod contracts;
mod deadline;
mod delay;
mod fail;
mod hold;
mod info;
mod phase;
mod priority;
mod progress;
mod promote;
mod record;
mod replay;
mod retention;
mod submit;
mod tag;
mod time_out;

pub use attempt::{Attempt, AttemptEnd, AttemptOutcome, AttemptSlot, Failure, Origin};
pub use block::{BlockDetail, unblock};
pub use cancel::cancel;
pub use complete::complete;
pub use deadline::expire;
pub use hold::Hold;
pub use phase::{Blocker, DelayReason, FinishedBy, Outcome, Phase};
pub use progress::Progress;
pub use promote::promote;
pub(crate) use record::End;
pub use record::{Execution, Tags};
pub(crate) use submit::create;
pub use tag::set_tags;
pub use time_out::time_out;
