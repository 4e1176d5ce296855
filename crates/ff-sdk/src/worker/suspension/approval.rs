//! Waiting for a person to say yes or no.

use std::future::IntoFuture;
use std::time::Duration;

use ff_core::signal::{Signal, Source};
use ff_core::suspension::{Condition, ResumedBy, SignalSelection, SuspendReason, TimeoutBehavior};
use ff_core::types::TimestampMs;
use futures_util::future::BoxFuture;

use super::signal::{comment, only};
use super::{Suspend, WaitError, WaitOutcome};
use crate::{Context, Fault, SignalMessage, Waitpoint};

/// The decision.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a rejection is an answer, too"]
pub enum Decision {
    Approved(Verdict),
    Rejected(Verdict),
}

/// The sender, time and comment of a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// `link` for the approval page, `operator` for an operator, otherwise the source the sender gave.
    pub by: Source,
    pub at: TimestampMs,
    pub comment: Option<String>,
    /// The whole signal, with its payload.
    pub signal: SignalMessage,
}

impl Decision {
    /// Whether it was approved.
    pub fn is_approved(&self) -> bool {
        matches!(self, Self::Approved(_))
    }

    /// The approval; a rejection is a permanent fault.
    pub fn approved(self) -> Result<Verdict, Fault> {
        match self {
            Self::Approved(verdict) => Ok(verdict),
            Self::Rejected(Verdict { by, comment, .. }) => Err(WaitError::Rejected { by, comment }.into()),
        }
    }
}

/// A wait for an approval, begun by `.await`. It returns the decision: by the approval link, by a signal named
/// `approved` or `rejected`, or by an operator. Of two answers the first counts.
#[must_use = "a wait begins when it is awaited"]
pub struct WaitForApproval {
    wait: Suspend,
}

impl WaitForApproval {
    pub(in crate::worker) fn new(context: Context, name: &str) -> Self {
        let wait = Suspend::new(context, name).reason(SuspendReason::WaitingForApproval).set(|plan| {
            plan.condition = Condition::approval(&plan.name);
            // Answers that came early are all handed over, so that the first of them can be told from the rest.
            plan.resume_policy.handed = SignalSelection::All;
            plan.may_time_out = false;
        });
        Self { wait }
    }

    /// The question, in words for people: shown with the execution, and on the page of the approval link.
    pub fn asking(self, question: &str) -> Self {
        Self { wait: self.wait.asking(question) }
    }

    /// Waits no longer than this; unless told otherwise the wait then ends with [`WaitError::TimedOut`].
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { wait: self.wait.timeout(timeout) }
    }

    /// The behavior on a timeout, unless the wait is to return.
    pub fn on_timeout(self, behavior: TimeoutBehavior) -> Self {
        Self { wait: self.wait.on_timeout(behavior) }
    }

    /// Passes the waitpoint on right before the wait begins, for instance as its
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

/// The decision: the operator's when one ended the wait, otherwise the first answer, and of two at one moment the
/// rejection.
pub(super) fn decided(woken: WaitOutcome) -> Result<Decision, WaitError> {
    let answers = woken.signals.into_iter();
    let said = match woken.by {
        ResumedBy::Timeout => None,
        ResumedBy::Operator => answers.last(),
        ResumedBy::Signals => answers
            .filter(|signal| [Signal::APPROVED, Signal::REJECTED].contains(&signal.name()))
            .min_by_key(|signal| (signal.0.signal.received_at, signal.name() != Signal::REJECTED)),
    };
    let Some(signal) = said else { return Err(WaitError::TimedOut) };
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
    fn of_two_answers_the_first_counts_and_at_one_moment_the_rejection() {
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
