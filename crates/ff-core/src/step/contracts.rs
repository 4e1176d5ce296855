//! What callers ask of steps, and what they are told.

pub use super::forget::StepPoint;
pub use super::fork::{ForkArgs, ForkedExecution};
pub use super::list::{ListStepsArgs, StepsPage};
pub use super::recording::{RecordStepArgs, StepRecorded};
