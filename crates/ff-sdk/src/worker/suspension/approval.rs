//! Waiting for an approval or a rejection.

use std::future::IntoFuture;
use std::time::Duration;

use ff_core::signal::{Signal, Source};
use ff_core::suspension::{Condition, ResumedBy, SignalSelection, SuspendReason, TimeoutBehavior};
use ff_core::types::TimestampMs;
use futures_util::future::BoxFuture;

use super::signal::{comment, only};
use super::{Suspend, WaitError, WaitOutcome};
use crate::{Context, Fault, SignalMessage, Waitpoint};

/// The decision on an approval.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a rejection is an answer, too"]
pub enum Decision {
    Approved(Verdict),
    Rejected(Verdict),
}

/// The sender, time and comment of a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The source of the decision: `link` for the approval page, `operator` for an operator, otherwise the one that the
    /// sender named.
    pub by: Source,
    pub at: TimestampMs,
    pub comment: Option<String>,
    /// The whole signal, with its payload.
    pub signal: SignalMessage,
}

impl Decision {
    /// Returns true for an approval.
    pub fn is_approved(&self) -> bool {
        matches!(self, Self::Approved(_))
    }

    /// Returns the verdict of an approval. A rejection is a permanent fault.
    pub fn approved(self) -> Result<Verdict, Fault> {
        match self {
            Self::Approved(verdict) => Ok(verdict),
            Self::Rejected(Verdict { by, comment, .. }) => Err(WaitError::Rejected { by, comment }.into()),
        }
    }
}

/// A wait for an approval, which begins at `.await`. It returns the decision, which comes from the approval link, from a
/// signal named `approved` or `rejected`, or from an operator. The first answer counts.
#[must_use = "a wait begins when it is awaited"]
pub struct WaitForApproval {
    wait: Suspend,
}

impl WaitForApproval {
    pub(in crate::worker) fn new(context: Context, name: &str) -> Self {
        let wait = Suspend::new(context, name).reason(SuspendReason::WaitingForApproval).set(|plan| {
            plan.condition = Condition::approval(&plan.name);
            // Request all answers that came early, so that the first of them can be found.
            plan.resume_policy.signals = SignalSelection::All;
            plan.may_time_out = false;
        });
        Self { wait }
    }

    /// Sets the question to a person, which is shown with the execution and on the page of the approval link.
    pub fn asking(self, question: &str) -> Self {
        Self { wait: self.wait.asking(question) }
    }

    /// Sets the timeout. By default the wait then ends with [`WaitError::TimedOut`].
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { wait: self.wait.timeout(timeout) }
    }

    /// Sets the behavior on a timeout, if the wait should not return.
    pub fn on_timeout(self, behavior: TimeoutBehavior) -> Self {
        Self { wait: self.wait.on_timeout(behavior) }
    }

    /// Calls `tell` with the waitpoint right before the wait begins, for example to send the
    /// [`approval_url`](Waitpoint::approval_url); see [`Suspend::announce`].
    pub fn announce<F, Fut>(self, tell: F) -> Self
    where
        F: FnOnce(Waitpoint) -> Fut + Send + 'static,
        Fut: Future<Output = Result<(), Fault>> + Send + 'static,
    {
        Self { wait: self.wait.announce(only(tell)) }
    }
}

impl IntoFuture for WaitForApproval {
    type Output = Result<Decision, WaitError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { decided(self.wait.await?) })
    }
}

/// Returns the decision: that of the operator who ended the wait, otherwise the first answer. Of two answers at the same
/// time, the rejection counts.
pub(super) fn decided(woken: WaitOutcome) -> Result<Decision, WaitError> {
    let answers = woken.signals.into_iter();
    let answer = match woken.by {
        ResumedBy::Timeout => None,
        ResumedBy::Operator => answers.last(),
        ResumedBy::Signals => answers
            .filter(|signal| [Signal::APPROVED, Signal::REJECTED].contains(&signal.name()))
            .min_by_key(|signal| (signal.0.signal.received_at, signal.name() != Signal::REJECTED)),
    };
    let Some(signal) = answer else { return Err(WaitError::TimedOut) };
    let (by, at) = (signal.source().clone(), signal.0.signal.received_at);
    let verdict = |signal: SignalMessage| Verdict { by: by.clone(), at, comment: comment(&signal), signal };
    match signal.name() {
        Signal::APPROVED => Ok(Decision::Approved(verdict(signal))),
        Signal::REJECTED => Ok(Decision::Rejected(verdict(signal))),
        _ => Err(WaitError::Undecided { by }),
    }
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::ReceivedSignal;
    use ff_core::payload::Payload;
    use ff_core::signal::Effect;
    use ff_core::types::{ExecutionId, SignalId, SignalName};

    use super::*;

    fn signal(name: &str, at: i64, payload: Option<&'static str>) -> SignalMessage {
        let signal = Signal {
            id: SignalId::new(),
            execution_id: ExecutionId::new(0, uuid::Uuid::nil()),
            waitpoint_id: None,
            name: SignalName::parse(name).unwrap(),
            source: Source::external(),
            idempotency_key: None,
            received_at: TimestampMs(at),
            effect: Effect::Satisfied,
            payload_bytes: 0,
        };
        SignalMessage(ReceivedSignal { signal, payload: payload.map(Payload::json) })
    }

    fn woken(by: ResumedBy, signals: Vec<SignalMessage>) -> Result<Decision, WaitError> {
        decided(WaitOutcome { by, signals })
    }

    #[test]
    fn the_first_approval_answer_counts_and_a_tie_is_a_rejection() {
        let by = ResumedBy::Signals;
        let (yes, no) = (|at| signal("approved", at, None), |at| signal("rejected", at, None));
        assert!(woken(by, vec![yes(1), no(2)]).unwrap().is_approved());
        assert!(!woken(by, vec![yes(2), no(1)]).unwrap().is_approved());
        assert!(!woken(by, vec![yes(1), no(1)]).unwrap().is_approved());
        assert!(woken(by, vec![signal("hello", 0, None), yes(1)]).unwrap().is_approved());
    }

    #[test]
    fn an_operators_word_counts_over_what_had_arrived() {
        let by = ResumedBy::Operator;
        let earlier = || signal("approved", 1, None);
        assert!(!woken(by, vec![earlier(), signal("rejected", 9, None)]).unwrap().is_approved());
        assert!(matches!(woken(by, vec![earlier(), signal("resumed", 9, None)]), Err(WaitError::Undecided { .. })));
        assert!(matches!(woken(ResumedBy::Timeout, vec![signal("timeout", 9, None)]), Err(WaitError::TimedOut)));
    }

    #[test]
    fn a_comment_is_read_where_there_is_one() {
        let commented = woken(ResumedBy::Signals, vec![signal("rejected", 1, Some(r#"{"comment":"not today"}"#))]);
        let fault = commented.unwrap().approved().unwrap_err();
        assert_eq!((fault.category.as_str(), fault.permanent), ("rejected", true));
        assert_eq!(fault.message, "rejected by external: not today");
        for payload in [None, Some("[]"), Some("{}"), Some("not json")] {
            let verdict = woken(ResumedBy::Signals, vec![signal("approved", 1, payload)]).unwrap().approved().unwrap();
            assert_eq!(verdict.comment, None);
        }
    }
}
