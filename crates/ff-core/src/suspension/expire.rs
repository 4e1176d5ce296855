//! Timeouts of suspensions and of pending waitpoints.

use super::{CountedSignal, Suspension, SuspensionEnd, TimeoutBehavior};
use crate::event::{Event, EventKind};
use crate::execution::{AttemptOutcome, End, Execution, Failure, FinishedBy, Outcome, Phase};
use crate::lease::LeaseEnding;
use crate::rule::change::Change;
use crate::signal::{Effect, RecordedSignal, Signal, Source};
use crate::types::{Kind, SignalId, SignalName, TimestampMs};

/// Applies the holder's timeout behavior to a suspension that has timed out.
pub fn expire(execution: &Execution, now: TimestampMs) -> Change {
    let Phase::Suspended { suspension } = &execution.phase else { return execution.unchanged() };
    match suspension.timeout_behavior {
        TimeoutBehavior::Fail => {
            let waited = now.since(suspension.at);
            let message = format!("suspended for {waited} ms, and nothing ended it in time");
            let failure = Failure::by_engine(Kind::known(Failure::SUSPENSION_TIMEOUT), message);
            execution.finish(end(Outcome::Failed, Some(failure)), now)
        }
        TimeoutBehavior::Cancel => execution.finish(end(Outcome::Cancelled, None), now),
        TimeoutBehavior::Expire => execution.finish(end(Outcome::Expired, None), now),
        TimeoutBehavior::AutoResume => resume(execution, suspension, now),
        TimeoutBehavior::Escalate => escalate(execution, suspension, now),
    }
}

/// Removes the pending waitpoints that no suspension used in time. They accept no more signals.
pub fn expire_pending(execution: &Execution, now: TimestampMs) -> Change {
    let mut change = execution.without_expired(now);
    change.events.push(Event::new(&execution.id, now, EventKind::WaitpointExpired));
    change
}

fn end(outcome: Outcome, failure: Option<Failure>) -> End {
    End {
        outcome,
        by: FinishedBy::SuspensionTimeout,
        lease: LeaseEnding::Suspended,
        attempt: AttemptOutcome::SuspensionTimedOut,
        failure,
    }
}

/// Resumes the execution with a signal that reports the timeout. A suspension times out once, so its id is also the id
/// of the signal: a pump fires many timeouts and needs no randomness for each.
fn resume(execution: &Execution, suspension: &Suspension, now: TimestampMs) -> Change {
    let signal_id = SignalId::from_uuid(*suspension.id.as_uuid());
    let mut signals = suspension.resumption_signals();
    signals.push(CountedSignal { signal_id, payload_bytes: 0, counts_as: None });
    let delay_ms = suspension.resume_policy.resume_delay_ms;
    let mut change = execution.release(suspension, SuspensionEnd::TimedOut, signals, delay_ms, now);
    change.after.signals_taken += 1;
    let signal = Signal {
        id: signal_id,
        execution_id: execution.id,
        waitpoint_id: suspension.waitpoints.first().map(|bound| bound.id),
        name: SignalName::known(Signal::TIMEOUT),
        source: Source::engine(),
        idempotency_key: None,
        received_at: now,
        effect: Effect::Satisfied,
        payload_bytes: 0,
    };
    change.signals.push(RecordedSignal::new(signal, None));
    change
}

