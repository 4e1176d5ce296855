//! The domain of steps, on Valkey.

use ff_core::contracts::{ForkArgs, ForkedExecution, ListStepsArgs, RecordStepArgs, StepRecorded, StepsPage};
use ff_script::step::{ff_fork_execution, ff_list_steps, ff_record_step};

use crate::backend::functions;

functions! {
    RecordStepArgs => StepRecorded: |store, args| ff_record_step(&*store.calls, args);
    ListStepsArgs => StepsPage: |store, args| ff_list_steps(&*store.calls, args);
    ForkArgs => ForkedExecution: |store, args| ff_fork_execution(&*store.calls, args);
}
