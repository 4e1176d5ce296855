//! The requests of callers about steps, and the answers.

pub use super::forget::StepPoint;
pub use super::fork::{ForkArgs, ForkedExecution};
pub use super::list::{ListStepsArgs, StepsPage};
pub use super::recording::{RecordStepArgs, StepRecorded};
