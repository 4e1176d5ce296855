//! Expected semantics of every operation on an execution that is in no flow. They are written independently of the
//! rules: as tables, not as code that changes records.

use super::{Effect, Step, Verdict, holder_of, is_member, step as steps, suspension};
use crate::adjustment;
use crate::prelude::*;

/// Checks that an operation is refused, performed or only answered as the tables say.
pub fn as_expected(step: &Step<'_>) -> Verdict {
    if step.operation.check(&step.at.partitions).is_ok() && is_about_others(step) {
        return Ok(());
    }
    let expected = expected(step.before, step.operation, &step.at.partitions, step.at.now);
    match (&step.decided, expected) {
        (Err(refusal), Err(code)) if refusal.code == code => says_how_it_stands(step, code),
        (Ok(_), Ok(Effect::Done)) => Ok(()),
        (Ok(_), Ok(Effect::Answered)) if !step.alters() => Ok(()),
        (Ok(decision), expected) => Err(format!("I5: expected {expected:?}, decided {decision:?}")),
        (Err(refusal), expected) => Err(format!("expected {expected:?}, refused {refusal}")),
    }
}

/// Returns whether the tables below do not cover an operation: it concerns a flow or a member of a flow, a configured
/// lane, or a singleton or debounce key.
fn is_about_others(step: &Step<'_>) -> bool {
    let about = match step.operation {
        // The outcome depends on the other executions under the same key.
        Operation::Submit(args) if args.key_rule.is_some() => return true,
        Operation::Submit(args) => {
            let id = args.execution_id(&step.at.partitions);
            if step.is_configured(id.partition(), &args.lane.within(&args.namespace)) {
                return true;
            }
            id
        }
        Operation::Cancel(args) => args.execution_id,
        Operation::Hold(args) => args.execution_id,
        Operation::ReleaseHold(args) => args.execution_id,
        Operation::Assign(args) => args.execution_id,
        Operation::Unassign(args) => args.execution_id,
        Operation::Replay(args) => args.execution_id,
        Operation::Revoke(args) => args.execution_id,
        Operation::Fork(args) => args.execution_id,
        Operation::Deliver(args) => args.execution_id,
        Operation::Resume(args) => args.execution_id,
        Operation::CloseWaitpoint(args) => args.execution_id,
        Operation::Rotate(_) | Operation::Claim(_) | Operation::Pump(_) | Operation::Follow(_) => return false,
        Operation::WaitForChildren(_) => return true,
        other => match holder_of(other).map(|(id, _)| id).or(adjustment::subject(other)) {
            Some(id) => id,
            None => return true,
        },
    };
    let drains = |found: &Execution| step.is_configured(found.id.partition(), &found.lane_key());
    let admits = matches!(step.operation, Operation::Replay(_) | Operation::Fork(_));
    step.before.find(&about).is_some_and(|found| is_member(found) || (admits && drains(found)))
}

/// Checks that the refusal of a late holder's call names the public state of the execution.
fn says_how_it_stands(step: &Step<'_>, code: Code) -> Verdict {
    let (Code::ExecutionNotActive, Some((id, _)), Err(refusal)) = (code, holder_of(step.operation), &step.decided)
    else {
        return Ok(());
    };
    let state = step.before.find(&id).map(Execution::public_state);
    if refusal.state == state { Ok(()) } else { Err(format!("is {state:?}, and the refusal says {:?}", refusal.state)) }
}

fn expected(
    model: &Model,
    operation: &Operation,
    partitions: &PartitionConfig,
    now: TimestampMs,
) -> Result<Effect, Code> {
    operation.check(partitions).map_err(|refusal| refusal.code)?;
    let found = |id: &ExecutionId| model.find(id).ok_or(Code::ExecutionNotFound);
    if let Some((id, fence)) = holder_of(operation) {
        if suspension::is_remembered(model, operation, now) {
            return Ok(Effect::Answered);
        }
        return match holders_call(found(&id)?, &fence, operation, now)? {
            Effect::Done => suspension::holder_call(model, operation, now),
            Effect::Answered => Ok(Effect::Answered),
        };
    }
    if let Some(id) = adjustment::subject(operation) {
        let before = found(&id)?;
        let same = adjustment::adjusted(operation, before, now)? == *before;
        return Ok(if same { Effect::Answered } else { Effect::Done });
    }
    match operation {
        Operation::Submit(args) => submission(model, args, partitions, now),
        Operation::Cancel(args) => match found(&args.execution_id)?.phase {
            Phase::Finished { outcome: Outcome::Cancelled, .. } => Ok(Effect::Answered),
            Phase::Finished { .. } => Err(Code::ExecutionNotActive),
            _ => Ok(Effect::Done),
        },
        Operation::Hold(args) => holding(found(&args.execution_id)?, true),
        Operation::ReleaseHold(args) => holding(found(&args.execution_id)?, false),
        Operation::Assign(args) => assignment(found(&args.execution_id)?, args, now),
        Operation::Unassign(args) => match found(&args.execution_id)? {
            ended if ended.is_finished() => Err(Code::ExecutionNotActive),
            free if free.grant().is_none() => Ok(Effect::Answered),
            _ => Ok(Effect::Done),
        },
        Operation::Replay(args) => match found(&args.execution_id)? {
            live if !live.is_finished() => Err(Code::ExecutionNotTerminal),
            spent if spent.replays >= spent.policy.max_replay_count => Err(Code::MaxReplaysExhausted),
            ended => {
                let named = steps::names_a_step(model, &ended.id, args.from_step.as_ref());
                named.map(|()| Effect::Done)
            }
        },
        Operation::Fork(args) => steps::forking(model, args),
        Operation::Revoke(args) => revocation(found(&args.execution_id)?, args),
        Operation::Deliver(args) => suspension::delivery(model, args, now),
        Operation::Resume(args) => suspension::decision(found(&args.execution_id)?, args),
        Operation::CloseWaitpoint(args) => suspension::closing(model, found(&args.execution_id)?, args, now),
        Operation::Rotate(args) => suspension::rotation(model, args, now),
        _ => Ok(Effect::Done),
    }
}

