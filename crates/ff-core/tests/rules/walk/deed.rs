//! One operation of a walk: what stood before it, and what was decided.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ff_core::change::Change;
use ff_core::engine_error::Refusal;
use ff_core::execution::Execution;
use ff_core::lease::Fence;
use ff_core::model::Model;
use ff_core::operation::{Conditions, Decision, Operation};
use ff_core::types::ExecutionId;
use ff_core::view::Stop;

/// Whether something is as it must be; otherwise what is wrong, with the invariant it breaks.
pub(crate) type Verdict = Result<(), String>;

/// A rule that panics is as wrong as one that breaks an invariant, and is told the same way.
pub(crate) fn without_panic<T>(step: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|_| Err("a rule panicked".into()))
}

/// An operation and its decision, nothing of it applied yet.
pub(crate) struct Deed<'m> {
    pub(crate) before: &'m Model,
    pub(crate) operation: &'m Operation,
    pub(crate) at: Conditions,
    /// Without the changes that leave everything as it is.
    pub(crate) decided: Result<Decision, Refusal>,
}

impl<'m> Deed<'m> {
    pub(crate) fn decide(before: &'m Model, operation: &'m Operation, at: Conditions) -> Self {
        let mut decided = operation.decide(before, &at).map_err(|stop| match stop {
            Stop::Refused(refusal) => refusal,
            Stop::Miss(miss) => panic!("the model has everything, yet {miss:?} was missed"),
        });
        if let Ok(decision) = &mut decided {
            let alters = |change: &Change| before.find(&change.after.id).is_none_or(|was| was.unchanged() != *change);
            decision.changes.retain(alters);
        }
        Self { before, operation, at, decided }
    }

    /// The changes, each with the record it changes.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (Option<&'m Execution>, &Change)> {
        let changes = self.decided.as_ref().map_or(&[][..], |decision| &decision.changes);
        changes.iter().map(|change| (self.before.find(&change.after.id), change))
    }

    /// What is forgotten, each as it was.
    pub(crate) fn forgotten(&self) -> impl Iterator<Item = Option<&'m Execution>> {
        let forgotten = self.decided.as_ref().map_or(&[][..], |decision| &decision.forgotten);
        forgotten.iter().map(|id| self.before.find(id))
    }

    /// Whether anything is to be written that is not there already.
    pub(crate) fn alters(&self) -> bool {
        let beside = |decision: &Decision| {
            let of_executions = !decision.flows.is_empty() || !decision.forgotten.is_empty();
            let of_partitions = decision.ring.is_some() || decision.feed.is_some() || !decision.lanes.is_empty();
            of_executions || of_partitions || !decision.workers.is_empty()
        };
        self.changes().next().is_some() || self.decided.as_ref().is_ok_and(beside)
    }
}

/// Whose lease an operation is done in the name of.
pub(crate) fn in_the_name_of(operation: &Operation) -> Option<(ExecutionId, Fence)> {
    match operation {
        Operation::Renew(args) => Some((args.execution_id, args.fence)),
        Operation::Progress(args) => Some((args.execution_id, args.fence)),
        Operation::Complete(args) => Some((args.execution_id, args.fence)),
        Operation::Fail(args) => Some((args.execution_id, args.fence)),
        Operation::Delay(args) => Some((args.execution_id, args.fence)),
        Operation::Suspend(args) => Some((args.execution_id, args.fence)),
        Operation::CreateWaitpoint(args) => Some((args.execution_id, args.fence)),
        Operation::WaitForChildren(args) => Some((args.execution_id, args.fence)),
        Operation::Submit(_)
        | Operation::Claim(_)
        | Operation::Cancel(_)
        | Operation::Replay(_)
        | Operation::Revoke(_)
        | Operation::ChangePriority(_)
        | Operation::SetTags(_)
        | Operation::CloseWaitpoint(_)
        | Operation::Deliver(_)
        | Operation::Resume(_)
        | Operation::Rotate(_)
        | Operation::StageFlow(_)
        | Operation::CreateFlow(_)
        | Operation::GrowFlow(_)
        | Operation::CloseFlow(_)
        | Operation::CancelFlow(_)
        | Operation::SetFlowTags(_)
        | Operation::Cascade(_)
        | Operation::ConfigureLane(_)
        | Operation::CopyLane(_)
        | Operation::Allot(_)
        | Operation::ClaimGranted(_)
        | Operation::RecountLane(_)
        | Operation::SettleLane(_)
        | Operation::RegisterWorker(_)
        | Operation::Heartbeat(_)
        | Operation::Leave(_)
        | Operation::SweepWorker(_)
        | Operation::Follow(_)
        | Operation::CreateKey(_)
        | Operation::RevokeKey(_)
        | Operation::Pump(_) => None,
    }
}
