//! Forking: a new execution continues from the steps of another one.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::forget::not_undone;
use super::{StepCounter, StepHead, StepPoint, StepsWrite};
use crate::engine_error::{Code, Refusal, check_limit};
use crate::event::{Event, EventKind};
use crate::execution::contracts::SubmitArgs;
use crate::execution::{Execution, create};
use crate::operation::command::{Conditions, Decision, ExecutionCommand, found};
use crate::rule::change::{Change, Write};
use crate::rule::view::{Stop, View, require_all};
use crate::types::{ExecutionId, is_derived, new_execution_uuid};
use crate::{lane, limits};

/// A new execution with the payload of another one and some of its steps. The caller supplies the uuid, so that a call
/// whose reply was lost can be repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkArgs {
    pub execution_id: ExecutionId,
    pub uuid: Uuid,
    /// The first step not to copy; all steps are copied when absent.
    pub before_step: Option<StepPoint>,
}

/// The new execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ForkedExecution {
    pub execution_id: ExecutionId,
    /// Number of copied steps.
    pub steps: u32,
    /// True when the same fork already existed; nothing was written.
    pub duplicate: bool,
}

/// The origin of a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkOrigin {
    pub execution_id: ExecutionId,
    /// Number of copied steps.
    pub steps: u32,
}

impl ForkArgs {
    /// Creates a fork with every step.
    pub fn new(execution_id: ExecutionId) -> Self {
        Self { execution_id, uuid: new_execution_uuid(), before_step: None }
    }

    /// Returns the id of the new execution, which is on the partition of the original one.
    pub fn fork_id(&self) -> ExecutionId {
        ExecutionId::new(self.execution_id.partition(), self.uuid)
    }

    /// Returns the steps to copy: those that succeeded and were not undone.
    fn copied<'h>(&self, heads: &'h [StepHead]) -> Result<Vec<&'h StepHead>, Refusal> {
        let before = self.before_step.as_ref().map(|point| point.find("before_step", heads)).transpose()?;
        let is_before = |head: &&StepHead| before.is_none_or(|before| head.seq < before);
        let copied: Vec<_> = not_undone(heads).filter(is_before).filter(|head| head.has_succeeded()).collect();
        let bytes = copied.iter().map(|head| head.size()).sum::<u64>();
        check_limit(Code::PayloadTooLarge, "before_step", limits::FORK_BYTES as u64, bytes)?;
        Ok(copied)
    }
}

impl ExecutionCommand for ForkArgs {
    type Reply = ForkedExecution;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        if is_derived(&self.uuid) {
            return Err(Refusal::invalid("uuid", "is kept for members of flows; send one that was drawn at random"));
        }
        Ok(())
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<ForkedExecution>, Stop> {
        let id = self.fork_id();
        require_all([view.execution(&id).map(drop), view.execution(&self.execution_id).map(drop)])?;
        if let Some(existing) = view.execution(&id)? {
            return Ok(Decision::of(self.again(existing)?, None));
        }
        let source = found(view, &self.execution_id)?;
        let heads = if source.steps.is_some() { view.step_heads(&source.id)? } else { Vec::new() };
        let copied = self.copied(&heads)?;
        require_all(
            [view.payload(&source.id).map(drop)]
                .into_iter()
                .chain(copied.iter().map(|head| view.step(&source.id, &head.step).map(drop))),
        )?;
        let lane = (&source.namespace, &source.lane);
        let terms = lane::admit(view, id.partition(), lane, || "execution_id".into())?;
        let submission = SubmitArgs {
            uuid: self.uuid,
            namespace: source.namespace.clone(),
            lane: source.lane.clone(),
            priority: source.priority,
            tags: source.tags.clone(),
            policy: source.policy.clone(),
            trace: source.trace.clone(),
            ..SubmitArgs::new(source.kind.clone(), view.payload(&source.id)?.ok_or(Code::InvariantViolation)?.clone())
        };
        let steps = u32::try_from(copied.len()).unwrap_or(u32::MAX);
        let mut fork = terms.apply(create(&submission, id, at.now));
        fork.forked_from = Some(Box::new(ForkOrigin { execution_id: source.id, steps }));
        fork.steps = StepCounter::of(copied.iter().copied());
        let mut change = Change::of(fork);
        change.payload = Write::Put(submission.payload);
        let recorded = copied.iter().filter_map(|head| view.step(&source.id, &head.step).transpose());
        let recorded = recorded.map(|step| step.cloned()).collect::<Result<Vec<_>, _>>()?;
        if !recorded.is_empty() {
            change.steps = Some(Box::new(StepsWrite { recorded, ..StepsWrite::default() }));
        }
        change.events.push(Event::new(&id, at.now, EventKind::Submitted));
        Ok(Decision::of(ForkedExecution { execution_id: id, steps, duplicate: false }, [change]))
    }
}

impl ForkArgs {
    /// Returns the reply when an execution with this id already exists.
    fn again(&self, existing: &Execution) -> Result<ForkedExecution, Refusal> {
        match existing.forked_from.as_deref() {
            Some(origin) if origin.execution_id == self.execution_id => {
                Ok(ForkedExecution { execution_id: existing.id, steps: origin.steps, duplicate: true })
            }
            _ => Err(Code::IdempotencyConflict.refusal().at("uuid").because("was used before for other work")),
        }
    }
}
