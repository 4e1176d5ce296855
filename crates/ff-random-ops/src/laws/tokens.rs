//! Every issued token, tried in every state. A token opens only its own waitpoint, and only while an execution waits or
//! may still wait on it.

use super::Verdict;
use super::suspension::{WaitpointStatus, verify, waitpoint_status};
use crate::prelude::*;

/// I11 and I12: tries every token on its own waitpoint and on neighbouring waitpoints.
pub fn tokens_open_nothing_else(model: &Model, at: &Conditions) -> Verdict {
    let now = at.now;
    let all: Vec<_> = model.executions().flat_map(|e| model.waitpoints(&e.id).map(move |w| (e, w))).collect();
    for (execution, waitpoint) in &all {
        let ring = model.ring(execution.id.partition()).ok().flatten();
        let minted =
            waitpoint.mint(ring).map_err(|refusal| format!("I12: no token for {}: {refusal}", waitpoint.id))?;
        for token in [&waitpoint.token, &minted] {
            let answer = answer(model, token, &execution.id, waitpoint, at);
            if answer != expected(model, execution, waitpoint, token, now) {
                return Err(format!("I11: {token:?} of {} is answered {answer:?}", waitpoint.id));
            }
        }
        verify(model, waitpoint, &minted, now).map_err(|code| format!("I12: a token minted now is {code}"))?;
    }
    for pair in all.windows(2) {
        let ((one_execution, one), (other_execution, other)) = (pair[0], pair[1]);
        let there = answer(model, &one.token, &other_execution.id, other, at);
        let here = answer(model, &other.token, &one_execution.id, one, at);
        if (there, here) != (Err(Code::InvalidToken), Err(Code::InvalidToken)) {
            return Err(format!("I12: {} and {} open each other: {there:?}, {here:?}", one.id, other.id));
        }
    }
    Ok(())
}

fn expected(
    model: &Model,
    execution: &Execution,
    waitpoint: &Waitpoint,
    token: &WaitpointToken,
    now: TimestampMs,
) -> Result<(), Code> {
    verify(model, waitpoint, token, now)?;
    match waitpoint_status(execution, waitpoint, now) {
        _ if execution.is_finished() => Err(Code::TargetNotSignalable),
        WaitpointStatus::Pending | WaitpointStatus::Waited => Ok(()),
        WaitpointStatus::RanOut => Err(Code::PendingWaitpointExpired),
        WaitpointStatus::Over => Err(Code::WaitpointClosed),
    }
}

/// Returns the answer to a signal that presents a token at a waitpoint.
fn answer(
    model: &Model,
    token: &WaitpointToken,
    execution: &ExecutionId,
    to: &Waitpoint,
    at: &Conditions,
) -> Result<(), Code> {
    let token = PresentedToken::from(token);
    let name = SignalName::parse("go").expect("a name");
    let signal = DeliverArgs::new(*execution, WaitpointRef::Id(to.id), token, name);
    match Operation::Deliver(signal).decide(model, at) {
        Ok(_) => Ok(()),
        Err(Stop::Refused(refusal)) => Err(refusal.code),
        Err(Stop::Miss(miss)) => panic!("the model has everything, yet {miss:?} was missed"),
    }
}
