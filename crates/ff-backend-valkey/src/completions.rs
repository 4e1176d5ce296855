//! Completions in company: a worker that took several executions of a partition at once tends to finish them at once.

use ff_core::contracts::{CompleteArgs, Completed};
use ff_script::execution::{ff_complete_execution, ff_complete_executions};

use crate::calls::Calls;
use crate::together::{Answers, Joins};

impl Joins for CompleteArgs {
    /// The partition.
    type Company = u16;
    type Told = Completed;

    fn company(&self) -> u16 {
        self.execution_id.partition()
    }

    fn bytes(&self) -> usize {
        self.result.as_ref().map_or(0, |result| result.bytes.len())
    }

    async fn ask(calls: &Calls, all: Vec<Self>) -> Answers<Completed> {
        match <[Self; 1]>::try_from(all) {
            Ok([alone]) => Ok(vec![ff_complete_execution(calls, alone).await]),
            Err(several) => ff_complete_executions(calls, several).await,
        }
    }
}
