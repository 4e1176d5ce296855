//! Indexes are derived from the record: one function returns the indexes of an execution and its score in each. A store
//! applies the difference between before and after, and a checker can recompute every index.

use crate::execution::{Blocker, Execution, Phase};
use crate::keys::IndexKeys;
use crate::rule::due::Due;
use crate::state::{BlockingReason, PublicState};
use crate::types::{
    FairKey, Kind, LaneId, Namespace, Priority, RequirementClass, TagKey, TagValue, TimestampMs, WaitpointId,
    WorkerInstanceId,
};

/// One index of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Index {
    /// Waiting executions of a lane and requirement class, including those assigned to a worker instance.
    LaneEligible(LaneId, RequirementClass),
    LaneEligibleKind(LaneId, Kind, RequirementClass),
    /// Waiting executions of a lane with a non-empty key.
    LaneKeyed(LaneId),
    /// Waiting executions of a lane, of one kind, requirement class and key.
    LaneEligibleKey(LaneId, Kind, RequirementClass, FairKey),
    /// Executions that are blocked because no live worker meets their requirements, by creation.
    LaneUnroutable(LaneId, Kind, RequirementClass),
    LaneDelayed(LaneId),
    LaneActive(LaneId),
    LaneSuspended(LaneId),
    LaneTerminal(LaneId),
    /// Blocked executions, by blocker. All executions blocked by their flow are under the dependencies. Executions
    /// assigned to a worker instance are under the route.
    LaneBlocked(LaneId, Blocker),
    DispatchBacklog,
    PendingCancelGroups,
    WorkerLeases(WorkerInstanceId),
    SuspensionTimeout,
    LeaseExpiry,
    AttemptTimeout,
    ExecutionDeadline,
    Retention,
    AllExecutions,
    /// The executions of a namespace. The default namespace has no such index.
    NamespaceExecutions(Namespace),
    /// The executions of a namespace in an exceptional state (failed, cancelled, expired …).
    InState(Namespace, PublicState),
    /// The executions of a namespace that admission blocks, by reason.
    InReason(Namespace, BlockingReason),
    /// The executions of a namespace with usage that budgets may not have counted.
    UsageBacklog(Namespace),
    /// The executions with a tag.
    Tag(Namespace, TagKey, TagValue),
}

/// The position of a member in an index; smaller is earlier. Exact in a double.
pub type Score = i64;

/// The weight of one step of priority, in milliseconds of age. It exceeds the difference between any two ages.
const PRIORITY_WEIGHT: i64 = 1_000_000_000_000;

impl Index {
    /// Returns the index of waiting executions of one kind, requirement class and key.
    pub fn queue(lane: LaneId, kind: Kind, class: RequirementClass, key: FairKey) -> Self {
        if key.is_empty() {
            return Self::LaneEligibleKind(lane, kind, class);
        }
        Self::LaneEligibleKey(lane, kind, class, key)
    }

    /// Returns the Valkey key of this index.
    pub fn key(&self, keys: &IndexKeys) -> String {
        match self {
            Self::LaneEligible(lane, class) if class.is_plain() => keys.lane_eligible(lane),
            Self::LaneEligible(lane, class) => keys.lane_eligible_class(lane, class),
            Self::LaneEligibleKind(lane, kind, class) if class.is_plain() => keys.lane_eligible_kind(lane, kind),
            Self::LaneEligibleKind(lane, kind, class) => keys.lane_eligible_kind_class(lane, kind, class),
            Self::LaneKeyed(lane) => keys.lane_keyed(lane),
            Self::LaneEligibleKey(lane, kind, class, key) => keys.lane_eligible_key(lane, kind, class, key),
            Self::LaneUnroutable(lane, kind, class) => keys.lane_unroutable(lane, kind, class),
            Self::LaneDelayed(lane) => keys.lane_delayed(lane),
            Self::LaneActive(lane) => keys.lane_active(lane),
            Self::LaneSuspended(lane) => keys.lane_suspended(lane),
            Self::LaneTerminal(lane) => keys.lane_terminal(lane),
            Self::LaneBlocked(lane, on) => match on {
                Blocker::Dependencies | Blocker::Staging | Blocker::Reopening => keys.lane_blocked_dependencies(lane),
                Blocker::Route | Blocker::Assignment => keys.lane_blocked_route(lane),
                Blocker::Quota => keys.lane_blocked_quota(lane),
                Blocker::Budget => keys.lane_blocked_budget(lane),
                Blocker::Operator => keys.lane_blocked_operator(lane),
            },
            Self::DispatchBacklog => keys.dispatch_backlog(),
            Self::PendingCancelGroups => keys.pending_cancel_groups(),
            Self::SuspensionTimeout => keys.suspension_timeout(),
            Self::WorkerLeases(instance) => keys.worker_leases(instance),
            Self::LeaseExpiry => keys.lease_expiry(),
            Self::AttemptTimeout => keys.attempt_timeout(),
            Self::ExecutionDeadline => keys.execution_deadline(),
            Self::Retention => keys.retention(),
            Self::AllExecutions => keys.all_executions(),
            Self::NamespaceExecutions(namespace) => keys.namespace_executions(namespace),
            Self::InState(namespace, state) => keys.in_state(namespace, *state),
            Self::InReason(namespace, reason) => keys.in_reason(namespace, *reason),
            Self::UsageBacklog(namespace) => keys.usage_backlog(namespace),
            Self::Tag(namespace, key, value) => keys.tag(namespace, key, value),
        }
    }
}

