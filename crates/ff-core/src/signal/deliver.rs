//! Delivery: a caller from outside sends a signal to an execution, authorized by a token.

use serde::{Deserialize, Serialize};

use super::open::{WaitpointRef, open};
use super::{Effect, RecordedSignal, Signal, SignalKeyEntry, Source};
use crate::engine_error::{Code, Refusal, check_limit};
use crate::execution::{Execution, Phase};
use crate::limits;
use crate::operation::command::{Conditions, Decision, ExecutionCommand, check_dedup_ttl};
use crate::payload::Payload;
use crate::rule::change::Change;
use crate::rule::view::{Stop, View, require_all};
use crate::suspension::{BufferedSignal, SignalMatch, SuspensionEnd, Waitpoint, WaitpointState, Weight};
use crate::token::PresentedToken;
use crate::types::{ExecutionId, IdempotencyKey, SignalId, SignalName, TimestampMs};

/// A signal from outside to an execution. The token is the only authorization.
#[derive(Clone, Debug, PartialEq)]
pub struct DeliverArgs {
    pub execution_id: ExecutionId,
    pub waitpoint: WaitpointRef,
    pub token: PresentedToken,
    pub name: SignalName,
    pub source: Source,
    pub payload: Option<Payload>,
    /// A waitpoint accepts one signal under this key, for as long as the key is remembered.
    pub idempotency_key: Option<IdempotencyKey>,
    pub dedup_ttl_ms: u64,
}

impl DeliverArgs {
    /// Creates a signal with a name, and defaults for everything else.
    pub fn new(execution_id: ExecutionId, waitpoint: WaitpointRef, token: PresentedToken, name: SignalName) -> Self {
        Self {
            execution_id,
            waitpoint,
            token,
            name,
            source: Source::external(),
            payload: None,
            idempotency_key: None,
            dedup_ttl_ms: limits::SIGNAL_DEDUP_MS,
        }
    }
}

/// Refuses a payload over the limit of signals.
pub fn check_signal_payload(payload: &Payload) -> Result<(), Refusal> {
    check_limit(Code::PayloadTooLarge, "payload", limits::SIGNAL_BYTES, payload.bytes.len())
}

/// Effect of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DeliveredSignal {
    /// For a duplicate, the id of the first signal.
    pub signal_id: SignalId,
    pub effect: Effect,
}

impl ExecutionCommand for DeliverArgs {
    type Reply = DeliveredSignal;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        self.payload.as_ref().map_or(Ok(()), check_signal_payload)?;
        if self.source.is_reserved() {
            let detail = format!("must be the sender's own; {} is reserved", self.source.kind);
            return Err(Refusal::invalid("source.type", detail));
        }
        check_dedup_ttl(self.dedup_ttl_ms)
    }

    /// Records a signal and counts it for the suspension that waits for it, or buffers it for a pending waitpoint.
    ///
    /// The token is verified before any other check: without a valid token, an existing and an unknown execution get
    /// the same reply. A repeated signal is answered with the id of the first, even if the execution has ended since.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<DeliveredSignal>, Stop> {
        let now = at.now;
        let (execution, waitpoint) = open(view, &self.execution_id, &self.waitpoint, &self.token, now)?;
        if let Some(key) = &self.idempotency_key
            && let Some(first) = view.signal_key(&execution.id, &waitpoint.id, key)?
            && now < first.until
        {
            return Ok(Decision::of(DeliveredSignal { signal_id: first.signal_id, effect: Effect::Duplicate }, None));
        }
        let state = receptive(execution, waitpoint, now)?;
        let sent = execution.signals_taken as usize + 1;
        check_limit(Code::SignalLimitExceeded, "signals", limits::SIGNALS, sent)?;
        let signal_id = at.nonce.signal();
        let payload_bytes = self.payload.as_ref().map_or(0, |payload| payload.bytes.len() as u64);
        let (effect, mut change) = match (&execution.phase, state) {
            (Phase::Suspended { .. }, WaitpointState::Active) => count(execution, waitpoint, self, signal_id, now),
            _ => buffer(view, (execution, waitpoint), self, signal_id, now)?,
        };
        change.after.signals_taken += 1;
        let signal = Signal {
            id: signal_id,
            execution_id: execution.id,
            waitpoint_id: Some(waitpoint.id),
            name: self.name.clone(),
            source: self.source.clone(),
            idempotency_key: self.idempotency_key.clone(),
            received_at: now,
            effect,
            payload_bytes,
        };
        change.signals.push(RecordedSignal::new(signal, self.payload.clone()));
        change.signal_key = self.idempotency_key.clone().map(|key| SignalKeyEntry {
            execution_id: execution.id,
            waitpoint_id: waitpoint.id,
            key,
            signal_id,
            until: now + self.dedup_ttl_ms,
        });
        Ok(Decision::of(DeliveredSignal { signal_id, effect }, [change]))
    }
}

