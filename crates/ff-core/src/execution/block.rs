//! Blocking: an execution that is ready but not admitted leaves the queues, and returns when its blocker is gone.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal, check_limit};
use crate::event::{Event, EventKind};
use crate::execution::{Blocker, Execution, Phase};
use crate::lease::ClaimGrant;
use crate::limits;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, check_partition};
use crate::rule::change::Change;
use crate::rule::view::{Stop, View, require_all};
use crate::types::{ExecutionId, LeaseEpoch, QuotaPolicyId, TimestampMs};

/// Why an execution that is otherwise ready is blocked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "on", rename_all = "snake_case")]
pub enum BlockDetail {
    /// No connected worker has the required capabilities.
    Route {
        /// Required capabilities, sorted and separated by commas.
        class: String,
    },
    /// A quota refused it.
    Quota {
        policy_id: QuotaPolicyId,
        name: String,
        /// Key value the quota counts it under; empty when the quota has no `per`.
        key: String,
        used: u64,
        limit: u64,
        /// When the window has room; absent when it waits for a slot.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_at: Option<TimestampMs>,
    },
    /// Another execution with the same singleton key must end first.
    Singleton {
        key: String,
        /// The execution ahead of it.
        behind: ExecutionId,
    },
    /// A budget refused it.
    Budget {
        name: String,
        dimension: String,
        /// When the budget resets; absent when it never does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_at: Option<TimestampMs>,
    },
    /// It is assigned to a worker instance.
    Assignment(ClaimGrant),
}

impl BlockDetail {
    pub fn blocker(&self) -> Blocker {
        match self {
            Self::Route { .. } => Blocker::Route,
            Self::Quota { .. } | Self::Singleton { .. } => Blocker::Quota,
            Self::Budget { .. } => Blocker::Budget,
            Self::Assignment(_) => Blocker::Assignment,
        }
    }

    /// Returns the time at which the execution becomes ready again without a further event, if there is one.
    pub fn retry_at(&self) -> Option<TimestampMs> {
        match self {
            Self::Route { .. } | Self::Singleton { .. } => None,
            Self::Quota { retry_at, .. } | Self::Budget { retry_at, .. } => *retry_at,
            Self::Assignment(grant) => Some(grant.expires_at),
        }
    }
}

/// Blocks executions of a partition that may not run now, which takes them out of its queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockArgs {
    pub partition: u16,
    pub executions: Vec<BlockTarget>,
}

/// An execution to block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockTarget {
    pub execution_id: ExecutionId,
    /// Epoch of its last lease, zero before the first. An execution that has been claimed since is left alone.
    pub lease_epoch: LeaseEpoch,
    pub detail: BlockDetail,
}

/// Number of executions that were blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockedCount {
    pub blocked: usize,
}

impl Command for BlockArgs {
    type Reply = BlockedCount;

    fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        check_partition(self.partition, partitions)?;
        check_targets(self.partition, self.executions.iter().map(|target| &target.execution_id))
    }

    fn partition(&self, _: &PartitionConfig) -> u16 {
        self.partition
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<BlockedCount>, Stop> {
        require_all(self.executions.iter().map(|target| view.execution(&target.execution_id)))?;
        let (mut seen, mut changes) = (BTreeSet::new(), Vec::new());
        for target in &self.executions {
            let execution = view.execution(&target.execution_id)?.filter(|_| seen.insert(target.execution_id));
            changes.extend(execution.and_then(|execution| block(execution, target, at.now)));
        }
        Ok(Decision::of(BlockedCount { blocked: changes.len() }, changes))
    }
}

/// Blocks a ready execution, unless its epoch has changed.
fn block(execution: &Execution, target: &BlockTarget, now: TimestampMs) -> Option<Change> {
    let on = target.detail.blocker();
    // Only an operator assigns executions. A refusal by a quota or a budget ends an assignment; a missing route does not.
    let is_ready = execution.phase == Phase::Waiting || execution.grant().is_some() && on != Blocker::Route;
    if !is_ready || execution.epoch() != target.lease_epoch || on == Blocker::Assignment {
        return None;
    }
    let mut change = execution.enter(Phase::Blocked { on, until: target.detail.retry_at() }, now);
    change.after.blocked_by = Some(Box::new(target.detail.clone()));
    change.events.push(Event::new(&execution.id, now, EventKind::Blocked { reason: on.reason() }));
    Some(change)
}

