//! Steps: the completed work of an execution's handler, with its results, so that no later attempt does it again.

pub mod contracts;
mod forget;
mod fork;
mod list;
mod record;
mod recording;

pub use forget::StepPoint;
pub(crate) use forget::forget_for_replay;
pub use fork::ForkOrigin;
pub use list::page_end;
pub use record::{ForgottenSteps, Step, StepCounter, StepHead, StepKind, StepOutcome, StepRef, StepResult, StepsWrite};
