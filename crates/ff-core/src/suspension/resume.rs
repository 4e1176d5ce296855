//! An operator's decision: it ends the suspension although the condition is not met, and the worker is notified of the
//! decision.

use serde::{Deserialize, Serialize};

use super::{CountedSignal, OperatorDecision, SuspensionEnd};
use crate::engine_error::{Code, Refusal, check_limit};
use crate::execution::{Execution, Phase};
use crate::limits;
use crate::operation::command::{Conditions, Decision, ExecutionCommand, check_message, found};
use crate::payload::Payload;
use crate::rule::view::{Stop, View};
use crate::signal::contracts::check_signal_payload;
use crate::signal::{Effect, RecordedSignal, Signal, Source};
use crate::state::PublicState;
use crate::types::{ExecutionId, SignalName, SourceIdentity, SuspensionId};

/// Ends a suspension by an operator's decision, although its condition is not met.
#[derive(Clone, Debug, PartialEq)]
pub struct ResumeArgs {
    pub execution_id: ExecutionId,
    /// Ends only this suspension, when given: the execution may have resumed and be suspended again.
    pub suspension_id: Option<SuspensionId>,
    pub decision: OperatorDecision,
    /// The payload that the worker receives with the decision.
    pub payload: Option<Payload>,
    pub reason: Option<String>,
    pub requested_by: Option<SourceIdentity>,
    /// Delay before a worker can claim the execution; when absent, the delay of the resume policy.
    pub resume_delay_ms: Option<u64>,
}

impl ResumeArgs {
    /// Creates a decision about an execution, with defaults for everything else.
    pub fn new(execution_id: ExecutionId, decision: OperatorDecision) -> Self {
        Self {
            execution_id,
            suspension_id: None,
            decision,
            payload: None,
            reason: None,
            requested_by: None,
            resume_delay_ms: None,
        }
    }
}

/// The suspension is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ResumedExecution {
    pub suspension_id: SuspensionId,
    pub public_state: PublicState,
    /// True when the same decision had already ended it.
    pub already: bool,
}

impl ExecutionCommand for ResumeArgs {
    type Reply = ResumedExecution;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        self.payload.as_ref().map_or(Ok(()), check_signal_payload)?;
        let delay_ms = self.resume_delay_ms.unwrap_or_default();
        check_limit(Code::LimitExceeded, "resume_delay_ms", limits::SPAN_MAX_MS, delay_ms)?;
        check_message("reason", self.reason.as_deref())
    }

    /// Ends a suspension without a token. The decision is recorded as a signal from an operator, after the signals
    /// counted so far. Repeating the decision that ended the suspension changes nothing.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<ResumedExecution>, Stop> {
        let now = at.now;
        let execution = found(view, &self.execution_id)?;
        let suspension = match &execution.phase {
            Phase::Suspended { suspension } if self.suspension_id.is_none_or(|named| named == suspension.id) => {
                suspension
            }
            _ => return Ok(Decision::of(ended_before(execution, self)?, None)),
        };
        let payload_bytes = self.payload.as_ref().map_or(0, |payload| payload.bytes.len() as u64);
        let signal = Signal {
            id: at.nonce.signal(),
            execution_id: execution.id,
            waitpoint_id: suspension.waitpoints.first().map(|bound| bound.id),
            name: SignalName::known(name(self.decision)),
            source: Source::operator(self.requested_by.clone()),
            idempotency_key: None,
            received_at: now,
            effect: Effect::Satisfied,
            payload_bytes,
        };
        let mut signals = suspension.resumption_signals();
        signals.push(CountedSignal { signal_id: signal.id, payload_bytes, counts_as: None });
        let ended = SuspensionEnd::Operator {
            decision: self.decision,
            requested_by: self.requested_by.clone(),
            reason: self.reason.clone(),
        };
        let delay_ms = self.resume_delay_ms.unwrap_or(suspension.resume_policy.resume_delay_ms);
        let mut change = execution.release(suspension, ended, signals, delay_ms, now);
        change.after.signals_taken += 1;
        change.signals.push(RecordedSignal::new(signal, self.payload.clone()));
        let (suspension_id, public_state) = (suspension.id, change.after.public_state());
        Ok(Decision::of(ResumedExecution { suspension_id, public_state, already: false }, [change]))
    }
}

/// Returns the reply if the same decision has already ended this suspension; otherwise refuses the call.
fn ended_before(execution: &Execution, args: &ResumeArgs) -> Result<ResumedExecution, Refusal> {
    let state = execution.public_state();
    let same = execution.last_suspension.as_deref().filter(|past| {
        let is_addressed = args.suspension_id.is_none_or(|named| named == past.id);
        is_addressed && matches!(&past.ended, SuspensionEnd::Operator { decision, .. } if *decision == args.decision)
    });
    match same {
        Some(past) => Ok(ResumedExecution { suspension_id: past.id, public_state: state, already: true }),
        None => {
            let refusal = execution.refused_as(Code::ExecutionNotSuspended);
            Err(match &execution.phase {
                Phase::Suspended { .. } => refusal.because("that suspension is over, and the execution is in another"),
                _ => refusal,
            })
        }
    }
}