/// Makes blocked executions of a partition ready again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnblockArgs {
    pub partition: u16,
    pub executions: Vec<ExecutionId>,
    /// Their blocker. Executions that are blocked on something else are left alone.
    pub from: Blocker,
}

/// The executions that are ready again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnblockedExecutions {
    /// For how long each of them was blocked.
    pub waits_ms: Vec<u64>,
}

impl UnblockedExecutions {
    pub fn count(&self) -> usize {
        self.waits_ms.len()
    }
}

impl Command for UnblockArgs {
    type Reply = UnblockedExecutions;

    fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        check_partition(self.partition, partitions)?;
        check_targets(self.partition, &self.executions)?;
        match self.from {
            Blocker::Route | Blocker::Quota | Blocker::Budget => Ok(()),
            _ => Err(Code::InvalidBlockingReason.refusal().at("from").because("must be one of route, quota, budget")),
        }
    }

    fn partition(&self, _: &PartitionConfig) -> u16 {
        self.partition
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<UnblockedExecutions>, Stop> {
        require_all(self.executions.iter().map(|id| view.execution(id)))?;
        let (mut seen, mut changes, mut waits_ms) = (BTreeSet::new(), Vec::new(), Vec::new());
        for id in &self.executions {
            let execution = view.execution(id)?.filter(|_| seen.insert(*id));
            let blocked = execution.filter(|one| matches!(one.phase, Phase::Blocked { on, .. } if on == self.from));
            // A queued execution stays blocked, because the execution ahead of it has not ended.
            if let Some(blocked) = blocked.filter(|one| !one.is_queued()) {
                waits_ms.push(at.now.since(blocked.changed_at));
                changes.push(unblock(blocked, at.now));
            }
        }
        Ok(Decision::of(UnblockedExecutions { waits_ms }, changes))
    }
}

/// Makes an execution ready that admission had blocked. Its priority and its age are unchanged.
pub fn unblock(execution: &Execution, now: TimestampMs) -> Change {
    let mut change = execution.enter(execution.ready_phase(), now);
    let reason = execution.blocking_reason();
    change.events.push(Event::new(&execution.id, now, EventKind::Unblocked { reason }));
    change
}

