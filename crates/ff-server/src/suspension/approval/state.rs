//! The state of the approval behind a link.

use ff_core::contracts::{ExecutionInfo, SignalsArgs};
use ff_core::engine_error::EngineError;
use ff_core::execution::FinishedBy;
use ff_core::limits;
use ff_core::signal::{Effect, Signal, Source};
use ff_core::state::PublicState;
use ff_core::suspension::{SuspendReason, TimeoutBehavior};
use ff_core::token::PresentedToken;
use ff_core::types::{ExecutionId, Kind, TimestampMs, WaitpointId, WaitpointKey};
use ff_scheduler::Runtime;

use super::LINK_KEY;
use super::budget::{self, Overrun};
use super::form::Answer;

/// The state of an approval.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ApprovalState {
    /// It waits for an answer.
    Open(Question),
    /// It was answered.
    Decided { answer: Answer, by: Source, at: TimestampMs },
    /// It was not answered in time.
    Expired,
    /// No answer is needed any more.
    Over(PublicState),
}

/// A question that waits for an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    pub(super) key: WaitpointKey,
    pub(super) execution: ExecutionId,
    pub(super) kind: Kind,
    /// The worker's progress message.
    pub(super) message: Option<String>,
    /// The reason of the suspension; `None` if the execution is not suspended yet.
    pub(super) reason: Option<SuspendReason>,
    pub(super) since: TimestampMs,
    pub(super) until: Option<(TimestampMs, TimeoutBehavior)>,
    /// The exceeded budget limits, if a budget suspended the execution.
    pub(super) over: Vec<Overrun>,
}

/// Refuses a token that does not open the waitpoint. The error does not depend on whether the execution, the waitpoint or the
/// token is wrong.
pub(super) async fn verify_token(
    ff: &Runtime,
    id: &ExecutionId,
    waitpoint: &WaitpointId,
    token: &PresentedToken,
) -> Result<(), EngineError> {
    let store = ff.engine_store();
    store.verify_token(id, waitpoint, token).await
}

/// Returns the state of the approval at a waitpoint.
pub(super) async fn of(ff: &Runtime, id: &ExecutionId, waitpoint: &WaitpointId) -> Result<ApprovalState, EngineError> {
    let info = ff.backend().describe(id).await?;
    let signals = signals_at(ff, id, waitpoint).await?;
    let by_link = |signal: &&Signal| signal.idempotency_key.as_ref().is_some_and(|key| key.as_str() == LINK_KEY);
    if let Some(decided) = signals.iter().find(by_link).and_then(decided) {
        return Ok(decided);
    }
    if let Some(question) = open_question(ff, &info, waitpoint).await? {
        return Ok(ApprovalState::Open(question));
    }
    Ok(closed(&info, &signals))
}

/// Returns the question at a waitpoint, if it is open.
async fn open_question(
    ff: &Runtime,
    info: &ExecutionInfo,
    waitpoint: &WaitpointId,
) -> Result<Option<Question>, EngineError> {
    let open = ff.backend().waitpoints(&info.execution_id).await?;
    let Some(open) = open.into_iter().find(|open| open.waitpoint_id == *waitpoint) else { return Ok(None) };
    let suspension = info.suspension.as_ref();
    Ok(Some(Question {
        key: open.waitpoint_key,
        execution: info.execution_id,
        kind: info.kind.clone(),
        message: info.progress.as_ref().and_then(|progress| progress.message.clone()),
        reason: suspension.map(|suspension| suspension.reason.clone()),
        since: suspension.map_or(open.created_at, |suspension| suspension.suspended_at),
        until: suspension.and_then(|suspension| Some((suspension.timeout_at?, suspension.timeout_behavior))),
        over: budget::overruns(ff, info).await?,
    }))
}

/// Returns the state at a waitpoint that takes no more answers.
fn closed(info: &ExecutionInfo, signals: &[Signal]) -> ApprovalState {
    let last_word = signals.iter().rev().find(|signal| signal.effect == Effect::Satisfied);
    if last_word.is_some_and(|signal| signal.name.as_str() == Signal::TIMEOUT && signal.source.is_reserved()) {
        return ApprovalState::Expired;
    }
    if let Some(decided) = last_word.and_then(decided) {
        return decided;
    }
    match (&info.finished_by, last_word) {
        (Some(FinishedBy::SuspensionTimeout), _) | (None, None) => ApprovalState::Expired,
        _ => ApprovalState::Over(info.public_state),
    }
}

fn decided(signal: &Signal) -> Option<ApprovalState> {
    let answer = Answer::of(&signal.name)?;
    Some(ApprovalState::Decided { answer, by: signal.source.clone(), at: signal.received_at })
}

/// Returns the signals at a waitpoint, oldest first.
async fn signals_at(ff: &Runtime, id: &ExecutionId, waitpoint: &WaitpointId) -> Result<Vec<Signal>, EngineError> {
    let (mut found, mut skip) = (Vec::new(), Some(0));
    while let Some(from) = skip {
        let page = ff.backend().signals(SignalsArgs { execution_id: *id, skip: from, limit: limits::PAGE }).await?;
        found.extend(page.signals.into_iter().filter(|signal| signal.waitpoint_id == Some(*waitpoint)));
        skip = page.next;
    }
    Ok(found)
}
