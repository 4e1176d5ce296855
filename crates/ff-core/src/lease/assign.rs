//! Assigning: an operator reserves an execution for one worker instance, for a limited time.

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal, check_range};
use crate::event::{Event, EventKind};
use crate::execution::contracts::ExecutionInfo;
use crate::execution::{BlockDetail, Blocker, Execution, Phase};
use crate::lease::{Holder, expire};
use crate::limits;
use crate::operation::command::{Conditions, Decision, ExecutionCommand, check_message, found};
use crate::rule::change::Change;
use crate::rule::view::{Stop, View};
use crate::state::PublicState;
use crate::types::{ExecutionId, FairKey, Kind, LaneId, Namespace, RequirementClass, TimestampMs, WorkerInstanceId};

/// Reserves an execution for one worker instance until `expires_at`; no other worker can claim it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClaimGrant {
    pub worker_instance_id: WorkerInstanceId,
    pub granted_at: TimestampMs,
    pub expires_at: TimestampMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ClaimGrant {
    /// Returns whether a holder may claim under this grant now.
    pub(super) fn is_for(&self, holder: &Holder, now: TimestampMs) -> bool {
        self.worker_instance_id == holder.worker_instance_id && now < self.expires_at
    }
}

impl Execution {
    /// Returns the class of the queue in which claims find the execution, or nothing if it cannot be claimed.
    pub fn queue_class(&self) -> Option<RequirementClass> {
        match self.phase {
            Phase::Waiting => Some(self.class()),
            _ => self.grant().map(|grant| RequirementClass::assigned_to(&grant.worker_instance_id)),
        }
    }

    /// Returns the fairness key of that queue. It is empty for work that is assigned to a worker instance.
    pub fn queue_key(&self) -> FairKey {
        if self.phase == Phase::Waiting { self.fair_key.clone() } else { FairKey::default() }
    }

    /// Returns the grant of an assigned execution.
    pub fn grant(&self) -> Option<&ClaimGrant> {
        match (&self.phase, self.blocked_by.as_deref()) {
            (Phase::Blocked { on: Blocker::Assignment, .. }, Some(BlockDetail::Assignment(grant))) => Some(grant),
            _ => None,
        }
    }
}

/// An assigned execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GrantInfo {
    pub execution_id: ExecutionId,
    pub namespace: Namespace,
    pub lane_id: LaneId,
    pub kind: Kind,
    #[serde(flatten)]
    pub grant: ClaimGrant,
}

impl GrantInfo {
    /// Returns the grant of an assigned execution, or nothing for any other.
    pub fn of(info: &ExecutionInfo) -> Option<Self> {
        let Some(BlockDetail::Assignment(grant)) = info.blocking_detail.as_deref() else { return None };
        Some(Self {
            execution_id: info.execution_id,
            namespace: info.namespace.clone(),
            lane_id: info.lane_id.clone(),
            kind: info.kind.clone(),
            grant: grant.clone(),
        })
    }
}

/// A request to assign an execution to a worker instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignArgs {
    pub execution_id: ExecutionId,
    pub worker_instance_id: WorkerInstanceId,
    /// Time within which the instance can claim the execution.
    pub ttl_ms: u64,
    pub reason: Option<String>,
    pub requested_by: Option<String>,
}

/// The execution is assigned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GrantIssued {
    /// When any worker may claim it again.
    pub expires_at: TimestampMs,
    /// True when it was already assigned to this instance; the earlier grant is unchanged.
    pub already: bool,
}

impl ExecutionCommand for AssignArgs {
    type Reply = GrantIssued;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        check_range("ttl_ms", self.ttl_ms, limits::GRANT_TTL_MIN_MS, limits::GRANT_TTL_MAX_MS)?;
        check_message("reason", self.reason.as_deref())?;
        check_message("requested_by", self.requested_by.as_deref())
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<GrantIssued>, Stop> {
        let before = found(view, &self.execution_id)?;
        let change = assign(before, self, at.now)?;
        let expires_at = change.after.grant().map_or(at.now, |grant| grant.expires_at);
        let already = change.after == *before;
        Ok(Decision::of(GrantIssued { expires_at, already }, [change]))
    }
}

