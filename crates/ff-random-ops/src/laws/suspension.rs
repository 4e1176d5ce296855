//! Expected semantics of suspensions, waitpoints, signals and secrets, written independently of the rules.

use super::{Effect, step, stream};
use crate::prelude::*;

/// Returns whether a suspension repeats an earlier one under a key that is still remembered.
pub(crate) fn is_remembered(model: &Model, operation: &Operation, now: TimestampMs) -> bool {
    let Operation::Suspend(SuspendArgs { execution_id, idempotency_key: Some(key), .. }) = operation else {
        return false;
    };
    model.suspend_key(execution_id, key).ok().flatten().is_some_and(|entry| now < entry.until)
}

/// Returns the expected effect of a holder's call that suspends, creates a waitpoint, appends frames or records a step.
pub(crate) fn holder_call(model: &Model, operation: &Operation, now: TimestampMs) -> Result<Effect, Code> {
    match operation {
        Operation::Suspend(args) => suspension(model, args, now),
        Operation::CreateWaitpoint(args) => creation(model, args, now),
        Operation::AppendFrames(args) => stream::appending(model, args),
        Operation::RecordStep(args) => step::recording(model, args),
        _ => Ok(Effect::Done),
    }
}

fn suspension(model: &Model, args: &SuspendArgs, now: TimestampMs) -> Result<Effect, Code> {
    let Some(execution) = model.find(&args.execution_id) else { return Err(Code::ExecutionNotFound) };
    let used_up = execution
        .last_suspension
        .as_ref()
        .filter(|past| past.ended == SuspensionEnd::AlreadySatisfied && past.lease_epoch == execution.epoch());
    let named = |binding: &WaitpointBinding| match binding {
        WaitpointBinding::Pending { id, .. } => Some(*id),
        WaitpointBinding::Fresh { .. } => None,
    };
    let mine = |id| used_up.is_some_and(|past| past.waitpoints.iter().any(|bound| bound.id == id));
    if args.waitpoints.iter().filter_map(named).any(mine) {
        return Ok(Effect::Answered);
    }
    if matches!(args.timeout, Some(Timeout::At(at)) if at <= now) {
        return Err(Code::InvalidInput);
    }
    for binding in &args.waitpoints {
        match binding {
            WaitpointBinding::Pending { id, key } => {
                let waitpoint = waitpoint(model, &execution.id, id).ok_or(Code::WaitpointNotFound)?;
                match waitpoint_status(execution, waitpoint, now) {
                    WaitpointStatus::Pending if waitpoint.key != *key => return Err(Code::InvalidWaitpointKey),
                    WaitpointStatus::Pending => {}
                    WaitpointStatus::RanOut => return Err(Code::PendingWaitpointExpired),
                    WaitpointStatus::Waited | WaitpointStatus::Over => return Err(Code::WaitpointNotPending),
                }
            }
            WaitpointBinding::Fresh { key } => {
                if execution.pending_waitpoints.iter().any(|p| p.key == *key && now < p.expires_at) {
                    return Err(Code::WaitpointAlreadyExists);
                }
            }
        }
    }
    Ok(Effect::Done)
}

fn creation(model: &Model, args: &CreateWaitpointArgs, now: TimestampMs) -> Result<Effect, Code> {
    let Some(execution) = model.find(&args.execution_id) else { return Err(Code::ExecutionNotFound) };
    let live: Vec<_> = execution.pending_waitpoints.iter().filter(|p| now < p.expires_at).collect();
    match live.iter().any(|p| p.key == args.key) {
        true => Ok(Effect::Answered),
        false if live.len() >= limits::PENDING_WAITPOINTS => Err(Code::LimitExceeded),
        false => Ok(Effect::Done),
    }
}

/// Returns the expected effect of a delivery. The token is checked first, then earlier deliveries, then the current
/// state.
pub(crate) fn delivery(model: &Model, args: &DeliverArgs, now: TimestampMs) -> Result<Effect, Code> {
    if args.token.is_missing() {
        return Err(Code::MissingToken);
    }
    let execution = model.find(&args.execution_id).ok_or(Code::InvalidToken)?;
    let id = match &args.waitpoint {
        WaitpointRef::Id(id) => Some(*id),
        WaitpointRef::Key(key) => execution.waitpoint_by_key(key),
    };
    let waitpoint = id.and_then(|id| waitpoint(model, &execution.id, &id)).ok_or(Code::InvalidToken)?;
    let token = WaitpointToken::parse(args.token.expose()).map_err(|_| Code::InvalidToken)?;
    verify(model, waitpoint, &token, now)?;
    let key = args.idempotency_key.as_ref();
    let first = key.and_then(|key| model.signal_key(&execution.id, &waitpoint.id, key).ok().flatten());
    if first.is_some_and(|first| now < first.until) {
        return Ok(Effect::Answered);
    }
    match waitpoint_status(execution, waitpoint, now) {
        _ if execution.is_finished() => Err(Code::TargetNotSignalable),
        WaitpointStatus::Pending | WaitpointStatus::Waited => Ok(Effect::Done),
        WaitpointStatus::RanOut => Err(Code::PendingWaitpointExpired),
        WaitpointStatus::Over => Err(Code::WaitpointClosed),
    }
}

