//! The promises of the rules, written independently of the rules and checked after every operation of a run.

mod expected;
mod healthy;
mod hinted;
mod lawful;
mod lazy;
mod ledger;
mod moves;
mod promised;
mod repeated;
mod step;
mod stream;
mod suspension;
mod tokens;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use expected::as_expected;
pub use healthy::healthy;
pub use lawful::lawful;
pub use lazy::decide_lazily;
pub use moves::{ADMISSION_MOVES, EXECUTION_MOVES, KEY_MOVES, SUSPENSION_MOVES, adjustment_moves, count_moves};
pub use promised::promised;
pub use repeated::answers_again;
pub use tokens::tokens_open_nothing_else;

use self::hinted::hinted;
use self::ledger::Ledger;
use crate::coverage::Coverage;
use crate::prelude::*;

/// Result of a check. The error names the broken invariant.
pub type Verdict = Result<(), String>;

/// The effect of an operation that is not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The operation was performed.
    Done,
    /// No effect: the operation had been performed before and is answered again.
    Answered,
}

/// With more executions than this, the full state is checked only after every `LOOK_EVERY` operations.
const FEW: usize = 24;
const LOOK_EVERY: usize = 16;

/// The checks of a run, and the answers that callers received in it.
#[derive(Default)]
pub(crate) struct Laws {
    ledger: Ledger,
    operations: usize,
    /// The first violation of a law.
    pub(crate) broken: Option<String>,
}

impl Laws {
    /// Performs an operation on the model and checks it.
    pub(crate) fn execute(
        &mut self,
        model: &mut Model,
        operation: &Operation,
        at: Conditions,
        coverage: &mut Coverage,
    ) -> Result<Reply, Refusal> {
        self.operations += 1;
        let before = model.clone();
        let mut answer = Err(Code::NotFound.refusal());
        let checked = without_panic(|| {
            let executed = model.execute(operation, &at);
            answer = executed.as_ref().map(|(reply, _)| reply.clone()).map_err(Clone::clone);
            self.check(&Step::decide(&before, operation, at), model, executed, coverage)
        });
        if let Err(what) = checked {
            self.broken.get_or_insert(what);
        }
        answer
    }

    fn check(
        &mut self,
        step: &Step<'_>,
        after: &Model,
        executed: Result<(Reply, Vec<Hint>), Refusal>,
        coverage: &mut Coverage,
    ) -> Verdict {
        as_expected(step)?;
        lawful(step)?;
        promised(step)?;
        let steals = self.ledger.steals;
        self.ledger.enter(step, after)?;
        (steals..self.ledger.steals).for_each(|_| coverage.record("lease steal"));
        step::keeps_the_right_steps(step, after)?;
        count_moves(step, coverage)?;
        // A repeated call draws another nonce.
        let again = Conditions { nonce: SeededEntropy::new(0).nonce(), ..step.at };
        match (executed, &step.decided) {
            (Ok((reply, hints)), Ok(decision)) if reply == decision.reply => {
                hinted(step.before, after, &hints, &step.at.partitions)?;
                answers_again(after, step.operation, &reply, again)?;
            }
            (Err(refusal), Err(first)) if refusal == *first => {}
            (other, _) => return Err(format!("decided twice, and differently: {other:?}")),
        }
        if after.executions().nth(FEW).is_some() && !self.operations.is_multiple_of(LOOK_EVERY) {
            return Ok(());
        }
        lazy::decides_the_same(step)?;
        for partition in 0..step.at.partitions.num_flow_partitions {
            if !step.alters() && after.snapshot(partition) != step.before.snapshot(partition) {
                return Err("I5: changed something though it was refused or only answered".into());
            }
            healthy(after, partition, step.at.now)?;
        }
        tokens_open_nothing_else(after, &again)?;
        self.ledger.agrees(after)
    }

    /// Returns the times at which idempotency keys of submissions are forgotten.
    pub(crate) fn keys_forgotten_at(&self) -> impl Iterator<Item = TimestampMs> {
        self.ledger.keys_forgotten_at()
    }
}

/// Converts a panic of a rule into an error, which is reported like a broken invariant.
pub fn without_panic<T>(step: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|_| Err("a rule panicked".into()))
}

/// An operation and its decision, which is not applied yet.
pub struct Step<'m> {
    pub before: &'m Model,
    pub operation: &'m Operation,
    pub at: Conditions,
    /// The decision, without changes that leave a record as it was.
    pub decided: Result<Decision, Refusal>,
}

impl<'m> Step<'m> {
    pub fn decide(before: &'m Model, operation: &'m Operation, at: Conditions) -> Self {
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

    /// Returns the changes, each with the record before it.
    pub fn changes(&self) -> impl Iterator<Item = (Option<&'m Execution>, &Change)> {
        let changes = self.decided.as_ref().map_or(&[][..], |decision| &decision.changes);
        changes.iter().map(|change| (self.before.find(&change.after.id), change))
    }

    /// Returns the forgotten executions as they were before the step.
    pub fn forgotten(&self) -> impl Iterator<Item = Option<&'m Execution>> {
        let forgotten = self.decided.as_ref().map_or(&[][..], |decision| &decision.forgotten);
        forgotten.iter().map(|id| self.before.find(id))
    }

    /// Returns whether a partition has settings of a lane.
    pub(crate) fn is_configured(&self, partition: u16, lane: &LaneId) -> bool {
        self.before.lane(partition, lane).is_ok_and(|known| known.is_some())
    }

    /// Returns whether the step writes anything that is not stored already.
    pub fn alters(&self) -> bool {
        let beside = |decision: &Decision| {
            let of_executions = !decision.flows.is_empty() || !decision.forgotten.is_empty();
            let of_partitions = decision.ring.is_some() || decision.feed.is_some() || !decision.lanes.is_empty();
            of_executions || of_partitions || !decision.workers.is_empty()
        };
        self.changes().next().is_some() || self.decided.as_ref().is_ok_and(beside)
    }
}

/// Returns the execution and the fence of an operation that only the holder of a lease may perform.
pub(crate) fn holder_of(operation: &Operation) -> Option<(ExecutionId, Fence)> {
    Some(match operation {
        Operation::Renew(args) => (args.execution_id, args.fence),
        Operation::Progress(args) => (args.execution_id, args.fence),
        Operation::AppendFrames(args) => (args.execution_id, args.fence),
        Operation::RecordStep(args) => (args.execution_id, args.fence),
        Operation::Complete(args) => (args.execution_id, args.fence),
        Operation::Fail(args) => (args.execution_id, args.fence),
        Operation::Delay(args) => (args.execution_id, args.fence),
        Operation::Suspend(args) => (args.execution_id, args.fence),
        Operation::CreateWaitpoint(args) => (args.execution_id, args.fence),
        Operation::WaitForChildren(args) => (args.execution_id, args.fence),
        _ => return None,
    })
}

/// Returns whether an execution is in a flow. A member depends on other executions, so the tables of single executions
/// do not cover it.
pub(crate) fn is_member(execution: &Execution) -> bool {
    execution.membership.is_some()
}
