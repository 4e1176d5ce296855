//! An execution leased by a worker.

use std::time::Duration;

use super::World;
use crate::records::*;

/// An execution that a worker holds or held, with every call of a holder, in time or too late.
#[derive(Clone)]
pub struct LeasedExecution {
    pub(super) world: World,
    /// The task of the claim.
    pub task: Task,
    /// The payload that came with the claim.
    pub payload: Payload,
    /// The signals that came with the claim, after a suspension.
    pub signals: Vec<ReceivedSignal>,
    /// The results of upstreams that came with the claim, under the names given by their edges.
    pub inputs: Vec<Input>,
    /// The recorded steps that came with the claim.
    pub steps: StepsPage,
}

impl LeasedExecution {
    pub(super) fn new(world: World, claimed: ClaimedExecution) -> Self {
        let ClaimedExecution { task, payload, signals, inputs, steps } = claimed;
        Self { world, task, payload, signals, inputs, steps }
    }

    /// Returns the id of the execution.
    pub fn id(&self) -> ExecutionId {
        self.task.execution_id
    }

    /// Returns the fence of the lease.
    pub fn fence(&self) -> Fence {
        self.task.fence
    }

    /// Returns the same holder with another fence.
    pub fn with_fence(&self, change: impl FnOnce(&mut Fence)) -> Self {
        let mut other = self.clone();
        change(&mut other.task.fence);
        other
    }

    /// Returns the length the lease was granted for.
    pub fn lease_ttl(&self) -> Duration {
        Duration::from_millis(self.task.lease_ttl_ms)
    }

    /// Completes the execution with these bytes as the result.
    pub async fn complete(&self, result: &[u8]) -> Answer<CompletedExecution> {
        self.complete_with(Some(Payload::bytes(result.to_vec()))).await
    }

    /// Completes the execution, with or without a result.
    pub async fn complete_with(&self, result: Option<Payload>) -> Answer<CompletedExecution> {
        let args = CompleteArgs { execution_id: self.id(), fence: self.fence(), result };
        self.world.backend.complete(args).await
    }

    /// Reports a failure that may be retried.
    pub async fn fail(&self, category: &str) -> Answer<FailedAttempt> {
        self.fail_with(category, "it went wrong", false).await
    }

    /// Reports a failure.
    pub async fn fail_with(&self, category: &str, message: &str, permanent: bool) -> Answer<FailedAttempt> {
        let failure = Failure { category: Kind::parse(category).unwrap(), message: message.to_owned(), permanent };
        let args = FailArgs { execution_id: self.id(), fence: self.fence(), failure };
        self.world.backend.fail(args).await
    }

    /// Delays the execution by a span.
    pub async fn delay(&self, by: Duration) -> Answer<DelayedExecution> {
        self.delay_to(Start::After(u64::try_from(by.as_millis()).unwrap())).await
    }

    /// Delays the execution to a start.
    pub async fn delay_to(&self, start: Start) -> Answer<DelayedExecution> {
        let args = DelayArgs { execution_id: self.id(), fence: self.fence(), start };
        self.world.backend.delay(args).await
    }

    /// Renews the lease.
    pub async fn renew(&self) -> Answer<RenewedLease> {
        self.renew_with(None).await
    }

    /// Renews the lease, with another length from now on.
    pub async fn renew_for(&self, ttl: Duration) -> Answer<RenewedLease> {
        self.renew_with(Some(u64::try_from(ttl.as_millis()).unwrap())).await
    }

    /// Reports progress.
    pub async fn progress(&self, percent: Option<u8>, message: Option<&str>) -> Answer<RecordedProgress> {
        let args =
            ProgressArgs { execution_id: self.id(), fence: self.fence(), percent, message: message.map(str::to_owned) };
        self.world.backend.progress(args).await
    }

    /// Appends frames.
    pub async fn append(&self, frames: Vec<Frame>) -> Answer<FramesAppended> {
        self.world.backend.append_frames(self.frames(frames)).await
    }

    /// Returns the arguments that append frames, with every option unset.
    pub(crate) fn frames(&self, frames: Vec<Frame>) -> AppendFramesArgs {
        AppendFramesArgs {
            execution_id: self.id(),
            fence: self.fence(),
            from: None,
            mode: None,
            max_frames: None,
            max_bytes: None,
            frames,
        }
    }

    /// Records a step of kind `step` without a key, and checks that it is accepted.
    pub async fn step(&self, name: &str, result: &[u8]) -> StepRecorded {
        let args = self.record(StepRef::new(StepName::parse(name).unwrap()), result);
        self.world.backend.record_step(args).await.unwrap()
    }

    /// Returns the arguments that record a successful step.
    pub(crate) fn record(&self, step: StepRef, result: &[u8]) -> RecordStepArgs {
        let outcome = StepOutcome::Succeeded { result: Payload::bytes(result.to_vec()) };
        RecordStepArgs { execution_id: self.id(), fence: self.fence(), step, started_at: None, outcome }
    }

    async fn renew_with(&self, lease_ttl_ms: Option<u64>) -> Answer<RenewedLease> {
        let args = RenewArgs { execution_id: self.id(), fence: self.fence(), lease_ttl_ms };
        self.world.backend.renew(args).await
    }
}