/// Returns the name of the signal that the worker receives.
fn name(decision: OperatorDecision) -> &'static str {
    match decision {
        OperatorDecision::Resume => Signal::RESUMED,
        OperatorDecision::Approve => Signal::APPROVED,
        OperatorDecision::Reject => Signal::REJECTED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::fixture::{ExecutionFixture, key};
    use crate::rule::samples::at;
    use crate::suspension::contracts::SuspendArgs;
    use crate::suspension::{Condition, Distinct, ResumePolicy, ResumedBy};

    fn decision(fixture: &ExecutionFixture, decision: OperatorDecision) -> ResumeArgs {
        ResumeArgs::new(fixture.id, decision)
    }

    #[test]
    fn the_worker_hears_what_an_operator_decided_after_what_had_counted() {
        let mut fixture = ExecutionFixture::running(at(0));
        let votes = Condition::Count { n: 3, of: Distinct::Signals, waitpoints: vec![key("a")], name: None };
        let args = fixture.suspension_for(votes, &["a"]);
        let granted = fixture.ask(args, at(1)).unwrap().waitpoints.remove(0);
        fixture.deliver(&granted, "vote", at(2));
        let args = ResumeArgs {
            payload: Some(Payload::json("\"fine by me\"")),
            requested_by: SourceIdentity::parse("ada").ok(),
            ..decision(&fixture, OperatorDecision::Approve)
        };
        assert_eq!(fixture.ask(args, at(3)).unwrap().public_state.as_str(), "waiting");
        let task = fixture.claim(at(4));
        assert_eq!(task.resumption.as_ref().unwrap().by, ResumedBy::Operator);
        assert_eq!(fixture.signal_names(&task), ["vote", "approved"]);
        let signal = fixture.model.signals(&fixture.id)[1].clone();
        assert_eq!(signal.source.to_string(), "operator:ada");
        assert!(fixture.model.signal_payload(&fixture.id, &signal.id).is_some());
    }

    #[test]
    fn an_operator_ends_what_only_an_operator_can() {
        let mut fixture = ExecutionFixture::running(at(0));
        let args = fixture.suspension_for(Condition::OperatorOnly, &["a"]);
        let granted = fixture.ask(args, at(1)).unwrap().waitpoints.remove(0);
        assert_eq!(fixture.deliver(&granted, "go", at(2)).effect, Effect::NotInCondition);
        fixture.ask(decision(&fixture, OperatorDecision::Reject), at(3)).unwrap();
        let task = fixture.claim(at(4));
        assert_eq!(fixture.signal_names(&task), ["rejected"]);
    }

    #[test]
    fn an_old_token_works_neither_after_an_operator_nor_on_the_next_suspension() {
        let mut fixture = ExecutionFixture::running(at(0));
        let old = fixture.suspend("a", at(1)).waitpoints.remove(0);
        fixture.ask(decision(&fixture, OperatorDecision::Resume), at(2)).unwrap();
        let signal = fixture.signal(&old, "go");
        assert_eq!(fixture.refused(signal.clone(), at(3)), Code::WaitpointClosed);
        fixture.claim(at(4));
        assert_eq!(fixture.refused(signal.clone(), at(5)), Code::WaitpointClosed);
        let new = fixture.suspend("a", at(6)).waitpoints.remove(0);
        assert_eq!(fixture.refused(signal, at(7)), Code::WaitpointClosed);
        let crossed = crate::signal::contracts::DeliverArgs {
            waitpoint: crate::signal::contracts::WaitpointRef::Id(new.waitpoint_id),
            ..fixture.signal(&old, "go")
        };
        assert_eq!(fixture.refused(crossed, at(8)), Code::InvalidToken);
        assert_eq!(fixture.state(), "suspended");
    }

    #[test]
    fn a_decision_is_about_the_suspension_it_names() {
        let mut fixture = ExecutionFixture::running(at(0));
        let first = fixture.suspend("a", at(1)).suspension_id;
        let approve = ResumeArgs { suspension_id: Some(first), ..decision(&fixture, OperatorDecision::Approve) };
        assert!(!fixture.ask(approve.clone(), at(2)).unwrap().already);
        assert!(fixture.ask(approve.clone(), at(3)).unwrap().already);
        fixture.claim(at(4));
        fixture.suspend("b", at(5));
        assert!(fixture.ask(approve.clone(), at(6)).unwrap().already, "and not about the next one");
        assert_eq!(fixture.state(), "suspended");
        let reject = ResumeArgs { decision: OperatorDecision::Reject, ..approve };
        assert_eq!(fixture.refused(reject, at(7)), Code::ExecutionNotSuspended);
    }

    #[test]
    fn an_execution_that_is_not_suspended_cannot_be_resumed() {
        let mut fixture = ExecutionFixture::running(at(0));
        let resume = decision(&fixture, OperatorDecision::Resume);
        let refusal = fixture.ask(resume, at(1)).unwrap_err();
        assert_eq!(refusal.code, Code::ExecutionNotSuspended);
        assert_eq!(refusal.state.unwrap().as_str(), "active");
    }

    #[test]
    fn an_operator_may_hurry_it() {
        let mut fixture = ExecutionFixture::running(at(0));
        let resume_policy = ResumePolicy { resume_delay_ms: 1_000, ..ResumePolicy::default() };
        let args = SuspendArgs { resume_policy, ..fixture.suspension("a") };
        fixture.ask(args, at(1)).unwrap();
        let now = ResumeArgs { resume_delay_ms: Some(0), ..decision(&fixture, OperatorDecision::Resume) };
        assert_eq!(fixture.ask(now, at(2)).unwrap().public_state.as_str(), "waiting");
    }
}
