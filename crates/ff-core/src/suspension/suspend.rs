//! Suspending: the holder releases its lease and the execution waits, unless its condition is already met.

use super::binding::{WaitpointBinding, bind, weigh_early};
use super::contracts::Timeout;
use super::contracts::answers::{GrantedWaitpoint, SuspendKeyEntry, SuspendOutcome, SuspendedExecution};
use super::{
    BoundWaitpoint, Condition, PastSuspension, ResumePolicy, SuspendReason, SuspendedBy, Suspension, SuspensionEnd,
    Tally, TimeoutBehavior, Waitpoint,
};
use crate::engine_error::{Code, Refusal, check_limit};
use crate::event::{Event, EventKind};
use crate::execution::{Execution, Phase};
use crate::lease::{Fence, Lease, LeaseEnding};
use crate::limits;
use crate::operation::command::{Conditions, Decision, ExecutionCommand, check_dedup_ttl, check_message};
use crate::rule::change::Change;
use crate::rule::view::{Stop, View};
use crate::types::{ExecutionId, IdempotencyKey, SuspensionId, TimestampMs, WaitpointId, WaitpointKey};

/// Suspends an execution until its condition is met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuspendArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
    /// The waitpoints; at least one. The first one is also shown first.
    pub waitpoints: Vec<WaitpointBinding>,
    pub condition: Condition,
    pub reason: SuspendReason,
    pub requested_by: SuspendedBy,
    pub timeout: Option<Timeout>,
    pub timeout_behavior: TimeoutBehavior,
    pub resume_policy: ResumePolicy,
    pub continuation: Option<String>,
    /// A repeated call under this key gets the first reply, for as long as the key is remembered.
    pub idempotency_key: Option<IdempotencyKey>,
    pub dedup_ttl_ms: u64,
}

impl SuspendArgs {
    /// Creates a suspension that waits for one signal at a new waitpoint, with defaults for everything else.
    pub fn new(execution_id: ExecutionId, fence: Fence, key: WaitpointKey) -> Self {
        Self {
            execution_id,
            fence,
            waitpoints: vec![WaitpointBinding::Fresh { key: key.clone() }],
            condition: Condition::Signal { waitpoint: key, name: None },
            reason: SuspendReason::WaitingForSignal,
            requested_by: SuspendedBy::Worker,
            timeout: None,
            timeout_behavior: TimeoutBehavior::Fail,
            resume_policy: ResumePolicy::default(),
            continuation: None,
            idempotency_key: None,
            dedup_ttl_ms: limits::SUSPEND_DEDUP_MS,
        }
    }
}

