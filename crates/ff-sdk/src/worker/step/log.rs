//! The steps of an execution, as one run of its handler knows them.

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
    /// The number of the last step that came with the claim, when there are more.
    rest: Option<u32>,
    /// Fires when a run that only undoes comes to something new.
    stopped: CancellationToken,
}

#[derive(Default)]
struct Entries {
    recorded: HashMap<StepRef, RecordedStep>,
    /// How many of them count towards the limit.
    count: usize,
    /// The steps of this run, recorded or not.
    requested: HashSet<StepRef>,
    compensations: Vec<Compensation>,
}

/// A step that is done, for this run and every later one.
#[derive(Clone)]
pub(in crate::worker) struct RecordedStep {
    pub(in crate::worker) seq: u32,
    pub(in crate::worker) outcome: StepOutcome,
}

impl RecordedStep {
    /// The bytes of its result, or its failure. A step that failed is not tried again.
    pub(in crate::worker) fn result(self) -> Result<Bytes, Fault> {
        match self.outcome {
            StepOutcome::Succeeded { result } => Ok(result.bytes),
            StepOutcome::Failed { failure } => Err(Fault::permanent(failure.category.as_str(), failure.message)),
        }
    }
}

/// Undoes a step, given its result.
pub(super) type Undo = Box<dyn Fn(&[u8]) -> BoxFuture<'static, Result<(), Fault>> + Send + Sync>;

/// How a recorded step is undone.
pub(super) struct Compensation {
    /// The number of the step.
    pub(super) seq: u32,
    /// The step that records its undoing.
    pub(super) step: StepRef,
    pub(super) result: Bytes,
    pub(super) undo: Undo,
}

fn most_steps(context: &Context) -> u32 {
    context.task().policy.max_steps.unwrap_or(limits::STEPS)
}

impl StepLog {
    /// The steps that came with a claim.
    pub(in crate::worker) fn new(page: StepsPage) -> Self {
        let log = Self { entries: Mutex::default(), rest: page.next, stopped: CancellationToken::new() };
        log.add(page.steps);
        log
    }

    /// Reads the steps that did not come with the claim. The worker does, before the handler runs: a handler may leave a call
    /// unpolled that others would wait for.
    pub(in crate::worker) async fn load(&self, context: &Context) -> Result<(), EngineError> {
        let mut rest = self.rest;
        while let Some(after) = rest {
            let first = ListStepsArgs::new(context.task().execution_id);
            let args = ListStepsArgs { after: Some(after), limit: limits::PAGE, ..first };
            let page = repeat(context, "list_steps", || context.backend().list_steps(args)).await?;
            self.add(page.steps);
            rest = page.next;
        }
        Ok(())
    }

    fn add(&self, steps: Vec<Step>) {
        for Step { seq, step, outcome, .. } in steps {
            self.insert(step, RecordedStep { seq, outcome });
        }
    }

    /// Notes that a step is recorded.
    pub(super) fn insert(&self, step: StepRef, recorded: RecordedStep) {
        let (mut entries, counts) = (self.entries(), step.kind != StepKind::Undo);
        if entries.recorded.insert(step, recorded).is_none() && counts {
            entries.count += 1;
        }
    }

    /// A recorded step.
    pub(in crate::worker) fn find(&self, step: &StepRef) -> Option<RecordedStep> {
        self.entries().recorded.get(step).cloned()
    }

    /// The recorded waits.
    pub(in crate::worker) fn waits(&self) -> Vec<(StepRef, RecordedStep)> {
        let entries = self.entries();
        let waits = entries.recorded.iter().filter(|(step, _)| step.kind == StepKind::Wait);
        waits.map(|(step, recorded)| (step.clone(), recorded.clone())).collect()
    }

    /// Notes a step of this run. A second one with the same name and key is refused.
    pub(super) fn ask(&self, step: &StepRef) -> Result<(), Fault> {
        if self.entries().requested.insert(step.clone()) {
            return Ok(());
        }
        let name = describe(step);
        let why = format!("the step {name} is asked for twice in one run: tell the two apart with .key(…)");
        Err(Fault::permanent("duplicate_step", why))
    }

    /// How many more steps may be recorded.
    pub(in crate::worker) fn remaining(&self, context: &Context) -> usize {
        (most_steps(context) as usize).saturating_sub(self.entries().count)
    }

    /// Refuses one more step than may be recorded, before it is done.
    pub(super) fn check_count(&self, context: &Context, step: &StepRef) -> Result<(), Fault> {
        if self.remaining(context) > 0 {
            return Ok(());
        }
        let most = most_steps(context);
        Err(invalid(step, Code::LimitExceeded.refusal().because(format!("the execution has {most} steps already"))))
    }

    /// The step that notes that the execution has failed, when it is recorded.
    pub(super) fn failed(&self) -> Option<RecordedStep> {
        self.find(&failed_marker())
    }

    /// Returns unless the execution has failed: then nothing new is begun, and the handler is dropped where it stands.
    pub(in crate::worker) async fn begin_new(&self) {
        if self.failed().is_some() {
            self.stopped.cancel();
            std::future::pending::<()>().await;
        }
    }

    /// Returns when the handler of an execution that has failed has come to something new.
    pub(in crate::worker) async fn stopped(&self) {
        self.stopped.cancelled().await;
    }

    /// Keeps how a step is undone.
    pub(super) fn register(&self, compensation: Compensation) {
        self.entries().compensations.push(compensation);
    }

    /// Takes how the steps of this run are undone, the last recorded first.
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