/// Returns the expected effect of a call with a fence, by the state of the lease.
fn holders_call(execution: &Execution, fence: &Fence, operation: &Operation, now: TimestampMs) -> Result<Effect, Code> {
    if let Phase::Running { lease } = &execution.phase {
        return match lease.fence == *fence {
            false => Err(Code::StaleLease),
            true if now >= lease.until => Err(Code::LeaseExpired),
            true => Ok(Effect::Done),
        };
    }
    let Some(last) = &execution.last_lease else { return Err(Code::ExecutionNotActive) };
    if last.fence != *fence {
        return Err(Code::StaleLease);
    }
    match (last.ended, operation) {
        (LeaseEnding::Completed, Operation::Complete(_))
        | (LeaseEnding::Failed { .. }, Operation::Fail(_))
        | (LeaseEnding::Delayed { .. }, Operation::Delay(_))
        | (LeaseEnding::Suspended, Operation::Suspend(_)) => Ok(Effect::Answered),
        (LeaseEnding::Expired | LeaseEnding::TimedOut, _) => Err(Code::LeaseExpired),
        (LeaseEnding::Revoked, _) => Err(Code::LeaseRevoked),
        _ => Err(Code::ExecutionNotActive),
    }
}

/// Returns the expected effect of a submission. A repeated key refers to the same execution while the key is
/// remembered; a repeated id refers to the same execution while the execution exists.
fn submission(
    model: &Model,
    args: &SubmitArgs,
    partitions: &PartitionConfig,
    now: TimestampMs,
) -> Result<Effect, Code> {
    let key = args.idempotency_key.as_ref();
    let remembered = key.and_then(|key| model.key(&args.namespace, key).ok().flatten());
    let under_key = remembered.filter(|entry| now < entry.until).and_then(|entry| model.find(&entry.execution_id));
    let Some(existing) = under_key.or_else(|| model.find(&args.execution_id(partitions))) else {
        // A lane that was never configured has no classes.
        return if args.policy.class().is_plain() { Ok(Effect::Done) } else { Err(Code::NotRunnable) };
    };
    let same = existing.namespace == args.namespace
        && existing.idempotency_key.as_ref() == key
        && existing.kind == args.kind
        && existing.fingerprint == args.payload.fingerprint();
    if same { Ok(Effect::Answered) } else { Err(Code::IdempotencyConflict) }
}

/// Returns the expected effect of placing or releasing a hold. Only a live execution is held, and only once.
fn holding(execution: &Execution, is_to_be_held: bool) -> Result<Effect, Code> {
    match execution.phase {
        Phase::Finished { .. } => Err(Code::ExecutionNotActive),
        _ if execution.hold.is_some() == is_to_be_held => Ok(Effect::Answered),
        _ => Ok(Effect::Done),
    }
}

fn assignment(execution: &Execution, args: &AssignArgs, now: TimestampMs) -> Result<Effect, Code> {
    let live = execution.grant().filter(|grant| now < grant.expires_at);
    match (&execution.phase, live) {
        (Phase::Finished { .. }, _) => Err(Code::ExecutionNotActive),
        (_, Some(grant)) if grant.worker_instance_id == args.worker_instance_id => Ok(Effect::Answered),
        (_, Some(_)) => Err(Code::GrantAlreadyExists),
        (Phase::Running { lease }, _) if now < lease.until => Err(Code::LeaseConflict),
        (Phase::Running { .. }, _) if execution.reclaims >= execution.policy.max_reclaim_count => {
            Err(Code::LeaseConflict)
        }
        _ if execution.hold.is_some() || execution.behind().is_some() => Err(Code::ExecutionNotEligible),
        (Phase::Running { .. }, _) => Ok(Effect::Done),
        _ if execution.is_ready() => Ok(Effect::Done),
        _ => Err(Code::ExecutionNotEligible),
    }
}

fn revocation(execution: &Execution, args: &RevokeArgs) -> Result<Effect, Code> {
    let is_addressed = |fence: &Fence| args.lease_id.is_none_or(|named| named == fence.lease_id);
    match (&execution.phase, &execution.last_lease) {
        (Phase::Running { lease }, _) if is_addressed(&lease.fence) => Ok(Effect::Done),
        (Phase::Running { .. }, _) => Err(Code::StaleLease),
        (_, Some(last)) if last.ended == LeaseEnding::Revoked && is_addressed(&last.fence) => Ok(Effect::Answered),
        _ => Err(Code::NoActiveLease),
    }
}