/// Refuses too many executions for one call, and executions of another partition.
fn check_targets<'a>(partition: u16, ids: impl IntoIterator<Item = &'a ExecutionId>) -> Result<(), Refusal> {
    let mut count = 0;
    for id in ids {
        count += 1;
        if id.partition() != partition {
            return Err(Refusal::invalid("executions", format!("{id} is not on partition {partition}")));
        }
    }
    check_limit(Code::LimitExceeded, "executions", limits::BLOCK, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::entropy::{Entropy, SeededEntropy};
    use crate::execution::contracts::HoldArgs;
    use crate::rule::due::{Due, fire};
    use crate::rule::fixture::ExecutionFixture;
    use crate::rule::index::{Index, entries};
    use crate::rule::samples::{at, running, waiting, work};

    fn quota(retry_at: Option<TimestampMs>) -> BlockDetail {
        let policy_id = QuotaPolicyId::from_uuid(uuid::Uuid::nil());
        BlockDetail::Quota { policy_id, name: "api".into(), key: "acme".into(), used: 2, limit: 2, retry_at }
    }

    fn target(lease_epoch: u64, detail: BlockDetail) -> BlockTarget {
        BlockTarget { execution_id: waiting().id, lease_epoch: LeaseEpoch(lease_epoch), detail }
    }

    fn blocked(detail: BlockDetail) -> Execution {
        block(&waiting(), &target(0, detail), at(5)).unwrap().after
    }

    #[test]
    fn each_blocker_has_its_words_and_its_index() {
        let budget = BlockDetail::Budget { name: "b".into(), dimension: "usd".into(), retry_at: None };
        let route = BlockDetail::Route { class: "gpu".into() };
        for (detail, words) in [
            (route, ["waiting", "blocked_by_route", "waiting_for_capable_worker"]),
            (quota(None), ["rate_limited", "blocked_by_quota", "waiting_for_quota"]),
            (budget, ["rate_limited", "blocked_by_budget", "waiting_for_budget"]),
        ] {
            let on = detail.blocker();
            let after = blocked(detail.clone());
            let state = after.state_vector();
            let actual =
                [state.public_state.as_str(), state.eligibility_state.as_str(), state.blocking_reason.as_str()];
            assert_eq!(actual, words);
            assert_eq!(after.info().blocking_detail.as_deref(), Some(&detail));
            let entries = entries(&after);
            assert!(entries.contains(&(Index::LaneBlocked(after.lane_key(), on), at(5).0)), "since it was blocked");
            let in_reason = Index::InReason(after.namespace.clone(), state.blocking_reason);
            assert!(entries.contains(&(in_reason, after.created_at.0)), "and found by the reason");
            assert!(!entries.iter().any(|(index, _)| matches!(index, Index::LaneEligible(..))));
        }
    }

    #[test]
    fn an_execution_that_changed_meanwhile_is_not_blocked() {
        assert_eq!(block(&running(), &target(1, quota(None)), at(5)), None);
        assert_eq!(block(&waiting(), &target(1, quota(None)), at(5)), None);
        assert_eq!(block(&blocked(quota(None)), &target(0, quota(None)), at(6)), None);
    }

    #[test]
    fn a_window_with_room_makes_it_ready_at_the_place_it_had() {
        let before = blocked(quota(Some(at(100))));
        assert_eq!(before.next_due(), Some((at(100), Due::Unblock)));
        let nonce = SeededEntropy::new(1).nonce();
        assert_eq!(fire(&before, &nonce, at(99)), None);
        let after = fire(&before, &nonce, at(100)).unwrap().after;
        assert_eq!(after, Execution { changed_at: at(100), ..waiting() });
    }

    #[test]
    fn a_call_moves_those_that_are_blocked_on_what_it_names() {
        let mut fixture = ExecutionFixture::waiting(&work(), at(0));
        let (id, partition) = (fixture.id, fixture.id.partition());
        let target = BlockTarget { execution_id: id, ..target(0, quota(None)) };
        let twice = BlockArgs { partition, executions: vec![target.clone(), target] };
        assert_eq!(fixture.ask(twice.clone(), at(1)), Ok(BlockedCount { blocked: 1 }));
        assert_eq!(fixture.ask(twice, at(1)), Ok(BlockedCount { blocked: 0 }));
        let mut unblock = |from| fixture.ask(UnblockArgs { partition, executions: vec![id, id], from }, at(2));
        assert_eq!(unblock(Blocker::Route), Ok(UnblockedExecutions::default()));
        assert_eq!(unblock(Blocker::Quota), Ok(UnblockedExecutions { waits_ms: vec![at(2).since(at(1))] }));
        assert_eq!(unblock(Blocker::Operator).unwrap_err().code, Code::InvalidBlockingReason);
        assert_eq!(fixture.execution().phase, Phase::Waiting);
    }

    #[test]
    fn a_hold_takes_the_place_of_another_blocker() {
        let mut fixture = ExecutionFixture::waiting(&work(), at(0));
        let (id, partition) = (fixture.id, fixture.id.partition());
        let executions = vec![BlockTarget { execution_id: id, ..target(0, quota(Some(at(100)))) }];
        fixture.ask(BlockArgs { partition, executions }, at(1)).unwrap();
        fixture.ask(HoldArgs { execution_id: id, reason: None, requested_by: None }, at(2)).unwrap();
        assert_eq!(fixture.execution().phase, Phase::Blocked { on: Blocker::Operator, until: None });
        assert_eq!((fixture.execution().next_due(), &fixture.execution().blocked_by), (None, &None));
    }

    #[test]
    fn more_than_one_call_takes_and_other_partitions_are_refused() {
        let partition = waiting().id.partition();
        let check = |partition, count| {
            let args = UnblockArgs { partition, executions: vec![waiting().id; count], from: Blocker::Route };
            Command::check(&args, &PartitionConfig::default()).map_err(|refusal| (refusal.code, refusal.field))
        };
        assert_eq!(check(partition, limits::BLOCK), Ok(()));
        let over = (Code::LimitExceeded, Some("executions".into()));
        assert_eq!(check(partition, limits::BLOCK + 1), Err(over));
        assert_eq!(check(partition ^ 1, 1).unwrap_err().0, Code::InvalidInput);
    }
}