impl Due {
    /// Returns the index of executions by the time of this timer, if there is one. Delayed executions are found by
    /// their lane, blocked executions by their blocker, and pending waitpoints by an index of waitpoints.
    pub fn index(self) -> Option<Index> {
        match self {
            Self::Deadline => Some(Index::ExecutionDeadline),
            Self::AttemptTimeout => Some(Index::AttemptTimeout),
            Self::LeaseExpiry => Some(Index::LeaseExpiry),
            Self::SuspensionTimeout => Some(Index::SuspensionTimeout),
            Self::Dependents => Some(Index::DispatchBacklog),
            Self::Siblings => Some(Index::PendingCancelGroups),
            Self::Retention => Some(Index::Retention),
            Self::Delayed | Self::Unblock | Self::PendingWaitpoint => None,
        }
    }
}

/// Returns the score of a waiting execution: a higher priority comes first, then the older execution.
pub fn eligible_score(priority: Priority, created_at: TimestampMs) -> Score {
    created_at.0 - i64::from(priority.get()) * PRIORITY_WEIGHT
}

/// Returns the score of a waiting execution in a lane with ageing: one step of priority weighs as much as a wait of
/// `ageing_ms`. The score does not depend on the current time, so that the order of two waiting executions never changes.
pub fn aged_score(priority: Priority, created_at: TimestampMs, ageing_ms: u64) -> Score {
    created_at.0 - i64::from(priority.get()) * i64::try_from(ageing_ms).unwrap_or(i64::MAX / (1 << 16))
}

/// Returns every index that contains an execution, with its score there.
pub fn entries(execution: &Execution) -> Vec<(Index, Score)> {
    // A staged execution is in no index; it is found through its flow.
    if execution.is_staged() {
        return Vec::new();
    }
    let lane = execution.lane_key();
    let mut entries = vec![(Index::AllExecutions, execution.created_at.0)];
    if let Some(class) = execution.queue_class() {
        let score = eligible_score(execution.priority, execution.created_at);
        let (kind, key) = (execution.kind.clone(), execution.queue_key());
        if key.is_empty() {
            entries.push((Index::LaneEligible(lane.clone(), class.clone()), score));
            entries.push((Index::LaneEligibleKind(lane.clone(), kind, class), score));
        } else {
            entries.push((Index::LaneKeyed(lane.clone()), score));
            entries.push((Index::LaneEligibleKey(lane.clone(), kind, class, key), score));
        }
    }
    match &execution.phase {
        Phase::Waiting => {}
        Phase::Delayed { until, .. } => entries.push((Index::LaneDelayed(lane), until.0)),
        Phase::Running { lease } => {
            entries.push((Index::LaneActive(lane), lease.acquired_at.0));
            entries.push((Index::WorkerLeases(lease.holder.worker_instance_id.clone()), lease.acquired_at.0));
        }
        Phase::Suspended { suspension } => entries.push((Index::LaneSuspended(lane), suspension.at.0)),
        Phase::Blocked { on, .. } if on.is_admission() => {
            entries.extend(unroutable(execution).map(|queue| (queue, execution.created_at.0)));
            let on = if *on == Blocker::Assignment { Blocker::Route } else { *on };
            entries.push((Index::LaneBlocked(lane, on), execution.changed_at.0));
        }
        Phase::Blocked { .. } => {
            entries.push((Index::LaneBlocked(lane, Blocker::Dependencies), execution.created_at.0));
        }
        Phase::Finished { at, .. } => entries.push((Index::LaneTerminal(lane), at.0)),
    }
    for due in Due::ALL {
        if let (Some(index), Some(at)) = (due.index(), execution.due_at(*due)) {
            entries.push((index, at.0));
        }
    }
    entries.extend(searched_by(execution).map(|index| (index, execution.created_at.0)));
    entries
}

