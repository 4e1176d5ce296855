//! Suspending: the holder lets go and waits, unless what it would wait for is there already.

use serde::{Deserialize, Serialize};

use super::contracts::{GrantedWaitpoint, SuspendArgs, SuspendOutcome, Suspended, WaitpointBinding};
use super::{BoundWaitpoint, PastSuspension, Suspension, SuspensionEnd, Tally, Waitpoint, WaitpointState, Weighed};
use crate::change::Change;
use crate::dice::Nonce;
use crate::engine_error::{Code, Refusal};
use crate::event::{Event, What};
use crate::execution::{Execution, Phase};
use crate::lease::{Lease, LeaseEnding};
use crate::operation::command::{Command, Conditions, Decision, check_id};
use crate::partition::PartitionConfig;
use crate::types::{ExecutionId, IdempotencyKey, SuspensionId, TimestampMs, WaitpointId};
use crate::view::{Stop, View};

/// The first answer to a suspension under an idempotency key, and until when it is given again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuspendKeyEntry {
    pub execution_id: ExecutionId,
    pub key: IdempotencyKey,
    pub until: TimestampMs,
    pub answer: Suspended,
}

impl Command for SuspendArgs {
    type Reply = Suspended;

    fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        check_id(&self.execution_id, partitions).and(self.check())
    }

    fn partition(&self, _: &PartitionConfig) -> u16 {
        self.execution_id.partition()
    }

    /// Releases the lease until the condition is met. Signals that came early to waitpoints made ahead are weighed first; if
    /// they meet the condition, the holder keeps its lease and goes on.
    ///
    /// Asked again under its key, or by the fence it released, it answers as the first time.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<Suspended>, Stop> {
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
        let waitpoints = bind(view, execution, self, id, &at.nonce, now)?;
        let mut suspension = begin(self, id, &waitpoints, timeout_at, now);
        weigh_early(&mut suspension, &waitpoints);

        let (outcome, mut change) = if suspension.is_met() {
            already_satisfied(execution, &suspension, now)
        } else {
            let phase = Phase::Suspended { suspension: Box::new(suspension) };
            let mut change = execution.end_lease(phase, LeaseEnding::Suspended, None, now);
            change.events.push(Event::new(&execution.id, now, What::Suspended));
            (SuspendOutcome::Suspended, change)
        };
        let used = |id: &WaitpointId| waitpoints.iter().any(|waitpoint| waitpoint.id == *id);
        change.after.pending_waitpoints.retain(|pending| now < pending.expires_at && !used(&pending.id));
        let answer = Suspended { suspension_id: id, waitpoints: waitpoints.iter().map(Into::into).collect(), outcome };
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

/// The first answer, when this is asked again: under its key, or by the fence whose lease it ended.
fn answered_before(
    view: &dyn View,
    execution: &Execution,
    args: &SuspendArgs,
    now: TimestampMs,
) -> Result<Option<Suspended>, Stop> {
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
    Ok(Some(Suspended { suspension_id, waitpoints, outcome: SuspendOutcome::Suspended }))
}