/// Returns the state of the waitpoint, or a refusal when the waitpoint accepts no signals.
fn receptive(execution: &Execution, waitpoint: &Waitpoint, now: TimestampMs) -> Result<WaitpointState, Refusal> {
    if execution.is_finished() {
        return Err(execution.refused_as(Code::TargetNotSignalable));
    }
    match execution.waitpoint_state(waitpoint, now) {
        open @ (WaitpointState::Pending | WaitpointState::Active) => Ok(open),
        WaitpointState::Expired => Err(Code::PendingWaitpointExpired.refusal()),
        WaitpointState::Closed => Err(Code::WaitpointClosed.refusal()),
    }
}

/// Counts a signal towards the condition, and resumes the execution when the condition is met.
fn count(
    execution: &Execution,
    waitpoint: &Waitpoint,
    args: &DeliverArgs,
    signal_id: SignalId,
    now: TimestampMs,
) -> (Effect, Change) {
    let mut change = execution.unchanged();
    let Phase::Suspended { suspension } = &mut change.after.phase else { return (Effect::NotInCondition, change) };
    let weight = suspension.weigh(&SignalMatch {
        signal_id,
        waitpoint: &waitpoint.key,
        name: &args.name,
        source: &args.source,
        payload_bytes: args.payload.as_ref().map_or(0, |payload| payload.bytes.len() as u64),
    });
    let effect = match weight {
        Weight::NotInCondition => Effect::NotInCondition,
        Weight::MatcherFailed => Effect::MatcherFailed,
        Weight::Recounted => Effect::Recounted,
        Weight::Counted if suspension.is_met() => Effect::Satisfied,
        Weight::Counted => Effect::Appended,
    };
    if effect != Effect::Satisfied {
        return (effect, change);
    }
    let delay_ms = suspension.resume_policy.resume_delay_ms;
    let signals = suspension.resumption_signals();
    let released = execution.release(suspension, SuspensionEnd::Satisfied, signals, delay_ms, now);
    (effect, released)
}