impl ExecutionCommand for SuspendArgs {
    type Reply = SuspendedExecution;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        if self.waitpoints.is_empty() {
            return Err(Refusal::invalid("waitpoints", "must not be empty"));
        }
        check_limit(Code::LimitExceeded, "waitpoints", limits::WAITPOINTS, self.waitpoints.len())?;
        let keys: Vec<_> = self.waitpoints.iter().map(WaitpointBinding::key).collect();
        if let Some(nth) = (1..keys.len()).find(|nth| keys[..*nth].contains(&keys[*nth])) {
            return Err(Refusal::invalid(format!("waitpoints[{nth}].key"), "must be named once, is named twice"));
        }
        self.condition.check(&keys)?;
        if self.condition == Condition::TimeoutOnly && self.timeout.is_none() {
            return Err(Refusal::invalid("timeout_in_ms", "is required by the condition timeout_only"));
        }
        self.timeout.map_or(Ok(()), Timeout::check)?;
        self.resume_policy.check()?;
        check_message("continuation", self.continuation.as_deref())?;
        check_dedup_ttl(self.dedup_ttl_ms)
    }

    /// Releases the lease until the condition is met. Early signals at pending waitpoints are weighed first; if they
    /// meet the condition, the holder keeps its lease and continues.
    ///
    /// A repeated call, under its key or by the fence that it released, gets the first reply.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<SuspendedExecution>, Stop> {
        let now = at.now;
        let execution = view.execution(&self.execution_id)?.ok_or(Code::ExecutionNotFound)?;
        if let Some(answer) = answered_before(view, execution, self, now)? {
            return Ok(Decision::of(answer, None));
        }
        let lease = execution.held_by(&self.fence, now)?;
        if let Some(answer) = satisfied_before(view, execution, lease, self)? {
            return Ok(Decision::of(answer, None));
        }
        let timeout_at = self.timeout.map(|timeout| timeout.from(now)).transpose()?;
        let id = at.nonce.suspension();
        let waitpoints = bind(view, execution, &self.waitpoints, id, &at.nonce, now)?;
        let mut suspension = begin(self, id, &waitpoints, timeout_at, now);
        weigh_early(&mut suspension, &waitpoints);

        let (outcome, mut change) = if suspension.is_met() {
            already_satisfied(execution, &suspension, now)
        } else {
            let phase = Phase::Suspended { suspension: Box::new(suspension) };
            let mut change = execution.end_lease(phase, LeaseEnding::Suspended, None, now);
            change.events.push(Event::new(&execution.id, now, EventKind::Suspended));
            (SuspendOutcome::Suspended, change)
        };
        let used = |id: &WaitpointId| waitpoints.iter().any(|waitpoint| waitpoint.id == *id);
        change.after.pending_waitpoints.retain(|pending| now < pending.expires_at && !used(&pending.id));
        let answer =
            SuspendedExecution { suspension_id: id, waitpoints: waitpoints.iter().map(Into::into).collect(), outcome };
        change.waitpoints =
            waitpoints.into_iter().map(|waitpoint| Waitpoint { buffered: vec![], ..waitpoint }).collect();
        change.suspend_key = self.idempotency_key.clone().map(|key| SuspendKeyEntry {
            execution_id: execution.id,
            key,
            until: now + self.dedup_ttl_ms,
            answer: answer.clone(),
        });
        Ok(Decision::of(answer, [change]))
    }
}

/// Returns the first reply for a repeated call: under its key, or by the fence whose lease the first call ended.
fn answered_before(
    view: &dyn View,
    execution: &Execution,
    args: &SuspendArgs,
    now: TimestampMs,
) -> Result<Option<SuspendedExecution>, Stop> {
    if let Some(key) = &args.idempotency_key
        && let Some(entry) = view.suspend_key(&execution.id, key)?
        && now < entry.until
    {
        return Ok(Some(entry.answer.clone()));
    }
    if execution.ended_for(&args.fence) != Some(LeaseEnding::Suspended) {
        return Ok(None);
    }
    let (suspension_id, bound) = match (&execution.phase, &execution.last_suspension) {
        (Phase::Suspended { suspension }, _) => (suspension.id, &suspension.waitpoints),
        (_, Some(past)) => (past.id, &past.waitpoints),
        (_, None) => return Ok(None),
    };
    let waitpoints = granted_again(view, execution, bound)?;
    Ok(Some(SuspendedExecution { suspension_id, waitpoints, outcome: SuspendOutcome::Suspended }))
}

/// Returns the first reply if an earlier call under this lease found its condition already met. The waitpoints of that
/// call are used up, so a second evaluation would not find it met.
fn satisfied_before(
    view: &dyn View,
    execution: &Execution,
    lease: &Lease,
    args: &SuspendArgs,
) -> Result<Option<SuspendedExecution>, Stop> {
    let Some(past) = execution.last_suspension.as_deref() else { return Ok(None) };
    let satisfied = past.ended == SuspensionEnd::AlreadySatisfied && past.lease_epoch == lease.fence.lease_epoch;
    let asked_for = |bound: &BoundWaitpoint| {
        args.waitpoints.iter().any(|binding| matches!(binding, WaitpointBinding::Pending { id, .. } if *id == bound.id))
    };
    if !satisfied || !past.waitpoints.iter().any(asked_for) {
        return Ok(None);
    }
    let signals = past.signals.iter().map(|counted| counted.signal_id).collect();
    let waitpoints = granted_again(view, execution, &past.waitpoints)?;
    let outcome = SuspendOutcome::AlreadySatisfied { signals };
    Ok(Some(SuspendedExecution { suspension_id: past.id, waitpoints, outcome }))
}