/// The first answer, when this very lease was told before that what it asks for is there already. Its waitpoints are used
/// up, so asking again could not find it out anew.
fn satisfied_before(
    view: &dyn View,
    execution: &Execution,
    lease: &Lease,
    args: &SuspendArgs,
) -> Result<Option<Suspended>, Stop> {
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
    Ok(Some(Suspended { suspension_id: past.id, waitpoints, outcome }))
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

/// The waitpoints of a suspension: new ones with their tokens, and those made ahead with what came early.
fn bind(
    view: &dyn View,
    execution: &Execution,
    args: &SuspendArgs,
    suspension_id: SuspensionId,
    nonce: &Nonce,
    now: TimestampMs,
) -> Result<Vec<Waitpoint>, Stop> {
    let mut waitpoints = Vec::with_capacity(args.waitpoints.len());
    for (nth, binding) in args.waitpoints.iter().enumerate() {
        let waitpoint = match binding {
            WaitpointBinding::Pending { id, key } => {
                let pending = view
                    .waitpoint(&execution.id, id)?
                    .ok_or_else(|| Code::WaitpointNotFound.refusal().at(format!("waitpoints[{nth}].id")))?;
                usable(execution, pending, now).map_err(|refusal| refusal.at(format!("waitpoints[{nth}].id")))?;
                if pending.key != *key {
                    let refusal = Code::InvalidWaitpointKey.refusal().at(format!("waitpoints[{nth}].key"));
                    return Err(refusal.because("is not the key this waitpoint was made with").into());
                }
                pending.clone()
            }
            WaitpointBinding::Fresh { key } => {
                let taken = |pending: &super::PendingWaitpoint| pending.key == *key && now < pending.expires_at;
                if execution.pending_waitpoints.iter().any(taken) {
                    let refusal = Code::WaitpointAlreadyExists.refusal().at(format!("waitpoints[{nth}].key"));
                    return Err(refusal
                        .because("is the key of a waitpoint made ahead; name that one by its id")
                        .into());
                }
                let (ring, id) = (view.ring(execution.id.partition())?, nonce.waitpoint(nth));
                let token = ring.ok_or(Code::HmacSecretNotInitialized)?.mint(&execution.id, &id, key)?;
                Waitpoint::fresh(id, execution.id, key.clone(), token, now)
            }
        };
        waitpoints.push(Waitpoint { suspension_id: Some(suspension_id), ..waitpoint });
    }
    Ok(waitpoints)
}

/// Refuses a waitpoint that is not waiting for its suspension.
fn usable(execution: &Execution, waitpoint: &Waitpoint, now: TimestampMs) -> Result<(), Refusal> {
    match execution.waitpoint_state(waitpoint, now) {
        WaitpointState::Pending => Ok(()),
        WaitpointState::Expired => Err(Code::PendingWaitpointExpired.refusal()),
        WaitpointState::Active | WaitpointState::Closed => Err(Code::WaitpointNotPending.refusal()),
    }
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

/// Weighs what came early, waitpoint by waitpoint, in the order it came to each.
fn weigh_early(suspension: &mut Suspension, waitpoints: &[Waitpoint]) {
    for waitpoint in waitpoints {
        for early in &waitpoint.buffered {
            suspension.weigh(&Weighed {
                signal_id: early.signal_id,
                waitpoint: &waitpoint.key,
                name: &early.name,
                source: &early.source,
                payload_bytes: early.payload_bytes,
            });
        }
    }
}

/// The lease goes on, and the suspension is over before it began: its waitpoints are used up.
fn already_satisfied(execution: &Execution, suspension: &Suspension, now: TimestampMs) -> (SuspendOutcome, Change) {
    let handed = suspension.handed();
    let outcome = SuspendOutcome::AlreadySatisfied { signals: handed.iter().map(|signal| signal.signal_id).collect() };
    let mut change = execution.unchanged();
    let ended = SuspensionEnd::AlreadySatisfied;
    change.after.last_suspension = Some(PastSuspension::of(suspension, execution.epoch(), ended, handed, now));
    (outcome, change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::contracts::RenewArgs;
    use crate::samples::{at, conditions};
    use crate::stage::{Stage, idempotency, key};
    use crate::suspension::contracts::Timeout;
    use crate::suspension::{Condition, Distinct, Handed, ResumePolicy};
    use crate::types::LeaseEpoch;

    fn pending(granted: &GrantedWaitpoint) -> WaitpointBinding {
        WaitpointBinding::Pending { id: granted.waitpoint_id, key: granted.waitpoint_key.clone() }
    }

    #[test]
    fn suspending_gives_up_the_lease_and_keeps_the_attempt() {
        let mut stage = Stage::running(at(0));
        let fence = stage.fence();
        stage.suspend("a", at(400));
        assert_eq!(stage.state(), "suspended");
        let refused = stage.refused(RenewArgs { execution_id: stage.id, fence, lease_ttl_ms: None }, at(500));
        assert_eq!(refused, Code::ExecutionNotActive);
        assert_eq!(stage.model.leases(&stage.id).len(), 1, "the history says that it was given up");
        assert!(stage.model.attempts(&stage.id).is_empty());
    }

    #[test]
    fn only_its_holder_can_suspend_an_execution() {
        let mut stage = Stage::running(at(0));
        let mut stale = stage.suspension("a");
        stale.fence.lease_epoch = LeaseEpoch(0);
        assert_eq!(stage.refused(stale, at(1)), Code::StaleLease);
        let late = stage.suspension("a");
        assert_eq!(stage.refused(late, at(30_000)), Code::LeaseExpired);
    }

    #[test]
    fn suspending_twice_with_one_key_is_one_suspension() {
        let mut stage = Stage::running(at(0));
        let args = SuspendArgs { idempotency_key: idempotency("once"), dedup_ttl_ms: 1_000, ..stage.suspension("a") };
        let first = stage.ask(args.clone(), at(1)).unwrap();
        assert_eq!(stage.ask(args.clone(), at(2)), Ok(first.clone()));
        stage.deliver(&first.waitpoints[0], "go", at(3));
        stage.claim(at(4));
        let resumed = SuspendArgs { fence: stage.fence(), ..args };
        assert_eq!(stage.ask(resumed.clone(), at(1_000)), Ok(first.clone()), "the first answer, word for word");
        assert_eq!(stage.state(), "active");
        let second = stage.ask(resumed, at(1_001)).unwrap();
        assert_ne!(second.suspension_id, first.suspension_id, "a key is forgotten after its window");
    }

    #[test]
    fn a_holder_whose_reply_got_lost_is_answered_as_the_first_time() {
        let mut stage = Stage::running(at(0));
        let args = stage.suspension("a");
        let first = stage.ask(args.clone(), at(1)).unwrap();
        assert_eq!(stage.ask(args.clone(), at(2)), Ok(first.clone()));
        stage.deliver(&first.waitpoints[0], "go", at(3));
        assert_eq!(stage.ask(args.clone(), at(4)), Ok(first), "even when the suspension is over");
        stage.claim(at(5));
        assert_eq!(stage.refused(args, at(6)), Code::StaleLease);
    }

    #[test]
    fn an_early_signal_is_kept_and_satisfies() {
        let mut stage = Stage::running(at(0));
        let args = stage.pending("a");
        let ahead = stage.ask(args, at(1)).unwrap();
        assert_eq!(stage.deliver(&ahead, "go", at(2)).effect.as_str(), "buffered_for_pending_waitpoint");
        let args = SuspendArgs { waitpoints: vec![pending(&ahead)], ..stage.suspension("a") };
        let satisfied = stage.ask(args.clone(), at(3)).unwrap();
        let SuspendOutcome::AlreadySatisfied { signals } = &satisfied.outcome else { panic!("it waits") };
        assert_eq!(signals.len(), 1);
        assert_eq!(satisfied.waitpoints[0], ahead, "the token is the one that was handed out");
        assert_eq!(stage.state(), "active", "the lease is kept");
        assert_eq!(stage.ask(args, at(4)), Ok(satisfied), "and the answer is given again");
        let late = stage.signal(&ahead, "go");
        assert_eq!(stage.refused(late, at(5)), Code::WaitpointClosed);
    }

    #[test]
    fn early_signals_count_towards_a_tree_as_well() {
        let mut stage = Stage::running(at(0));
        let args = stage.pending("a");
        let ahead = stage.ask(args, at(1)).unwrap();
        stage.deliver(&ahead, "vote", at(2));
        let condition = Condition::AllOf {
            members: vec![
                Condition::Count { n: 2, of: Distinct::Signals, waitpoints: vec![key("a")], name: None },
                Condition::Signal { waitpoint: key("b"), name: None },
            ],
        };
        let waitpoints = vec![pending(&ahead), WaitpointBinding::Fresh { key: key("b") }];
        let args = SuspendArgs { waitpoints, condition, ..stage.suspension("a") };
        let suspended = stage.ask(args, at(3)).unwrap();
        assert_eq!(stage.state(), "suspended");
        assert_eq!(stage.deliver(&suspended.waitpoints[1], "go", at(4)).effect.as_str(), "appended_to_waitpoint");
        assert_eq!(stage.deliver(&ahead, "vote", at(5)).effect.as_str(), "resume_condition_satisfied");
        let task = stage.claim(at(6));
        assert_eq!(stage.handed(&task), ["vote", "vote", "go"]);
        assert!(stage.waitpoint(&ahead).buffered.is_empty());
    }

    #[test]
    fn a_waitpoint_that_does_not_pend_cannot_be_used() {
        let mut stage = Stage::running(at(0));
        let args = stage.pending("a");
        let ahead = stage.ask(args, at(1)).unwrap();
        let on = |stage: &Stage, binding| SuspendArgs { waitpoints: vec![binding], ..stage.suspension("a") };
        let unknown = on(&stage, WaitpointBinding::Pending { id: WaitpointId::new(), key: key("a") });
        assert_eq!(stage.refused(unknown, at(2)), Code::WaitpointNotFound);
        let taken = on(&stage, WaitpointBinding::Fresh { key: key("a") });
        assert_eq!(stage.refused(taken, at(2)), Code::WaitpointAlreadyExists);
        let other = WaitpointBinding::Pending { id: ahead.waitpoint_id, key: key("b") };
        let misnamed = SuspendArgs { waitpoints: vec![other], ..stage.suspension("b") };
        assert_eq!(stage.refused(misnamed, at(2)), Code::InvalidWaitpointKey);
        let late = on(&stage, pending(&ahead));
        assert_eq!(stage.refused(late, at(1_001)), Code::PendingWaitpointExpired);
        let used = on(&stage, pending(&ahead));
        stage.ask(used, at(3)).unwrap();
        stage.deliver(&ahead, "go", at(4));
        stage.claim(at(5));
        let again = on(&stage, pending(&ahead));
        assert_eq!(stage.refused(again, at(6)), Code::WaitpointNotPending);
    }

    #[test]
    fn a_timeout_in_the_past_suspends_nothing() {
        let mut stage = Stage::running(at(0));
        let args = SuspendArgs { timeout: Some(Timeout::At(at(5))), ..stage.suspension("a") };
        let refusal = stage.ask(args, at(5)).unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidInput, Some("timeout_at")));
        assert_eq!(stage.state(), "active");
    }

    #[test]
    fn without_a_secret_nothing_is_suspended() {
        let mut stage = Stage::running(at(0));
        stage.model.set_ring(stage.id.partition(), crate::token::KeyRing::default());
        let execution = stage.execution().clone();
        let args = stage.suspension("a");
        let stopped = args.decide(&stage.model, &conditions(at(1))).unwrap_err();
        assert_eq!(stopped, Stop::Refused(Code::HmacSecretNotInitialized.refusal()));
        assert_eq!(*stage.execution(), execution);
    }

    #[test]
    fn who_asks_for_all_signals_is_handed_those_that_did_not_count_too() {
        let mut stage = Stage::running(at(0));
        let named = Condition::Signal { waitpoint: key("a"), name: crate::types::SignalName::parse("go").ok() };
        let resume_policy = ResumePolicy { handed: Handed::All, ..ResumePolicy::default() };
        let args = SuspendArgs { resume_policy, ..stage.suspension_for(named, &["a"]) };
        let granted = stage.ask(args, at(1)).unwrap().waitpoints.remove(0);
        stage.deliver(&granted, "note", at(2));
        stage.deliver(&granted, "go", at(3));
        let task = stage.claim(at(4));
        assert_eq!(stage.handed(&task), ["go", "note"]);
    }
}