/// Escalates the suspension to an operator. Its waitpoints stay open, and its timeout does not fire again.
fn escalate(execution: &Execution, suspension: &Suspension, now: TimestampMs) -> Change {
    let escalated = Suspension { timeout_at: None, escalated_at: Some(now), ..suspension.clone() };
    let mut change = execution.unchanged();
    change.after.phase = Phase::Suspended { suspension: Box::new(escalated) };
    change.events.push(Event::new(&execution.id, now, EventKind::Escalated));
    change
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine_error::Code;
    use crate::execution::AttemptOutcome;
    use crate::rule::fixture::ExecutionFixture;
    use crate::rule::samples::at;
    use crate::suspension::contracts::{GrantedWaitpoint, SuspendArgs, Timeout};
    use crate::suspension::{Condition, ResumePolicy, ResumedBy};

    /// Returns an execution whose suspension has timed out after half a second, with a timeout behavior.
    fn timed_out(behavior: TimeoutBehavior) -> (ExecutionFixture, GrantedWaitpoint) {
        let mut fixture = ExecutionFixture::running(at(0));
        let timeout = Some(Timeout::After(500));
        let args = SuspendArgs { timeout, timeout_behavior: behavior, ..fixture.suspension("a") };
        let granted = fixture.ask(args, at(100)).unwrap().waitpoints.remove(0);
        assert_eq!(fixture.pump(at(599)).fired, 0);
        assert_eq!(fixture.pump(at(600)).fired, 1);
        (fixture, granted)
    }

    #[test]
    fn fail_cancel_and_expire_end_the_execution_and_close_its_waitpoints() {
        for (behavior, state) in [
            (TimeoutBehavior::Fail, "failed"),
            (TimeoutBehavior::Cancel, "cancelled"),
            (TimeoutBehavior::Expire, "expired"),
        ] {
            let (mut fixture, granted) = timed_out(behavior);
            assert_eq!(fixture.state(), state);
            let ended = fixture.model.attempts(&fixture.id)[0].end.clone().unwrap();
            assert_eq!(ended.outcome, AttemptOutcome::SuspensionTimedOut);
            let category = fixture.execution().failure.as_ref().map(|failure| failure.category.to_string());
            assert_eq!(category.is_some(), state == "failed");
            let late = fixture.signal(&granted, "go");
            assert_eq!(fixture.refused(late, at(700)), Code::TargetNotSignalable);
        }
    }

    #[test]
    fn auto_resume_hands_over_a_timeout_signal() {
        let (mut fixture, granted) = timed_out(TimeoutBehavior::AutoResume);
        let task = fixture.claim(at(700));
        assert!(task.resumed);
        assert_eq!(task.resumption.as_ref().unwrap().by, ResumedBy::Timeout);
        assert_eq!(fixture.signal_names(&task), ["timeout"]);
        assert_eq!(fixture.model.signals(&fixture.id)[0].source, Source::engine());
        let late = fixture.signal(&granted, "go");
        assert_eq!(fixture.refused(late, at(701)), Code::WaitpointClosed);
    }

    #[test]
    fn escalate_hands_it_to_an_operator_and_leaves_its_waitpoints_open() {
        let (mut fixture, granted) = timed_out(TimeoutBehavior::Escalate);
        assert_eq!(fixture.execution().state_vector().blocking_reason.as_str(), "paused_by_operator");
        assert_eq!(fixture.pump(at(10_000)).fired, 0, "it times out once");
        fixture.deliver(&granted, "go", at(10_000));
        assert_eq!(fixture.state(), "waiting");
    }

    #[test]
    fn waiting_for_a_timeout_is_a_long_sleep_without_a_lease() {
        let mut fixture = ExecutionFixture::running(at(0));
        let args = SuspendArgs {
            timeout: Some(Timeout::After(500)),
            timeout_behavior: TimeoutBehavior::AutoResume,
            resume_policy: ResumePolicy { resume_delay_ms: 50, ..ResumePolicy::default() },
            ..fixture.suspension_for(Condition::TimeoutOnly, &["a"])
        };
        let granted = fixture.ask(args, at(0)).unwrap().waitpoints.remove(0);
        assert_eq!(fixture.deliver(&granted, "go", at(1)).effect, Effect::NotInCondition);
        assert_eq!(fixture.pump(at(500)).next_due, Some(at(550)));
        assert_eq!(fixture.state(), "delayed");
        fixture.pump(at(550));
        assert_eq!(fixture.state(), "waiting");
    }

    #[test]
    fn an_unused_pending_waitpoint_expires() {
        let mut fixture = ExecutionFixture::running(at(0));
        let args = fixture.pending("a");
        let ahead = fixture.ask(args, at(1)).unwrap();
        assert_eq!(fixture.pump(at(1_000)).fired, 0);
        assert_eq!(fixture.pump(at(1_001)).fired, 1);
        assert_eq!(fixture.state(), "active");
        assert!(fixture.execution().pending_waitpoints.is_empty());
        let late = fixture.signal(&ahead, "go");
        assert_eq!(fixture.refused(late, at(1_002)), Code::PendingWaitpointExpired);
    }
}
