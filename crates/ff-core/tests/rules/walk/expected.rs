//! What the semantics say becomes of an operation, told a second time and from the outside: as their tables, not as
//! code that changes records.

use ff_core::contracts::{RevokeArgs, SubmitArgs};
use ff_core::engine_error::Code;
use ff_core::execution::{Execution, Outcome, Phase};
use ff_core::lease::{Fence, LeaseEnding};
use ff_core::model::Model;
use ff_core::operation::Operation;
use ff_core::partition::PartitionConfig;
use ff_core::types::{ExecutionId, TimestampMs};
use ff_core::view::View;

use super::deed::{Deed, Verdict, in_the_name_of};
use super::waiting;

/// What an operation that is not refused does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// What it says.
    Done,
    /// Nothing: it was done before, and is answered again.
    Answered,
}

/// Whether an operation was refused, done or only answered as the semantics say.
pub(crate) fn as_expected(deed: &Deed<'_>) -> Verdict {
    let expected = expected(deed.before, deed.operation, &deed.at.partitions, deed.at.now);
    match (&deed.decided, expected) {
        (Err(refusal), Err(code)) if refusal.code == code => says_how_it_stands(deed, code),
        (Ok(_), Ok(Effect::Done)) => Ok(()),
        (Ok(_), Ok(Effect::Answered)) if !deed.alters() => Ok(()),
        (Ok(decision), expected) => Err(format!("I5: expected {expected:?}, decided {decision:?}")),
        (Err(refusal), expected) => Err(format!("expected {expected:?}, refused {refusal}")),
    }
}

/// A holder that comes too late for something finished learns how it finished.
fn says_how_it_stands(deed: &Deed<'_>, code: Code) -> Verdict {
    let (Code::ExecutionNotActive, Some((id, _)), Err(refusal)) = (code, in_the_name_of(deed.operation), &deed.decided)
    else {
        return Ok(());
    };
    let state = deed.before.find(&id).map(Execution::public_state);
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
    if let Some((id, fence)) = in_the_name_of(operation) {
        if waiting::is_remembered(model, operation, now) {
            return Ok(Effect::Answered);
        }
        return match holders_call(found(&id)?, &fence, operation, now)? {
            Effect::Done => waiting::holders_wish(model, operation, now),
            Effect::Answered => Ok(Effect::Answered),
        };
    }
    match operation {
        Operation::Submit(args) => submission(model, args, partitions, now),
        Operation::Cancel(args) => match found(&args.execution_id)?.phase {
            Phase::Finished { outcome: Outcome::Cancelled, .. } => Ok(Effect::Answered),
            Phase::Finished { .. } => Err(Code::ExecutionNotActive),
            _ => Ok(Effect::Done),
        },
        Operation::Replay(args) => match found(&args.execution_id)? {
            live if !live.is_finished() => Err(Code::ExecutionNotTerminal),
            spent if spent.replays >= spent.policy.max_replay_count => Err(Code::MaxReplaysExhausted),
            _ => Ok(Effect::Done),
        },
        Operation::Revoke(args) => revocation(found(&args.execution_id)?, args),
        Operation::ChangePriority(args) => match found(&args.execution_id)? {
            finished if finished.is_finished() => Err(Code::ExecutionNotEligible),
            same if same.priority == args.priority => Ok(Effect::Answered),
            _ => Ok(Effect::Done),
        },
        Operation::SetTags(args) => {
            let tags = &found(&args.execution_id)?.tags;
            let there = args.set.iter().all(|(key, value)| tags.get(key) == Some(value));
            let gone = args.remove.iter().all(|key| !tags.contains_key(key));
            Ok(if there && gone { Effect::Answered } else { Effect::Done })
        }
        Operation::Deliver(args) => waiting::delivery(model, args, now),
        Operation::Resume(args) => waiting::decision(found(&args.execution_id)?, args),
        Operation::CloseWaitpoint(args) => waiting::closing(model, found(&args.execution_id)?, args, now),
        Operation::Rotate(args) => waiting::rotation(model, args, now),
        _ => Ok(Effect::Done),
    }
}

/// The table of fences.
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

/// The same key is the same work for as long as it is remembered, the same id for as long as the execution is there.
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
        return Ok(Effect::Done);
    };
    let same = existing.namespace == args.namespace
        && existing.idempotency_key.as_ref() == key
        && existing.kind == args.kind
        && existing.fingerprint == args.payload.fingerprint();
    if same { Ok(Effect::Answered) } else { Err(Code::IdempotencyConflict) }
}

fn revocation(execution: &Execution, args: &RevokeArgs) -> Result<Effect, Code> {
    let meant = |fence: &Fence| args.lease_id.is_none_or(|named| named == fence.lease_id);
    match (&execution.phase, &execution.last_lease) {
        (Phase::Running { lease }, _) if meant(&lease.fence) => Ok(Effect::Done),
        (Phase::Running { .. }, _) => Err(Code::StaleLease),
        (_, Some(last)) if last.ended == LeaseEnding::Revoked && meant(&last.fence) => Ok(Effect::Answered),
        _ => Err(Code::NoActiveLease),
    }
}