fn granted_again(
    view: &dyn View,
    execution: &Execution,
    bound: &[BoundWaitpoint],
) -> Result<Vec<GrantedWaitpoint>, Stop> {
    let read = |bound: &BoundWaitpoint| -> Result<GrantedWaitpoint, Stop> {
        Ok(view.waitpoint(&execution.id, &bound.id)?.ok_or(Code::WaitpointNotFound)?.into())
    };
    bound.iter().map(read).collect()
}

fn begin(
    args: &SuspendArgs,
    id: SuspensionId,
    waitpoints: &[Waitpoint],
    timeout_at: Option<TimestampMs>,
    now: TimestampMs,
) -> Suspension {
    Suspension {
        id,
        at: now,
        reason: args.reason.clone(),
        requested_by: args.requested_by.clone(),
        waitpoints: waitpoints.iter().map(Waitpoint::bound).collect(),
        condition: args.condition.clone(),
        resume_policy: args.resume_policy.clone(),
        timeout_at,
        timeout_behavior: args.timeout_behavior,
        escalated_at: None,
        continuation: args.continuation.clone(),
        tally: Tally::of(&args.condition),
        uncounted: Vec::new(),
    }
}

/// Keeps the lease, and records a suspension that ended before it began. Its waitpoints are used up.
fn already_satisfied(execution: &Execution, suspension: &Suspension, now: TimestampMs) -> (SuspendOutcome, Change) {
    let signals = suspension.resumption_signals();
    let outcome = SuspendOutcome::AlreadySatisfied { signals: signals.iter().map(|signal| signal.signal_id).collect() };
    let mut change = execution.unchanged();
    let ended = SuspensionEnd::AlreadySatisfied;
    change.after.last_suspension = Some(PastSuspension::of(suspension, execution.epoch(), ended, signals, now));
    (outcome, change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::contracts::RenewArgs;
    use crate::rule::fixture::{ExecutionFixture, idempotency};
    use crate::rule::samples::{at, conditions, held, running};
    use crate::types::LeaseEpoch;

    #[test]
    fn suspending_gives_up_the_lease_and_keeps_the_attempt() {
        let mut fixture = ExecutionFixture::running(at(0));
        let fence = fixture.fence();
        fixture.suspend("a", at(400));
        assert_eq!(fixture.state(), "suspended");
        let refused = fixture.refused(RenewArgs { execution_id: fixture.id, fence, lease_ttl_ms: None }, at(500));
        assert_eq!(refused, Code::ExecutionNotActive);
        assert_eq!(fixture.model.leases(&fixture.id).len(), 1, "the history says that it was given up");
        assert!(fixture.model.attempts(&fixture.id).is_empty());
    }

    #[test]
    fn only_its_holder_can_suspend_an_execution() {
        let mut fixture = ExecutionFixture::running(at(0));
        let mut stale = fixture.suspension("a");
        stale.fence.lease_epoch = LeaseEpoch(0);
        assert_eq!(fixture.refused(stale, at(1)), Code::StaleLease);
        let late = fixture.suspension("a");
        assert_eq!(fixture.refused(late, at(30_000)), Code::LeaseExpired);
    }

    #[test]
    fn suspending_twice_with_one_key_is_one_suspension() {
        let mut fixture = ExecutionFixture::running(at(0));
        let args = SuspendArgs { idempotency_key: idempotency("once"), dedup_ttl_ms: 1_000, ..fixture.suspension("a") };
        let first = fixture.ask(args.clone(), at(1)).unwrap();
        assert_eq!(fixture.ask(args.clone(), at(2)), Ok(first.clone()));
        fixture.deliver(&first.waitpoints[0], "go", at(3));
        fixture.claim(at(4));
        let resumed = SuspendArgs { fence: fixture.fence(), ..args };
        assert_eq!(fixture.ask(resumed.clone(), at(1_000)), Ok(first.clone()), "the first answer, word for word");
        assert_eq!(fixture.state(), "active");
        let second = fixture.ask(resumed, at(1_001)).unwrap();
        assert_ne!(second.suspension_id, first.suspension_id, "a key is forgotten after its window");
    }

    #[test]
    fn a_holder_whose_reply_got_lost_is_answered_as_the_first_time() {
        let mut fixture = ExecutionFixture::running(at(0));
        let args = fixture.suspension("a");
        let first = fixture.ask(args.clone(), at(1)).unwrap();
        assert_eq!(fixture.ask(args.clone(), at(2)), Ok(first.clone()));
        fixture.deliver(&first.waitpoints[0], "go", at(3));
        assert_eq!(fixture.ask(args.clone(), at(4)), Ok(first), "even when the suspension is over");
        fixture.claim(at(5));
        assert_eq!(fixture.refused(args, at(6)), Code::StaleLease);
    }

    #[test]
    fn a_timeout_in_the_past_suspends_nothing() {
        let mut fixture = ExecutionFixture::running(at(0));
        let args = SuspendArgs { timeout: Some(Timeout::At(at(5))), ..fixture.suspension("a") };
        let refusal = fixture.ask(args, at(5)).unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidInput, Some("timeout_at")));
        assert_eq!(fixture.state(), "active");
    }

    #[test]
    fn without_a_secret_nothing_is_suspended() {
        let mut fixture = ExecutionFixture::running(at(0));
        fixture.model.set_ring(fixture.id.partition(), crate::token::KeyRing::default());
        let execution = fixture.execution().clone();
        let args = fixture.suspension("a");
        let stopped = args.decide(&fixture.model, &conditions(at(1))).unwrap_err();
        assert_eq!(stopped, Stop::Refused(Code::HmacSecretNotInitialized.refusal()));
        assert_eq!(*fixture.execution(), execution);
    }

    fn args() -> SuspendArgs {
        SuspendArgs::new(running().id, held(&running()), WaitpointKey::parse("a").unwrap())
    }

    fn refused(args: &SuspendArgs) -> (Code, Option<String>) {
        let refusal = args.check().unwrap_err();
        (refusal.code, refusal.field)
    }

    #[test]
    fn a_suspension_waits_on_at_least_one_waitpoint_and_on_none_twice() {
        assert_eq!(args().check(), Ok(()));
        let none = SuspendArgs { waitpoints: vec![], ..args() };
        assert_eq!(refused(&none), (Code::InvalidInput, Some("waitpoints".into())));
        let twice = SuspendArgs { waitpoints: [args().waitpoints, args().waitpoints].concat(), ..args() };
        assert_eq!(refused(&twice), (Code::InvalidInput, Some("waitpoints[1].key".into())));
    }

    #[test]
    fn waitpoints_are_taken_at_their_limit_and_refused_one_past_it() {
        let many = |count: usize| {
            let keys = (0..count).map(|nth| WaitpointKey::parse(&format!("w{nth}")).unwrap());
            let waitpoints = keys.map(|key| WaitpointBinding::Fresh { key }).collect();
            SuspendArgs { waitpoints, condition: Condition::OperatorOnly, ..args() }
        };
        assert_eq!(many(limits::WAITPOINTS).check(), Ok(()));
        assert_eq!(refused(&many(limits::WAITPOINTS + 1)), (Code::LimitExceeded, Some("waitpoints".into())));
    }

    #[test]
    fn waiting_for_nothing_but_a_timeout_needs_one() {
        let never = SuspendArgs { condition: Condition::TimeoutOnly, ..args() };
        assert_eq!(refused(&never), (Code::InvalidInput, Some("timeout_in_ms".into())));
        assert_eq!(SuspendArgs { timeout: Some(Timeout::After(1)), ..never }.check(), Ok(()));
    }
}
