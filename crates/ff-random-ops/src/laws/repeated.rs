//! Lost replies: the caller repeats the call, receives the same answer and changes nothing.

use ff_core::step::Step as RecordedStep;

use super::{Step, Verdict, is_member};
use crate::adjustment;
use crate::prelude::*;

/// Repeats the last operation, if repeating it is promised to be harmless, and checks the answer.
pub fn answers_again(after: &Model, operation: &Operation, reply: &Reply, at: Conditions) -> Verdict {
    let expected = match reply {
        Reply::Submitted(first) => {
            let conflict = first.conflict.filter(|conflict| is_conflict_repeated(operation, *conflict));
            Reply::Submitted(SubmittedExecution { duplicate: true, conflict, ..first.clone() })
        }
        Reply::Cancelled(first) => Reply::Cancelled(CancelledExecution { already: true, ..*first }),
        // A flow that is being cancelled may end its member in the same step.
        Reply::HoldPlaced(_) | Reply::HoldReleased(_) | Reply::GrantIssued(_) | Reply::GrantRevoked(_)
            if has_ended(after, operation) =>
        {
            return Ok(());
        }
        Reply::HoldPlaced(first) => Reply::HoldPlaced(HoldPlaced { already: true, ..*first }),
        Reply::HoldReleased(first) => Reply::HoldReleased(HoldReleased { already: true, ..*first }),
        Reply::GrantIssued(first) => Reply::GrantIssued(GrantIssued { already: true, ..*first }),
        Reply::GrantRevoked(first) => Reply::GrantRevoked(GrantRevoked { already: true, ..*first }),
        Reply::BlockedCount(_) => Reply::BlockedCount(BlockedCount { blocked: 0 }),
        Reply::UnblockedExecutions(_) => Reply::UnblockedExecutions(UnblockedExecutions::default()),
        Reply::Revoked(first) => Reply::Revoked(RevokedLease { already: true, ..*first }),
        // Frames without an offset are appended every time.
        Reply::FramesAppended(_) if !has_a_place(operation) => return Ok(()),
        // The answer contains the recorded step, not the step of the repeated call.
        Reply::StepRecorded(first) => {
            let step = step_of(after, operation);
            Reply::StepRecorded(StepRecorded { seq: first.seq, duplicate: true, step })
        }
        Reply::Forked(first) => Reply::Forked(ForkedExecution { duplicate: true, ..*first }),
        Reply::FramesAppended(_)
        | Reply::Completed(_)
        | Reply::Failed(_)
        | Reply::Delayed(_)
        | Reply::Suspended(_)
        | Reply::WaitpointCreated(_)
        | Reply::LaneConfigured(_)
        | Reply::ClassesRegistered(_)
        | Reply::LaneCopied(_)
        | Reply::LaneRecounted(_)
        | Reply::Followed(_) => reply.clone(),
        Reply::WaitpointClosed(_) => Reply::WaitpointClosed(ClosedWaitpoint { already: true }),
        Reply::Resumed(first) => Reply::Resumed(ResumedExecution { already: true, ..*first }),
        Reply::Delivered(first) if remembered(operation) => {
            Reply::Delivered(DeliveredSignal { signal_id: first.signal_id, effect: Effect::Duplicate })
        }
        Reply::Rotated(RotatedSecret::Rotated { new_kid: kid, .. } | RotatedSecret::Noop { kid }) => {
            Reply::Rotated(RotatedSecret::Noop { kid: kid.clone() })
        }
        Reply::FlowStaged(StagedFlow::Submitted(first)) => {
            Reply::FlowStaged(StagedFlow::Submitted(SubmittedFlow { duplicate: true, ..first.clone() }))
        }
        Reply::FlowCreated(first) => Reply::FlowCreated(SubmittedFlow { duplicate: true, ..first.clone() }),
        Reply::FlowGrown(_) if !is_remembered_growth(operation) => return Ok(()),
        Reply::FlowStaged(_) | Reply::FlowGrown(_) | Reply::FlowTagged(_) | Reply::WaitedForChildren(_) => {
            reply.clone()
        }
        Reply::FlowClosed(first) => Reply::FlowClosed(ClosedFlow { already: true, ..*first }),
        Reply::FlowCancelled(first) => Reply::FlowCancelled(FlowCancelled { already: true, cancelled: 0, ..*first }),
        // A flow that is being cancelled may end its member in the same step.
        _ if is_refused_at_its_end(after, operation) => return Ok(()),
        other => match adjustment::answer_again(other) {
            Some(again) => again,
            None => return Ok(()),
        },
    };
    let again = Step::decide(after, operation, at);
    match &again.decided {
        Ok(decision) if decision.reply == expected && !again.alters() => Ok(()),
        other => Err(format!("I16: answered {reply:?} first and then {other:?}")),
    }
}

/// Returns whether a repeated submission that created no execution gets the same conflict again.
fn is_conflict_repeated(operation: &Operation, conflict: KeyConflict) -> bool {
    let Operation::Submit(args) = operation else { return false };
    let is_debounced = matches!(args.key_rule.as_deref(), Some(KeyRule::Debounce(_)));
    conflict == KeyConflict::Skipped || is_debounced
}

/// Returns the step that an operation has recorded or found recorded.
fn step_of(after: &Model, operation: &Operation) -> Option<RecordedStep> {
    let Operation::RecordStep(args) = operation else { return None };
    after.step(&args.execution_id, &args.step).ok().flatten().cloned()
}

/// Returns whether frames were appended at an offset, by which a repetition is recognised.
fn has_a_place(operation: &Operation) -> bool {
    matches!(operation, Operation::AppendFrames(args) if args.from.is_some())
}

/// Returns whether an operation adjusts a member of a flow and would be refused after the member's end.
fn is_refused_at_its_end(after: &Model, operation: &Operation) -> bool {
    let subject = adjustment::subject(operation).filter(|_| !adjustment::takes_ended(operation));
    subject.is_some_and(|id| after.find(&id).is_some_and(is_member))
}

/// Returns whether an execution that was held, released, assigned or unassigned has ended.
fn has_ended(after: &Model, operation: &Operation) -> bool {
    let subject = match operation {
        Operation::Hold(args) => args.execution_id,
        Operation::ReleaseHold(args) => args.execution_id,
        Operation::Assign(args) => args.execution_id,
        Operation::Unassign(args) => args.execution_id,
        _ => return false,
    };
    after.find(&subject).is_some_and(Execution::is_finished)
}

/// Returns whether a change of a graph has a key, by which a repetition is recognised.
fn is_remembered_growth(operation: &Operation) -> bool {
    matches!(operation, Operation::GrowFlow(args) if args.idempotency_key.is_some())
}

/// Returns whether a signal has a key, by which a repetition is recognised.
fn remembered(operation: &Operation) -> bool {
    matches!(operation, Operation::Deliver(args) if args.idempotency_key.is_some() && args.dedup_ttl_ms > 0)
}