/// Returns the index from which an execution is released when a worker meets its requirements.
fn unroutable(execution: &Execution) -> Option<Index> {
    let class = execution.class();
    let is_unroutable = matches!(execution.phase, Phase::Blocked { on: Blocker::Route, .. }) && !class.is_plain();
    is_unroutable.then(|| Index::LaneUnroutable(execution.lane_key(), execution.kind.clone(), class))
}

/// Returns whether a state has an index. Waiting, active and completed executions have none, so that a normal run does
/// not pay for searches by state.
pub fn has_state_index(state: PublicState) -> bool {
    !matches!(state, PublicState::Waiting | PublicState::Active | PublicState::Completed)
}

/// Returns whether a blocking reason has an index. Only the reasons of admission have one.
pub fn has_reason_index(reason: BlockingReason) -> bool {
    Blocker::ADMISSION.iter().any(|on| on.reason() == reason)
}

/// Returns the indexes for searches. Their scores are the creation time, which never changes; searches read them newest first.
fn searched_by(execution: &Execution) -> impl Iterator<Item = Index> {
    let (namespace, state) = (&execution.namespace, execution.public_state());
    let tenant = (!namespace.is_default()).then(|| Index::NamespaceExecutions(namespace.clone()));
    let in_state = has_state_index(state).then(|| Index::InState(namespace.clone(), state));
    let labels = execution.tags.iter().map(|(key, value)| Index::Tag(namespace.clone(), key.clone(), value.clone()));
    let reason = Some(execution.blocking_reason()).filter(|reason| has_reason_index(*reason));
    let in_reason = reason.map(|reason| Index::InReason(namespace.clone(), reason));
    let backlog = execution.usage.as_ref().filter(|usage| usage.is_pending());
    let backlog = backlog.map(|_| Index::UsageBacklog(namespace.clone()));
    tenant.into_iter().chain(backlog).chain(in_state).chain(in_reason).chain(labels)
}

/// Returns the pending waitpoints of an execution with their scores, which are their expiry times.
pub fn pending_waitpoints(execution: &Execution) -> impl Iterator<Item = (WaitpointId, Score)> {
    execution.pending_waitpoints.iter().map(|pending| (pending.id, pending.expires_at.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::fixture::ExecutionFixture;
    use crate::rule::samples::{at, running, waiting};

    #[test]
    fn priority_goes_before_age_and_age_before_nothing() {
        let score = |priority, created| eligible_score(Priority::new(priority).unwrap(), at(created));
        assert!(score(1, 1_000_000) < score(0, 0));
        assert!(score(5, 10) < score(5, 11));
        let most = score(9_000, 0);
        assert!(most.unsigned_abs() < 1 << 53, "a score must be exact in a double");
    }

    #[test]
    fn age_makes_up_for_priority_where_a_lane_asks_for_it() {
        let score = |priority, created| aged_score(Priority::new(priority).unwrap(), at(created), 1_000);
        assert!(score(1, 999) < score(0, 0), "a step of priority goes first");
        assert!(score(1, 1_001) > score(0, 0), "unless the other has waited for longer than it weighs");
    }

    #[test]
    fn an_execution_is_in_exactly_one_index_of_its_lane() {
        let mut fixture = ExecutionFixture::running(at(0));
        fixture.suspend("a", at(1));
        for execution in [waiting(), running(), fixture.execution().clone()] {
            let in_lane = entries(&execution).into_iter().filter(|(index, _)| {
                matches!(
                    index,
                    Index::LaneEligible(..)
                        | Index::LaneDelayed(_)
                        | Index::LaneActive(_)
                        | Index::LaneSuspended(_)
                        | Index::LaneTerminal(_)
                )
            });
            assert_eq!(in_lane.count(), 1);
        }
    }

    #[test]
    fn a_lease_is_indexed_by_its_end() {
        assert!(entries(&running()).contains(&(Index::LeaseExpiry, at(30_000).0)));
    }
}
