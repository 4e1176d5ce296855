//! Executions: work that is submitted, attempted, and ended exactly once.

mod block;
mod cancel;
mod complete;
pub mod contracts;
mod deadline;
mod delay;
mod fail;
mod hold;
mod priority;
mod progress;
mod record;
mod replay;
mod submit;
mod tag;

pub use block::{BlockDetail, unblock};
pub use cancel::cancel;
pub use complete::complete;
pub use deadline::expire;
pub use delay::promote;
pub use fail::time_out;
pub use hold::Hold;
pub use progress::Progress;
pub(crate) use record::End;
pub use record::{
    Attempt, AttemptEnd, AttemptOutcome, AttemptSlot, Blocker, DelayReason, Execution, ExecutionDefinition, Failure,
    FinishedBy, Origin, Outcome, Phase, Tags,
};
pub(crate) use submit::create;
pub use tag::set_tags;
