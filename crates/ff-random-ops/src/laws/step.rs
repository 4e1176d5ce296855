//! Expected semantics of steps, written independently of the rules.

use ff_core::step::Step;

use super::{Effect, Step as LawStep, Verdict};
use crate::prelude::*;

/// Returns the expected effect of recording a step.
pub(crate) fn recording(model: &Model, args: &RecordStepArgs) -> Result<Effect, Code> {
    let Some(execution) = model.find(&args.execution_id) else { return Err(Code::ExecutionNotFound) };
    let steps = all(model, &args.execution_id);
    if steps.iter().any(|step| step.step == args.step) {
        return Ok(Effect::Answered);
    }
    let most = execution.policy.max_steps.unwrap_or(limits::STEPS) as usize;
    let undoes = args.step.kind == StepKind::Undo;
    let alike = steps.iter().filter(|step| (step.step.kind == StepKind::Undo) == undoes).count();
    if alike >= most + usize::from(undoes) { Err(Code::LimitExceeded) } else { Ok(Effect::Done) }
}

/// Returns the expected effect of forking an execution.
pub(crate) fn forking(model: &Model, args: &ForkArgs) -> Result<Effect, Code> {
    if let Some(existing) = model.find(&args.fork_id()) {
        let same = existing.forked_from.as_ref().is_some_and(|origin| origin.execution_id == args.execution_id);
        return if same { Ok(Effect::Answered) } else { Err(Code::IdempotencyConflict) };
    }
    model.find(&args.execution_id).ok_or(Code::ExecutionNotFound)?;
    names_a_step(model, &args.execution_id, args.before_step.as_ref()).map(|()| Effect::Done)
}

/// Checks that a step exists, if one is named.
pub(crate) fn names_a_step(model: &Model, id: &ExecutionId, point: Option<&StepPoint>) -> Result<(), Code> {
    let Some(point) = point else { return Ok(()) };
    all(model, id).iter().any(|step| is_at(step, point)).then_some(()).ok_or(Code::InvalidInput)
}

/// I21: after a replay and in a fork, no undone step and no step from the named one on is kept. Failed steps are kept
/// only by a replay from a named step. A replay of a success without a named step keeps none.
pub(crate) fn keeps_the_right_steps(step: &LawStep<'_>, after: &Model) -> Verdict {
    let (source, now, point, failed_too) = match (step.operation, &step.decided) {
        (Operation::Replay(ReplayArgs { execution_id, from_step, .. }), Ok(_)) => {
            let before = step.before.find(execution_id);
            let succeeded = before.is_some_and(has_succeeded) && from_step.is_none();
            if succeeded {
                return match all(after, execution_id).is_empty() {
                    true => Ok(()),
                    false => Err("I21: a success that is replayed keeps steps".into()),
                };
            }
            (execution_id, *execution_id, from_step, from_step.is_some())
        }
        (Operation::Fork(args), Ok(decision)) => match &decision.reply {
            Reply::Forked(forked) if !forked.duplicate => {
                (&args.execution_id, forked.execution_id, &args.before_step, false)
            }
            _ => return Ok(()),
        },
        _ => return Ok(()),
    };
    let steps = all(step.before, source);
    let end = point.as_ref().and_then(|point| steps.iter().find(|step| is_at(step, point))).map(|step| step.seq);
    let is_undone = |one: &Step| {
        let same = |other: &&Step| (&other.step.name, &other.step.key) == (&one.step.name, &one.step.key);
        steps.iter().filter(same).any(|other| other.step.kind == StepKind::Undo)
    };
    let is_good = |one: &&Step| {
        let has_succeeded = matches!(one.outcome, StepOutcome::Succeeded { .. });
        !is_undone(one) && end.is_none_or(|end| one.seq < end) && (failed_too || has_succeeded)
    };
    let expected: Vec<_> = steps.iter().filter(is_good).cloned().collect();
    if all(after, &now) == expected { Ok(()) } else { Err(format!("I21: expected the steps {expected:?}")) }
}

fn has_succeeded(execution: &Execution) -> bool {
    matches!(execution.phase, Phase::Finished { outcome: Outcome::Success, .. })
}

fn is_at(step: &Step, point: &StepPoint) -> bool {
    step.step.kind != StepKind::Undo && (&step.step.name, &step.step.key) == (&point.name, &point.key)
}

fn all(model: &Model, id: &ExecutionId) -> Vec<Step> {
    model.steps_page(id, None, usize::MAX, usize::MAX).steps
}
