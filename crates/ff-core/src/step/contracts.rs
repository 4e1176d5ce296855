//! Arguments and replies about steps.

pub use super::forget::StepPoint;
pub use super::fork::{ForkArgs, ForkedExecution};
pub use super::list::{ListStepsArgs, StepsPage};
pub use super::recording::{RecordStepArgs, StepRecorded};