/// Assigns an execution that is ready apart from admission, or whose lease has expired. Its requirements and its
/// blocker do not matter. An execution is refused if an operator holds it, or if another one of its singleton key must
/// end first.
fn assign(execution: &Execution, args: &AssignArgs, now: TimestampMs) -> Result<Change, Refusal> {
    if execution.is_finished() {
        return Err(execution.not_active());
    }
    if let Some(grant) = execution.grant().filter(|grant| now < grant.expires_at) {
        if grant.worker_instance_id == args.worker_instance_id {
            return Ok(execution.unchanged());
        }
        let why = format!("the execution is assigned to {}", grant.worker_instance_id);
        return Err(Code::GrantAlreadyExists.refusal().because(why));
    }
    let freed = match &execution.phase {
        Phase::Running { lease } if now < lease.until || execution.reclaims >= execution.policy.max_reclaim_count => {
            let why = format!("{} holds the execution", lease.holder.worker_instance_id);
            return Err(Code::LeaseConflict.refusal().in_state(PublicState::Active).because(why));
        }
        Phase::Running { .. } => expire(execution, now),
        _ => execution.unchanged(),
    };
    let ready = &freed.after;
    let state = ready.public_state();
    let not_eligible = |why: String| Err(Code::ExecutionNotEligible.refusal().in_state(state).because(why));
    if !ready.is_ready() {
        return not_eligible(format!("the execution is {state}"));
    } else if ready.hold.is_some() {
        return not_eligible("an operator holds the execution".into());
    } else if ready.behind().is_some() {
        return not_eligible("another execution of its singleton key has to end first".into());
    }
    let grant = ClaimGrant {
        worker_instance_id: args.worker_instance_id.clone(),
        granted_at: now,
        expires_at: now + args.ttl_ms,
        requested_by: args.requested_by.clone(),
        reason: args.reason.clone(),
    };
    let until = Some(grant.expires_at);
    let mut change = ready.enter(Phase::Blocked { on: Blocker::Assignment, until }, now);
    change.after.blocked_by = Some(Box::new(BlockDetail::Assignment(grant)));
    let reason = Blocker::Assignment.reason();
    change.events.push(Event::new(&execution.id, now, EventKind::Blocked { reason }));
    Ok(freed.then(change))
}

/// A request to end an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnassignArgs {
    pub execution_id: ExecutionId,
}

/// The execution is not assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GrantRevoked {
    pub public_state: PublicState,
    /// True when it was not assigned.
    pub already: bool,
}

impl ExecutionCommand for UnassignArgs {
    type Reply = GrantRevoked;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<GrantRevoked>, Stop> {
        let before = found(view, &self.execution_id)?;
        let change = unassign(before, at.now)?;
        let (public_state, already) = (change.after.public_state(), before.grant().is_none());
        Ok(Decision::of(GrantRevoked { public_state, already }, [change]))
    }
}

