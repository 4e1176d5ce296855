//! Reading the settings, counts and queues of lanes on a partition.

use ff_core::contracts::{Depth, Depths, LanePlace, ListQueueArgs, QueueState, QueuedExecution};
use ff_core::lane::Lane;
use ff_core::types::{LaneId, LeaseEpoch, TimestampMs};

use crate::execution::index_keys;
use crate::record::{Hash, lane};
use crate::server::ask;
use crate::signature::{CountLanes, ListQueue, ReadLanes};
use crate::{Fields, ScriptError, Server};

/// A lane on a partition: its configuration and counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneFields {
    /// The configuration, if there is one.
    pub lane: Option<Lane>,
    /// Only the places that are not empty.
    pub depths: Depths,
}

/// The places in the order of the function's answer.
const PLACES: [LanePlace; 10] = [
    LanePlace::Waiting,
    LanePlace::Delayed,
    LanePlace::Active,
    LanePlace::Suspended,
    LanePlace::WaitingChildren,
    LanePlace::BlockedByRoute,
    LanePlace::BlockedByQuota,
    LanePlace::BlockedByBudget,
    LanePlace::BlockedByOperator,
    LanePlace::Finished,
];

/// Reads lanes of a partition, by their names in indexes.
pub async fn ff_read_lanes(
    server: &dyn Server,
    partition: u16,
    wanted: &[LaneId],
) -> Result<Vec<LaneFields>, ScriptError> {
    let read = ReadLanes {
        lanes: index_keys(partition).lanes(),
        wanted: wanted.iter().map(|lane| lane.to_string().into()).collect(),
    };
    let mut fields = ask(server, read.call()).await?;
    let mut names = wanted.iter();
    let lanes = fields.rows(|row| names.next().map(|name| LaneFields::read(name, row)).transpose())?;
    Ok(lanes.into_iter().flatten().collect())
}

/// Counts and settings of lanes on a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedLanes {
    /// The depths of each wanted lane, only the places that are not empty.
    pub depths: Vec<Depths>,
    /// The configured lanes among those whose home it is.
    pub configured: Vec<Lane>,
}

/// Counts the executions of the `wanted` lanes on a partition, and reads the settings of the `homed` lanes, whose home
/// it is. Lanes have their names in indexes. Finished executions are counted only on request.
pub async fn ff_count_lanes(
    server: &dyn Server,
    partition: u16,
    wanted: &[LaneId],
    homed: &[LaneId],
    finished: bool,
) -> Result<CountedLanes, ScriptError> {
    let names = |lanes: &[LaneId]| lanes.iter().map(|lane| lane.to_string().into()).collect();
    let lanes = index_keys(partition).lanes();
    let mut fields =
        ask(server, CountLanes { lanes, wanted: names(wanted), homed: names(homed), finished }.call()).await?;
    let mut settings = fields.nested()?;
    let mut configured = Vec::new();
    for name in homed {
        configured.extend(lane(name, &Hash::parse(settings.list()?)?)?);
    }
    let mut row = fields.nested()?;
    let mut depths = vec![Depths::new(); wanted.len()];
    while !row.is_empty() {
        let (nth_lane, nth_place): (usize, usize) = (row.read()?, row.read()?);
        let depth = Depth { count: row.read()?, first_at: row.maybe_read()?.map(TimestampMs) };
        let of = nth_lane.checked_sub(1).and_then(|nth| depths.get_mut(nth));
        let place = nth_place.checked_sub(1).and_then(|nth| PLACES.get(nth));
        let (Some(of), Some(place)) = (of, place) else {
            return Err(ScriptError::parse("ff_count_lanes counted what it was not asked for"));
        };
        let known = of.entry(*place).or_default();
        *known = known.with(depth);
    }
    Ok(CountedLanes { depths, configured })
}

impl LaneFields {
    fn read(name: &LaneId, row: &mut Fields) -> Result<Self, ScriptError> {
        let lane = lane(name, &Hash::parse(row.list()?)?)?;
        let mut depths = Depths::new();
        for place in PLACES {
            let (count, first_at) = (row.read()?, row.maybe_read()?.map(TimestampMs));
            // Finished executions have no age.
            let first_at = first_at.filter(|_| place != LanePlace::Finished);
            if count > 0 {
                depths.insert(place, Depth { count, first_at });
            }
        }
        let mut classed = row.nested()?;
        while !classed.is_empty() {
            let depth = Depth { count: classed.read()?, first_at: classed.maybe_read()?.map(TimestampMs) };
            if depth.count > 0 {
                let known = depths.entry(LanePlace::Waiting).or_default();
                *known = known.with(depth);
            }
        }
        Ok(Self { lane, depths })
    }
}

/// Lists the first executions of a queue.
pub async fn ff_list_queue(server: &dyn Server, args: &ListQueueArgs) -> Result<Vec<QueuedExecution>, ScriptError> {
    let keys = index_keys(args.partition);
    let ready = (args.state == QueueState::Ready).then_some(&args.queue);
    let list = ListQueue {
        queue: args.index().key(&keys),
        most: args.limit as u64,
        lane: ready.map(|queue| queue.lane.to_string()),
        kind: ready.map(|queue| queue.kind.to_string()),
        class: ready.filter(|queue| !queue.class.is_plain()).map(|queue| queue.class.to_string()),
    };
    let mut fields = ask(server, list.call()).await?;
    fields.items(|row| Ok(QueuedExecution { execution_id: row.read()?, lease_epoch: LeaseEpoch(row.read()?) }))
}
