//! Recording: the holder records that a step is done, with its result, so that the step is not done again.

use super::{Step, StepCounter, StepKind, StepOutcome, StepRef, StepsWrite};
use crate::engine_error::{Code, Refusal, check_limit};
use crate::execution::{AttemptSlot, Execution};
use crate::lease::Fence;
use crate::limits;
use crate::operation::command::{Conditions, Decision, ExecutionCommand, check_message, found};
use crate::rule::change::Change;
use crate::rule::view::{Stop, View};
use crate::types::{AttemptIndex, ExecutionId, TimestampMs};

/// Records a step of the holder's execution, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordStepArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
    pub step: StepRef,
    /// Time at which the step began; the time of recording when absent or later.
    pub started_at: Option<TimestampMs>,
    pub outcome: StepOutcome,
}

/// The result of recording a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRecorded {
    pub seq: u32,
    /// True when a step of this kind, name and key was already recorded; nothing was written.
    pub duplicate: bool,
    /// The step recorded before, whose outcome counts.
    pub step: Option<Step>,
}

impl ExecutionCommand for RecordStepArgs {
    type Reply = StepRecorded;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        let started_at = self.started_at.unwrap_or_default();
        check_limit(Code::LimitExceeded, "started_at", limits::TIMESTAMP_MAX_MS, started_at.0)?;
        if started_at.0 < 0 {
            return Err(Refusal::invalid("started_at", "must not lie before 1970"));
        }
        match &self.outcome {
            StepOutcome::Succeeded { result } => {
                check_limit(Code::PayloadTooLarge, "result", limits::STEP_RESULT_BYTES, result.bytes.len())
            }
            StepOutcome::Failed { failure } => check_message("message", Some(&failure.message)),
        }
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<StepRecorded>, Stop> {
        let execution = found(view, &self.execution_id)?;
        execution.held_by(&self.fence, at.now)?;
        let AttemptSlot::Open(attempt) = &execution.attempt else { return Err(execution.not_active().into()) };
        let recorded = if execution.steps.is_some() { view.step(&execution.id, &self.step)? } else { None };
        if let Some(recorded) = recorded {
            let reply = StepRecorded { seq: recorded.seq, duplicate: true, step: Some(recorded.clone()) };
            return Ok(Decision::of(reply, None));
        }
        let (seq, change) = record(execution, attempt.index, self, at.now)?;
        Ok(Decision::of(StepRecorded { seq, duplicate: false, step: None }, [change]))
    }
}

/// Adds a step that is not recorded yet.
fn record(
    execution: &Execution,
    attempt: AttemptIndex,
    args: &RecordStepArgs,
    now: TimestampMs,
) -> Result<(u32, Change), Refusal> {
    let mut counter = execution.steps.unwrap_or_default();
    check_room(&counter, args.step.kind, execution.policy.max_steps.unwrap_or(limits::STEPS))?;
    let step = Step {
        seq: counter.next,
        step: args.step.clone(),
        attempt,
        started_at: args.started_at.map_or(now, |at| at.min(now)),
        recorded_at: now,
        outcome: args.outcome.clone(),
    };
    counter.add(&step.head());
    let mut change = execution.unchanged();
    change.after.steps = Some(counter);
    let seq = step.seq;
    change.steps = Some(Box::new(StepsWrite { recorded: vec![step], ..StepsWrite::default() }));
    Ok((seq, change))
}