/// Ends an unused grant. The execution becomes ready for any worker, at its former place in the queue.
fn unassign(execution: &Execution, now: TimestampMs) -> Result<Change, Refusal> {
    if execution.is_finished() {
        return Err(execution.not_active());
    }
    if execution.grant().is_none() {
        return Ok(execution.unchanged());
    }
    let mut change = execution.enter(execution.ready_phase(), now);
    let reason = Blocker::Assignment.reason();
    change.events.push(Event::new(&execution.id, now, EventKind::Unblocked { reason }));
    Ok(change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::contracts::{BlockArgs, BlockTarget, CancelArgs, HoldArgs, Start, SubmitArgs};
    use crate::lease::contracts::ClaimArgs;
    use crate::operation::PumpArgs;
    use crate::rule::fixture::ExecutionFixture;
    use crate::rule::samples::{at, running, waiting, work};
    use crate::types::LeaseEpoch;

    fn to(instance: &str) -> AssignArgs {
        AssignArgs {
            execution_id: waiting().id,
            worker_instance_id: WorkerInstanceId::parse(instance).unwrap(),
            ttl_ms: 30_000,
            reason: Some("it has the data".into()),
            requested_by: Some("ada".into()),
        }
    }

    fn assigned(execution: &Execution) -> Execution {
        assign(execution, &to("w-7"), at(5)).unwrap().after
    }

    fn refused(execution: &Execution, now: TimestampMs) -> Code {
        assign(execution, &to("w-7"), now).unwrap_err().code
    }

    fn claim(fixture: &mut ExecutionFixture, instance: &str, assigned: bool, now: TimestampMs) -> usize {
        let holder = Holder::parse("w", instance).unwrap();
        let args = ClaimArgs { assigned, ..ClaimArgs::new(fixture.id.partition(), holder) };
        fixture.ask(args, now).unwrap().tasks.len()
    }

    #[test]
    fn it_leaves_the_shared_queue_and_says_who_is_meant_by_whom_and_why() {
        let after = assigned(&waiting());
        assert_eq!(after.phase, Phase::Blocked { on: Blocker::Assignment, until: Some(at(30_005)) });
        assert_eq!(after.queue_class().unwrap(), RequirementClass::parse(",,w-7").unwrap());
        let grant = after.grant().unwrap();
        assert_eq!((grant.granted_at, grant.requested_by.as_deref()), (at(5), Some("ada")));
        let words = after.state_vector();
        assert_eq!(
            (words.public_state.as_str(), words.eligibility_state.as_str(), words.blocking_reason.as_str()),
            ("waiting", "blocked_by_route", "waiting_for_locality_match")
        );
        assert_eq!(unassign(&after, at(9)).unwrap().after, Execution { changed_at: at(9), ..waiting() });
    }

    #[test]
    fn only_the_instance_that_is_meant_claims_it_and_not_after_its_time() {
        let mut fixture = ExecutionFixture::waiting(&work(), at(0));
        let args = AssignArgs { execution_id: fixture.id, ..to("w-7") };
        fixture.ask(args.clone(), at(1)).unwrap();
        assert_eq!(claim(&mut fixture, "w-8", false, at(2)), 0);
        assert_eq!(claim(&mut fixture, "w-8", true, at(2)), 0);
        assert_eq!(claim(&mut fixture, "w-7", false, at(2)), 0, "what is assigned is asked for as such");
        assert_eq!(claim(&mut fixture, "w-7", true, at(30_001)), 0, "its time has passed");
        fixture.ask(PumpArgs { partition: fixture.id.partition() }, at(30_001)).unwrap();
        assert_eq!(fixture.execution().phase, Phase::Waiting);
        fixture.ask(args, at(30_002)).unwrap();
        assert_eq!(claim(&mut fixture, "w-7", true, at(30_003)), 1);
        assert!(matches!(fixture.execution().phase, Phase::Running { .. }));
        assert_eq!(fixture.execution().blocked_by, None);
    }

    #[test]
    fn assigning_twice_is_once_and_to_another_is_refused() {
        let first = assigned(&waiting());
        assert_eq!(assign(&first, &AssignArgs { ttl_ms: 1_000, ..to("w-7") }, at(6)).unwrap(), first.unchanged());
        assert_eq!(assign(&first, &to("w-8"), at(6)).unwrap_err().code, Code::GrantAlreadyExists);
        let later = assign(&first, &to("w-8"), at(30_005)).unwrap().after;
        assert_eq!(later.grant().unwrap().worker_instance_id.as_str(), "w-8", "the first has expired");
        assert_eq!(unassign(&waiting(), at(6)).unwrap(), waiting().unchanged());
    }

    #[test]
    fn an_expired_lease_is_taken_back_first() {
        assert_eq!(refused(&running(), at(29_999)), Code::LeaseConflict);
        let change = assign(&running(), &to("w-7"), at(30_000)).unwrap();
        assert_eq!((change.after.reclaims, change.leases.len()), (1, 1));
        assert!(change.after.grant().is_some());
        let mut spent = running();
        spent.reclaims = spent.policy.max_reclaim_count;
        assert_eq!(refused(&spent, at(30_000)), Code::LeaseConflict, "it is about to be given up");
    }

    #[test]
    fn it_overrides_what_admission_blocks_and_no_hold() {
        let mut fixture = ExecutionFixture::waiting(&work(), at(0));
        let (id, partition) = (fixture.id, fixture.id.partition());
        let route = BlockDetail::Route { class: "gpu".into() };
        let target = |detail| BlockTarget { execution_id: id, lease_epoch: LeaseEpoch(0), detail };
        let block = |detail| BlockArgs { partition, executions: vec![target(detail)] };
        fixture.ask(block(route.clone()), at(1)).unwrap();
        fixture.ask(AssignArgs { execution_id: id, ..to("w-7") }, at(2)).unwrap();
        assert_eq!(fixture.ask(block(route), at(3)).unwrap().blocked, 0, "an operator knows better");
        let budget = BlockDetail::Budget { name: "b".into(), dimension: "calls".into(), retry_at: None };
        assert_eq!(fixture.ask(block(budget), at(3)).unwrap().blocked, 1, "a limit is not overridden");
        assert_eq!(fixture.execution().grant(), None);
        fixture.ask(AssignArgs { execution_id: id, ..to("w-7") }, at(4)).unwrap();
        fixture.ask(HoldArgs { execution_id: id, reason: None, requested_by: None }, at(5)).unwrap();
        assert_eq!((fixture.execution().grant(), fixture.execution().next_due()), (None, None));
        let again = fixture.ask(AssignArgs { execution_id: id, ..to("w-7") }, at(6)).unwrap_err();
        assert_eq!(again.code, Code::ExecutionNotEligible);
    }

    #[test]
    fn assigning_a_delayed_or_ended_execution_is_refused() {
        let delayed = SubmitArgs { start: Start::After(100), ..work() };
        let mut fixture = ExecutionFixture::waiting(&delayed, at(0));
        assert_eq!(refused(fixture.execution(), at(1)), Code::ExecutionNotEligible);
        let execution_id = fixture.id;
        fixture.ask(CancelArgs { execution_id, reason: None, requested_by: None }, at(2)).unwrap();
        assert_eq!(refused(fixture.execution(), at(3)), Code::ExecutionNotActive);
        assert_eq!(unassign(fixture.execution(), at(3)).unwrap_err().code, Code::ExecutionNotActive);
    }

    #[test]
    fn the_time_it_is_granted_for_is_bounded() {
        for (ttl_ms, is_allowed) in [(999, false), (1_000, true), (3_600_000, true), (3_600_001, false)] {
            let checked = AssignArgs { ttl_ms, ..to("w-7") }.check();
            assert_eq!(checked.is_ok(), is_allowed, "{ttl_ms}");
            assert_eq!(checked.err().and_then(|refusal| refusal.field).is_some(), !is_allowed);
        }
    }
}
