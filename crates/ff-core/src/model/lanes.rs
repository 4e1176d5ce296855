//! The lanes of the model, as callers see them.

use std::collections::BTreeSet;

use super::Model;
use crate::backend::ReadyLane;
use crate::backend::snapshot::Snapshot;
use crate::fairness::{TurnQueue, TurnsQuery};
use crate::lane::contracts::{
    Depth, Depths, LaneInfo, LanePlace, LanesPage, LanesPageBuilder, ListLanesArgs, ListQueueArgs, QueueState,
    QueuedExecution, WorkQueue,
};
use crate::lease::contracts::Head;
use crate::rule::index::Index;
use crate::types::{ExecutionId, LaneId, TimestampMs};

impl Model {
    /// Returns a lane, whether it is configured or not.
    pub fn lane_info(&self, key: &LaneId) -> LaneInfo {
        let (namespace, lane_id) = key.apart();
        let newest = self.lanes.iter().filter(|((_, lane), _)| lane == key).max_by_key(|(_, lane)| lane.revision);
        let settings = newest.map(|(_, lane)| lane.settings.clone()).unwrap_or_default();
        LaneInfo { namespace, lane_id, settings, depths: self.depths(key) }
    }

    /// Returns a page of the lanes that are configured or have executions.
    pub fn lanes(&self, args: &ListLanesArgs) -> LanesPage {
        let used = self.indexes.keys().filter_map(|(_, index)| lane_of(index));
        let all: BTreeSet<_> = self.lanes.keys().map(|(_, key)| key).chain(used).collect();
        let of = |key: &LaneId| args.namespace.as_ref().is_none_or(|namespace| key.apart().0 == *namespace);
        let wanted = all.into_iter().filter(|key| args.after.as_ref().is_none_or(|after| *key > after) && of(key));
        let is_configured = |key: &LaneId| self.lanes.keys().any(|(_, lane)| lane == key);
        let mut fill = LanesPageBuilder::of(args);
        for key in wanted {
            if fill.is_full() {
                break;
            }
            fill.look(self.lane_info(key), is_configured(key));
        }
        fill.into_page()
    }

    /// Returns the queues of a partition with waiting work, by lane, kind and requirement class, each with its first
    /// execution.
    pub fn ready(&self, partition: u16) -> Vec<ReadyLane> {
        let here = self.indexes.iter().filter(|((of, _), _)| *of == partition);
        here.filter_map(|((_, index), members)| match index {
            Index::LaneEligibleKind(lane, kind, class) => {
                let best = self.executions.get(&members.first()?.1)?;
                let head = Head::new(best.priority, best.created_at);
                Some(ReadyLane { lane: lane.clone(), kind: kind.clone(), class: class.clone(), head })
            }
            _ => None,
        })
        .chain(self.turns.lists(partition).filter_map(|(lane, queue, _)| match queue {
            TurnQueue::Of(Some(kind), class) => Some(ReadyLane::keyed(lane.clone(), kind.clone(), class.clone())),
            _ => None,
        }))
        .collect()
    }

    /// Returns the queues of a partition with executions that are blocked because no live worker meets their requirements.
    pub fn unroutable(&self, partition: u16) -> Vec<WorkQueue> {
        let here = self.indexes.keys().filter(|(of, _)| *of == partition);
        let queues = here.filter_map(|(_, index)| match index {
            Index::LaneUnroutable(lane, kind, class) => {
                Some(WorkQueue { lane: lane.clone(), kind: kind.clone(), class: class.clone() })
            }
            _ => None,
        });
        queues.collect()
    }

    /// Returns the first executions of a queue.
    pub fn queue(&self, args: &ListQueueArgs) -> Vec<QueuedExecution> {
        let members = |index| self.indexes.get(&(args.partition, index)).into_iter().flatten();
        let WorkQueue { lane, kind, class } = &args.queue;
        let keys = TurnsQuery {
            partition: args.partition,
            lane: lane.clone(),
            queue: TurnQueue::Of(Some(kind.clone()), class.clone()),
            limit: if args.state == QueueState::Ready { args.limit } else { 0 },
        };
        let keyed = self.turns.first(&keys).into_iter();
        let keyed = keyed.flat_map(|(_, key)| members(Index::queue(lane.clone(), kind.clone(), class.clone(), key)));
        let first = members(args.index()).chain(keyed).take(args.limit);
        first.filter_map(|(_, id)| Some(QueuedExecution::of(self.executions.get(id)?))).collect()
    }

    /// Adds the lanes, turns and workers of a partition to a snapshot.
    pub(super) fn snapshot_lanes(&self, partition: u16, snapshot: &mut Snapshot) {
        let lanes = self.lanes.iter().filter(|((of, _), _)| *of == partition);
        snapshot.lanes = lanes.map(|((_, key), lane)| (key.clone(), lane.clone())).collect();
        self.turns.snapshot(partition, snapshot);
        let workers = self.workers.iter().filter(|(_, worker)| worker.partition == partition);
        snapshot.workers = workers.map(|(id, worker)| (id.clone(), worker.clone())).collect();
    }

    fn depths(&self, key: &LaneId) -> Depths {
        let mut depths = Depths::new();
        for place in LanePlace::ALL {
            let index = place.index(key.clone());
            let is_of = |of: &Index| match (place, of) {
                (LanePlace::Waiting, Index::LaneEligible(lane, class)) => lane == key && class.assignee().is_none(),
                (LanePlace::Waiting, Index::LaneKeyed(lane)) => lane == key,
                _ => *of == index,
            };
            let members = self.indexes.iter().filter(|((_, of), _)| is_of(of)).flat_map(|(_, members)| members);
            let since = |(score, id): &(i64, ExecutionId)| match place {
                LanePlace::Waiting => self.executions.get(id).map(|execution| execution.created_at),
                LanePlace::Finished => None,
                _ => Some(TimestampMs(*score)),
            };
            let depth = members.fold(Depth::default(), |all, one| all.with(Depth { count: 1, first_at: since(one) }));
            if depth.count > 0 {
                depths.insert(*place, depth);
            }
        }
        depths
    }
}

fn lane_of(index: &Index) -> Option<&LaneId> {
    match index {
        Index::LaneEligible(lane, _)
        | Index::LaneKeyed(lane)
        | Index::LaneDelayed(lane)
        | Index::LaneActive(lane)
        | Index::LaneSuspended(lane)
        | Index::LaneTerminal(lane)
        | Index::LaneBlocked(lane, _) => Some(lane),
        _ => None,
    }
}
