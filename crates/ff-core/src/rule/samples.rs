//! Executions in every phase, for the tests of rules.

use uuid::Uuid;

use crate::backend::entropy::{Entropy, SeededEntropy};
use crate::engine_error::Refusal;
use crate::execution::contracts::{SubmitArgs, SubmittedExecution};
use crate::execution::{Execution, Phase};
use crate::lease::contracts::ClaimArgs;
use crate::lease::{Fence, Holder};
use crate::model::Model;
use crate::operation::{Ask, Conditions};
use crate::partition::PartitionConfig;
use crate::payload::Payload;
use crate::step::{Step, StepHead, StepOutcome, StepResult, StepsWrite};
use crate::types::{Kind, TimestampMs};

/// Returns the time `ms` milliseconds after the creation of the samples.
pub(crate) fn at(ms: u64) -> TimestampMs {
    TimestampMs(1_700_000_000_000) + ms
}

/// Returns sample conditions at a given time.
pub(crate) fn conditions(now: TimestampMs) -> Conditions {
    Conditions { partitions: PartitionConfig::default(), nonce: SeededEntropy::new(1).nonce(), now }
}

/// Returns a submission that is always the same.
pub(crate) fn work() -> SubmitArgs {
    SubmitArgs { uuid: Uuid::from_u128(1), ..SubmitArgs::new(Kind::parse("resize").unwrap(), Payload::json("1")) }
}

/// Returns a newly submitted execution.
pub(crate) fn waiting() -> Execution {
    let mut model = Model::default();
    model.submit(&work(), at(0)).unwrap();
    model.executions().next().unwrap().clone()
}

/// Returns an execution that a worker has held since `at(0)`, with a lease of thirty seconds.
pub(crate) fn running() -> Execution {
    let mut model = Model::default();
    let id = model.submit(&work(), at(0)).unwrap().execution_id;
    let claim = ClaimArgs::new(id.partition(), Holder::parse("w", "w-1").unwrap());
    model.execute(&claim.into_operation(), &conditions(at(0))).unwrap();
    model.find(&id).unwrap().clone()
}

/// Returns the fence of an execution's lease.
pub(crate) fn held(execution: &Execution) -> Fence {
    let Phase::Running { lease } = &execution.phase else { panic!("it has no lease") };
    lease.fence
}

impl Model {
    pub(crate) fn submit(&mut self, args: &SubmitArgs, now: TimestampMs) -> Result<SubmittedExecution, Refusal> {
        let (reply, _) = self.execute(&args.clone().into_operation(), &conditions(now))?;
        Ok(SubmitArgs::decided(reply).unwrap())
    }

    /// Stores an execution with recorded steps. The results of the steps are zeros.
    pub(crate) fn store(&mut self, execution: &Execution, steps: &[StepHead]) {
        let step = |head: &StepHead| {
            let StepHead { seq, step, attempt, started_at, recorded_at, outcome } = head.clone();
            let outcome = match outcome {
                StepResult::Succeeded { content_type, bytes } => {
                    let bytes = vec![0; usize::try_from(bytes).unwrap()];
                    StepOutcome::Succeeded { result: Payload::new(content_type, bytes) }
                }
                StepResult::Failed { failure } => StepOutcome::Failed { failure },
            };
            Step { seq, step, attempt, started_at, recorded_at, outcome }
        };
        let mut change = execution.unchanged();
        let recorded = steps.iter().map(step).collect();
        change.steps = Some(Box::new(StepsWrite { recorded, ..StepsWrite::default() }));
        self.apply(change);
    }
}