/// Buffers a signal for a suspension that has not begun.
///
/// One suspension may wait on all pending waitpoints of its execution, and weighs all early signals in one step.
/// Therefore the limit applies to all of them together.
fn buffer(
    view: &dyn View,
    (execution, waitpoint): (&Execution, &Waitpoint),
    args: &DeliverArgs,
    signal_id: SignalId,
    now: TimestampMs,
) -> Result<(Effect, Change), Stop> {
    let live = execution.pending_waitpoints.iter().filter(|pending| now < pending.expires_at);
    let live: Vec<_> = live.map(|pending| view.waitpoint(&execution.id, &pending.id)).collect();
    require_all(live.iter().cloned())?;
    let buffered: usize = live.into_iter().flatten().flatten().map(|pending| pending.buffered.len()).sum();
    check_limit(Code::SignalLimitExceeded, "buffered", limits::BUFFERED_SIGNALS, buffered + 1)?;
    let mut waitpoint = waitpoint.clone();
    waitpoint.buffered.push(BufferedSignal {
        signal_id,
        name: args.name.clone(),
        source: args.source.clone(),
        payload_bytes: args.payload.as_ref().map_or(0, |payload| payload.bytes.len() as u64),
    });
    let mut change = execution.unchanged();
    change.waitpoints.push(waitpoint);
    Ok((Effect::Buffered, change))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::execution::AttemptSlot;
    use crate::execution::contracts::{CancelArgs, SubmitArgs};
    use crate::policy::{Policy, TimeoutPolicy};
    use crate::rule::fixture::{ExecutionFixture, idempotency, key};
    use crate::rule::samples::{at, conditions, work};
    use crate::suspension::contracts::SuspendArgs;
    use crate::suspension::{Condition, ResumePolicy};
    use crate::types::WaitpointId;

    #[test]
    fn a_signal_that_meets_the_condition_lets_the_same_attempt_go_on() {
        let mut fixture = ExecutionFixture::running(at(0));
        let before = fixture.execution().clone();
        let granted = fixture.suspend("a", at(1)).waitpoints.remove(0);
        assert_eq!(fixture.deliver(&granted, "go", at(2)).effect, Effect::Satisfied);
        let task = fixture.claim(at(3));
        let AttemptSlot::Open(attempt) = &before.attempt else { panic!("no attempt") };
        assert_eq!((task.fence.attempt_id, task.attempt_index), (attempt.id, attempt.index));
        assert_eq!(task.fence.lease_epoch, before.epoch().next());
        assert_ne!(task.fence.lease_id, stage_lease(&before));
        assert_eq!(fixture.signal_names(&task), ["go"]);
        let resumption = task.resumption.unwrap();
        assert_eq!(resumption.with_payload, 1);
        let payload = fixture.model.signal_payload(&fixture.id, &resumption.signals[0]);
        assert_eq!(payload, Some(&Payload::json("\"go\"")));
    }

    fn stage_lease(execution: &Execution) -> crate::types::LeaseId {
        crate::rule::samples::held(execution).lease_id
    }

    #[test]
    fn a_duplicate_signal_returns_the_first_id_even_after_the_resume() {
        let mut fixture = ExecutionFixture::running(at(0));
        let granted = fixture.suspend("a", at(1)).waitpoints.remove(0);
        let once =
            DeliverArgs { idempotency_key: idempotency("k"), dedup_ttl_ms: 1_000, ..fixture.signal(&granted, "go") };
        let first = fixture.ask(once.clone(), at(2)).unwrap();
        let duplicate = DeliveredSignal { signal_id: first.signal_id, effect: Effect::Duplicate };
        assert_eq!(fixture.ask(once.clone(), at(3)), Ok(duplicate));
        fixture.claim(at(4));
        assert_eq!(fixture.ask(once.clone(), at(5)), Ok(duplicate));
        let by_key = DeliverArgs { waitpoint: WaitpointRef::Key(key("a")), ..once.clone() };
        assert_eq!(fixture.ask(by_key, at(5)), Ok(duplicate));
        fixture.ask(CancelArgs { execution_id: fixture.id, reason: None, requested_by: None }, at(6)).unwrap();
        assert_eq!(fixture.ask(once.clone(), at(7)), Ok(duplicate), "even if the execution has ended");
        assert_eq!(fixture.refused(once, at(1_002)), Code::TargetNotSignalable);
        assert_eq!(fixture.execution().signals_taken, 1);
    }

    #[test]
    fn a_resume_delay_is_waited_and_then_runs() {
        let mut fixture = ExecutionFixture::running(at(0));
        let resume_policy = ResumePolicy { resume_delay_ms: 500, ..ResumePolicy::default() };
        let args = SuspendArgs { resume_policy, ..fixture.suspension("a") };
        let granted = fixture.ask(args, at(1)).unwrap().waitpoints.remove(0);
        fixture.deliver(&granted, "go", at(100));
        let words = fixture.execution().state_vector();
        assert_eq!(
            (words.public_state.as_str(), words.blocking_reason.as_str()),
            ("delayed", "waiting_for_resume_delay")
        );
        assert_eq!(fixture.pump(at(599)).fired, 0);
        fixture.pump(at(600));
        let task = fixture.claim(at(600));
        assert_eq!(fixture.signal_names(&task), ["go"]);
    }

    #[test]
    fn the_deadline_of_a_suspended_execution_closes_its_waitpoints() {
        let timeout_policy = TimeoutPolicy { execution_deadline_ms: Some(500), ..TimeoutPolicy::default() };
        let bounded = SubmitArgs { policy: Policy { timeout_policy, ..Policy::default() }, ..work() };
        let mut fixture = ExecutionFixture::with(&bounded, at(0));
        let args = fixture.pending("early");
        let ahead = fixture.ask(args, at(1)).unwrap();
        let granted = fixture.suspend("a", at(2)).waitpoints.remove(0);
        fixture.pump(at(500));
        assert_eq!(fixture.state(), "expired");
        for granted in [&ahead, &granted] {
            let late = fixture.signal(granted, "go");
            assert_eq!(fixture.refused(late, at(501)), Code::TargetNotSignalable);
        }
        let forgotten_at = at(500) + limits::RETENTION_MS;
        assert_eq!(fixture.model.next_due(fixture.id.partition()), Some(forgotten_at), "nothing else is waited for");
    }

    #[test]
    fn a_signal_that_does_not_match_is_recorded_and_added_to_the_feed() {
        let mut fixture = ExecutionFixture::running(at(0));
        let named = Condition::Signal { waitpoint: key("a"), name: SignalName::parse("go").ok() };
        let args = fixture.suspension_for(named, &["a"]);
        let granted = fixture.ask(args, at(1)).unwrap().waitpoints.remove(0);
        assert_eq!(fixture.deliver(&granted, "other", at(2)).effect, Effect::MatcherFailed);
        assert_eq!(fixture.state(), "suspended");
        fixture.deliver(&granted, "go", at(3));
        let effects: Vec<_> = fixture.model.signals(&fixture.id).iter().map(|signal| signal.effect.as_str()).collect();
        assert_eq!(effects, ["signal_ignored_matcher_failed", "resume_condition_satisfied"]);
        let fed = fixture.model.deliveries(fixture.id.partition(), None, 10).deliveries;
        assert_eq!(fed.iter().map(|delivery| delivery.effect.as_str()).collect::<Vec<_>>(), effects);
    }

    #[test]
    fn signals_are_taken_up_to_their_limit() {
        let mut fixture = ExecutionFixture::running(at(0));
        let granted = fixture.suspend("a", at(1)).waitpoints.remove(0);
        let mut full = fixture.execution().clone();
        full.signals_taken = u32::try_from(limits::SIGNALS).unwrap();
        fixture.model.apply(full.unchanged());
        let args = fixture.signal(&granted, "go");
        let Err(Stop::Refused(refusal)) = args.decide(&fixture.model, &conditions(at(2))) else {
            panic!("it was taken")
        };
        assert_eq!((refusal.code, refusal.limit), (Code::SignalLimitExceeded, Some((10_000, 10_001))));
        full.signals_taken -= 1;
        fixture.model.apply(full.unchanged());
        assert!(args.decide(&fixture.model, &conditions(at(2))).is_ok());
    }

    #[test]
    fn early_signals_are_kept_up_to_their_limit() {
        let mut fixture = ExecutionFixture::running(at(0));
        let args = fixture.pending("a");
        let ahead = fixture.ask(args, at(1)).unwrap();
        let args = DeliverArgs { payload: None, ..fixture.signal(&ahead, "go") };
        let early = |nth: u128| BufferedSignal {
            signal_id: SignalId::from_uuid(Uuid::from_u128(nth)),
            name: args.name.clone(),
            source: args.source.clone(),
            payload_bytes: 0,
        };
        let mut fill = |count: usize| {
            let buffered = (0..count as u128).map(early).collect();
            let mut change = fixture.execution().unchanged();
            change.waitpoints.push(Waitpoint { buffered, ..fixture.waitpoint(&ahead).clone() });
            fixture.model.apply(change);
            args.decide(&fixture.model, &conditions(at(2)))
        };
        assert!(fill(limits::BUFFERED_SIGNALS - 1).is_ok());
        let Err(Stop::Refused(refusal)) = fill(limits::BUFFERED_SIGNALS) else { panic!("it was kept") };
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::SignalLimitExceeded, Some("buffered")));
        let args = fixture.pending("b");
        let other = fixture.ask(args, at(2)).unwrap();
        let args = fixture.signal(&other, "go");
        let Err(Stop::Refused(refusal)) = args.decide(&fixture.model, &conditions(at(2))) else {
            panic!("it was kept")
        };
        assert_eq!(refusal.limit, Some((500, 501)), "the waitpoints of an execution share the limit");
    }

    fn args() -> DeliverArgs {
        let waitpoint = WaitpointRef::Id(WaitpointId::from_uuid(Uuid::nil()));
        let token = PresentedToken::new("k1:5ec4e7");
        DeliverArgs::new(ExecutionId::new(0, Uuid::nil()), waitpoint, token, SignalName::parse("go").unwrap())
    }

    #[test]
    fn a_signal_is_taken_at_its_limit_and_refused_one_past_it() {
        let sized = |bytes| DeliverArgs { payload: Some(Payload::bytes(vec![0; bytes])), ..args() };
        assert_eq!(sized(limits::SIGNAL_BYTES).check(), Ok(()));
        let refusal = sized(limits::SIGNAL_BYTES + 1).check().unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::PayloadTooLarge, Some("payload")));
        assert_eq!(refusal.limit, Some((262_144, 262_145)));
    }

    #[test]
    fn a_caller_cannot_use_the_operator_or_engine_source() {
        for kind in ["operator", "engine", "Operator", "ENGINE"] {
            let forged = DeliverArgs { source: Source::parse(kind, Some("boss")).unwrap(), ..args() };
            assert_eq!(forged.check().unwrap_err().field.as_deref(), Some("source.type"));
        }
    }

    #[test]
    fn the_arguments_show_no_token() {
        assert!(!format!("{:?}", args()).contains("5ec4e7"));
    }
}