/// Checks that a token opens a waitpoint: its MAC matches the secret of its kid, and this secret has not expired.
pub(crate) fn verify(
    model: &Model,
    waitpoint: &Waitpoint,
    token: &WaitpointToken,
    now: TimestampMs,
) -> Result<(), Code> {
    let ring = model.ring(waitpoint.execution_id.partition()).ok().flatten();
    let signing = ring
        .and_then(|ring| ring.keys.get(&token.kid))
        .filter(|key| Mac::of(&key.secret, &waitpoint.execution_id, &waitpoint.id, &waitpoint.key) == token.mac);
    match signing.map(|key| key.expires_at) {
        None => Err(Code::InvalidToken),
        Some(Some(at)) if now >= at => Err(Code::TokenExpired),
        Some(_) => Ok(()),
    }
}

pub(crate) fn decision(execution: &Execution, args: &ResumeArgs) -> Result<Effect, Code> {
    let is_addressed = |id| args.suspension_id.is_none_or(|named| named == id);
    let decided = execution.last_suspension.as_ref().filter(|past| is_addressed(past.id)).map(|past| &past.ended);
    match (&execution.phase, decided) {
        (Phase::Suspended { suspension }, _) if is_addressed(suspension.id) => Ok(Effect::Done),
        (_, Some(SuspensionEnd::Operator { decision, .. })) if *decision == args.decision => Ok(Effect::Answered),
        _ => Err(Code::ExecutionNotSuspended),
    }
}

pub(crate) fn closing(
    model: &Model,
    execution: &Execution,
    args: &CloseWaitpointArgs,
    now: TimestampMs,
) -> Result<Effect, Code> {
    let waitpoint = waitpoint(model, &execution.id, &args.waitpoint_id).ok_or(Code::WaitpointNotFound)?;
    match waitpoint_status(execution, waitpoint, now) {
        WaitpointStatus::Pending => Ok(Effect::Done),
        WaitpointStatus::Waited => Err(Code::WaitpointNotPending),
        WaitpointStatus::RanOut | WaitpointStatus::Over => Ok(Effect::Answered),
    }
}

pub(crate) fn rotation(model: &Model, args: &RotatePartitionArgs, now: TimestampMs) -> Result<Effect, Code> {
    let ring = model.ring(args.partition).ok().flatten();
    let known = ring.and_then(|ring| ring.keys.get(&args.rotation.kid));
    match known.filter(|key| key.expires_at.is_none_or(|at| now < at)) {
        None => Ok(Effect::Done),
        Some(key) if key.secret != args.rotation.secret => Err(Code::RotationConflict),
        // The current secret stays as it is; a retired one becomes current again.
        Some(key) => Ok(if key.expires_at.is_none() { Effect::Answered } else { Effect::Done }),
    }
}

/// State of a waitpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitpointStatus {
    Pending,
    /// A suspension waits on it.
    Waited,
    RanOut,
    Over,
}

pub(crate) fn waitpoint_status(execution: &Execution, waitpoint: &Waitpoint, now: TimestampMs) -> WaitpointStatus {
    let pends = execution.pending_waitpoints.iter().any(|pending| pending.id == waitpoint.id);
    let ran_out = waitpoint.expires_at.is_some_and(|at| now >= at);
    let used = waitpoint.suspension_id.is_some();
    match &execution.phase {
        _ if pends && !ran_out => WaitpointStatus::Pending,
        Phase::Suspended { suspension } if used && waitpoint.suspension_id == Some(suspension.id) => {
            WaitpointStatus::Waited
        }
        _ if ran_out && !used && waitpoint.closed.is_none() => WaitpointStatus::RanOut,
        _ => WaitpointStatus::Over,
    }
}

fn waitpoint<'m>(model: &'m Model, execution: &ExecutionId, id: &WaitpointId) -> Option<&'m Waitpoint> {
    model.waitpoint(execution, id).ok().flatten()
}
