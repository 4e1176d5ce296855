//! The steps of an execution that one run of its handler knows.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use ff_core::contracts::{ListStepsArgs, StepsPage};
use ff_core::engine_error::{Code, EngineError};
use ff_core::limits;
use ff_core::step::{Step, StepKind, StepOutcome, StepRef};
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::{describe, failed_marker, invalid, repeat};
use crate::{Context, Fault};

/// The recorded steps, and the steps this run has reached.
pub(in crate::worker) struct StepLog {
    entries: Mutex<Entries>,
    /// The number of the last step that came with the claim, if there are more steps.
    next: Option<u32>,
    /// Fires when the handler of a failed execution, which is only being undone, reaches a new step or wait.
    stopped: CancellationToken,
}

#[derive(Default)]
struct Entries {
    recorded: HashMap<StepRef, RecordedStep>,
    /// Number of recorded steps that count towards the limit.
    count: usize,
    /// The steps that this run has reached, recorded or not.
    requested: HashSet<StepRef>,
    compensations: Vec<Compensation>,
}

/// The record of a step, which is final for this run and every later one.
#[derive(Clone)]
pub(in crate::worker) struct RecordedStep {
    pub(in crate::worker) seq: u32,
    pub(in crate::worker) outcome: StepOutcome,
}

impl RecordedStep {
    /// Returns the bytes of the result, or the failure as a permanent fault: a recorded failure is not retried.
    pub(in crate::worker) fn result(self) -> Result<Bytes, Fault> {
        match self.outcome {
            StepOutcome::Succeeded { result } => Ok(result.bytes),
            StepOutcome::Failed { failure } => Err(Fault::permanent(failure.category.as_str(), failure.message)),
        }
    }
}

/// A function that undoes a step, given the result of the step.
pub(super) type Undo = Box<dyn Fn(&[u8]) -> BoxFuture<'static, Result<(), Fault>> + Send + Sync>;

/// The compensation of a recorded step.
pub(super) struct Compensation {
    /// The number of the step.
    pub(super) seq: u32,
    /// The step that records the undoing.
    pub(super) step: StepRef,
    pub(super) result: Bytes,
    pub(super) undo: Undo,
}

fn most_steps(context: &Context) -> u32 {
    context.task().policy.max_steps.unwrap_or(limits::STEPS)
}

impl StepLog {
    /// Creates the log from the steps that came with a claim.
    pub(in crate::worker) fn new(page: StepsPage) -> Self {
        let log = Self { entries: Mutex::default(), next: page.next, stopped: CancellationToken::new() };
        log.add(page.steps);
        log
    }

    /// Reads the steps that did not come with the claim. The worker does this before the handler runs. A call of the handler
    /// must not do it, because the handler may stop polling that call while its other calls wait for the steps.
    pub(in crate::worker) async fn load(&self, context: &Context) -> Result<(), EngineError> {
        let mut next = self.next;
        while let Some(after) = next {
            let first = ListStepsArgs::new(context.task().execution_id);
            let args = ListStepsArgs { after: Some(after), limit: limits::PAGE, ..first };
            let page = repeat(context, "list_steps", || context.backend().list_steps(args)).await?;
            self.add(page.steps);
            next = page.next;
        }
        Ok(())
    }

    fn add(&self, steps: Vec<Step>) {
        for Step { seq, step, outcome, .. } in steps {
            self.insert(step, RecordedStep { seq, outcome });
        }
    }

    /// Adds a recorded step.
    pub(super) fn insert(&self, step: StepRef, recorded: RecordedStep) {
        let (mut entries, counts) = (self.entries(), step.kind != StepKind::Undo);
        if entries.recorded.insert(step, recorded).is_none() && counts {
            entries.count += 1;
        }
    }

    /// Returns a step, if it is recorded.
    pub(in crate::worker) fn find(&self, step: &StepRef) -> Option<RecordedStep> {
        self.entries().recorded.get(step).cloned()
    }

    /// Returns the recorded waits.
    pub(in crate::worker) fn waits(&self) -> Vec<(StepRef, RecordedStep)> {
        let entries = self.entries();
        let waits = entries.recorded.iter().filter(|(step, _)| step.kind == StepKind::Wait);
        waits.map(|(step, recorded)| (step.clone(), recorded.clone())).collect()
    }

    /// Registers a step that this run has reached. A second step with the same name and key is refused.
    pub(super) fn ask(&self, step: &StepRef) -> Result<(), Fault> {
        if self.entries().requested.insert(step.clone()) {
            return Ok(());
        }
        let name = describe(step);
        let why = format!("the step {name} is asked for twice in one run: tell the two apart with .key(…)");
        Err(Fault::permanent("duplicate_step", why))
    }

    /// Returns how many more steps may be recorded.
    pub(in crate::worker) fn remaining(&self, context: &Context) -> usize {
        (most_steps(context) as usize).saturating_sub(self.entries().count)
    }

    /// Refuses a step beyond the limit, before it runs.
    pub(super) fn check_count(&self, context: &Context, step: &StepRef) -> Result<(), Fault> {
        if self.remaining(context) > 0 {
            return Ok(());
        }
        let most = most_steps(context);
        Err(invalid(step, Code::LimitExceeded.refusal().because(format!("the execution has {most} steps already"))))
    }

    /// Returns the step that marks the execution as failed, if it is recorded.
    pub(super) fn failed(&self) -> Option<RecordedStep> {
        self.find(&failed_marker())
    }

    /// Returns at once, unless the execution has failed. In that case no step or wait may begin: the call never returns, and
    /// the worker drops the handler.
    pub(in crate::worker) async fn begin_new(&self) {
        if self.failed().is_some() {
            self.stopped.cancel();
            std::future::pending::<()>().await;
        }
    }

    /// Waits until the handler of a failed execution has reached a new step or wait.
    pub(in crate::worker) async fn stopped(&self) {
        self.stopped.cancelled().await;
    }

    /// Registers the compensation of a step.
    pub(super) fn register(&self, compensation: Compensation) {
        self.entries().compensations.push(compensation);
    }

    /// Takes the compensations of this run, that of the last recorded step first.
    pub(super) fn take_compensations(&self) -> Vec<Compensation> {
        let mut compensations = std::mem::take(&mut self.entries().compensations);
        compensations.sort_by_key(|compensation| std::cmp::Reverse(compensation.seq));
        compensations
    }

    pub(super) fn has_compensations(&self) -> bool {
        !self.entries().compensations.is_empty()
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