/// Refuses a step over the limit. Every step may be undone, and one more compensation records that undoing has begun.
fn check_room(counter: &StepCounter, kind: StepKind, max_steps: u32) -> Result<(), Refusal> {
    let (recorded, most) =
        if kind == StepKind::Undo { (counter.undos, max_steps + 1) } else { (counter.count, max_steps) };
    if recorded >= most || counter.next == u32::MAX {
        let sent = u64::from(recorded) + 1;
        return Err(Refusal::over_limit(Code::LimitExceeded, "max_steps", u64::from(max_steps), sent));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::Failure;
    use crate::model::Model;
    use crate::payload::Payload;
    use crate::rule::samples::{at, conditions, held, running};
    use crate::types::{Kind, LeaseId, StepKey, StepName};

    fn named(name: &str, key: &str) -> StepRef {
        StepRef { key: StepKey::parse(key).unwrap(), ..StepRef::new(StepName::parse(name).unwrap()) }
    }

    fn args(step: StepRef) -> RecordStepArgs {
        let execution = running();
        RecordStepArgs {
            execution_id: execution.id,
            fence: held(&execution),
            step,
            started_at: None,
            outcome: StepOutcome::Succeeded { result: Payload::json("1") },
        }
    }

    fn counted(counter: StepCounter) -> Execution {
        Execution { steps: Some(counter), ..running() }
    }

    fn room(execution: &Execution, kind: StepKind) -> Option<(Code, Option<(u64, u64)>)> {
        let args = args(StepRef { kind, ..named("a", "") });
        let refusal = record(execution, AttemptIndex(0), &args, at(5)).err()?;
        assert_eq!(refusal.field.as_deref(), Some("max_steps"));
        Some((refusal.code, refusal.limit))
    }

    #[test]
    fn steps_are_numbered_in_the_order_of_recording() {
        let (seq, first) = record(&running(), AttemptIndex(0), &args(named("a", "")), at(5)).unwrap();
        let (next, second) = record(&first.after, AttemptIndex(0), &args(named("b", "k")), at(6)).unwrap();
        assert_eq!((seq, next), (0, 1));
        assert_eq!(second.after.steps, Some(StepCounter { next: 2, count: 2, undos: 0, bytes: 5 }));
        let written = &second.steps.unwrap().recorded[0];
        assert_eq!((written.started_at, written.recorded_at), (at(6), at(6)));
    }

    #[test]
    fn a_step_did_not_begin_after_it_was_recorded() {
        let begun = |ms| {
            let args = RecordStepArgs { started_at: Some(at(ms)), ..args(named("a", "")) };
            record(&running(), AttemptIndex(0), &args, at(5)).unwrap().1.steps.unwrap().recorded[0].started_at
        };
        assert_eq!((begun(3), begun(7)), (at(3), at(5)));
        for wrong in [-1, limits::TIMESTAMP_MAX_MS + 1] {
            let args = RecordStepArgs { started_at: Some(TimestampMs(wrong)), ..args(named("a", "")) };
            assert_eq!(args.check().unwrap_err().field.as_deref(), Some("started_at"));
        }
    }

    #[test]
    fn only_the_holder_records() {
        let (mut model, execution) = (Model::default(), running());
        model.store(&execution, &[]);
        let refused = |args: &RecordStepArgs, ms| match args.decide(&model, &conditions(at(ms))) {
            Err(Stop::Refused(refusal)) => Some(refusal.code),
            _ => None,
        };
        let call = args(named("a", ""));
        assert_eq!(refused(&call, 5), None);
        assert_eq!(refused(&call, 30_000), Some(Code::LeaseExpired));
        let other = Fence { lease_id: LeaseId::new(), ..call.fence };
        assert_eq!(refused(&RecordStepArgs { fence: other, ..call }, 5), Some(Code::StaleLease));
    }

    #[test]
    fn there_are_as_many_steps_as_the_limit_says_and_not_one_more() {
        let with = |count| counted(StepCounter { next: count, count, ..StepCounter::default() });
        assert_eq!(room(&with(999), StepKind::Step), None);
        for kind in [StepKind::Step, StepKind::Wait] {
            assert_eq!(room(&with(1_000), kind), Some((Code::LimitExceeded, Some((1_000, 1_001)))));
        }
        let mut more = with(1_000);
        more.policy.max_steps = Some(1_001);
        assert_eq!(room(&more, StepKind::Step), None);
        let mut fewer = with(1);
        fewer.policy.max_steps = Some(1);
        assert_eq!(room(&fewer, StepKind::Wait), Some((Code::LimitExceeded, Some((1, 2)))));
    }

    #[test]
    fn every_step_can_be_undone_however_many_there_are() {
        let with = |undos| counted(StepCounter { next: 1_000 + undos, count: 1_000, undos, bytes: 0 });
        assert_eq!(room(&with(1_000), StepKind::Undo), None);
        assert_eq!(room(&with(1_001), StepKind::Undo), Some((Code::LimitExceeded, Some((1_000, 1_002)))));
    }

    #[test]
    fn a_result_is_taken_at_its_limit_and_refused_one_past_it() {
        let sized = |bytes| RecordStepArgs {
            outcome: StepOutcome::Succeeded { result: Payload::bytes(vec![0; bytes]) },
            ..args(named("a", ""))
        };
        assert_eq!(sized(limits::STEP_RESULT_BYTES).check(), Ok(()));
        let refusal = sized(limits::STEP_RESULT_BYTES + 1).check().unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::PayloadTooLarge, Some("result")));
        let failed = |bytes| {
            let failure = Failure { category: Kind::parse("x").unwrap(), message: "m".repeat(bytes), permanent: true };
            RecordStepArgs { outcome: StepOutcome::Failed { failure }, ..args(named("a", "")) }
        };
        assert_eq!(failed(limits::MESSAGE_BYTES).check(), Ok(()));
        let refusal = failed(limits::MESSAGE_BYTES + 1).check().unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::LimitExceeded, Some("message")));
    }
}
