//! The domain of lanes: their rows and queries.

use std::ops::Range;

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::contracts::{Depth, Depths, LaneInfo, LanePlace, LanesPage, LanesPageBuilder, ListLanesArgs, ListingStep};
use ff_core::execution::Blocker;
use ff_core::lane::Lane;
use ff_core::operation::query::DescribeLane;
use ff_core::partition::{PartitionConfig, lane_partition};
use ff_core::state::PublicState;
use ff_core::types::{LaneId, Namespace};

use crate::ReadContext;
use crate::error::SqlError;
use crate::execution::{lane_of, reason_as_tag, state_as_tag};
use crate::queries::{DEPTH_ACTIVE, DEPTH_COMPLETED, DEPTH_IN_STATE, DEPTH_READY, NEXT_CONFIGURED_LANE, NEXT_LANE};
use crate::session::{Key, Put, Question, Read, load_record};
use crate::table::schema::LANE;
use crate::table::value::{Row, Value};

/// Returns the key of a lane's row. The lane has the name it has in indexes.
pub(crate) fn key_of_lane(lane: &LaneId, partition: u16) -> Key {
    vec![lane.as_str().into(), partition.into()]
}

/// Returns the row of a lane's record.
pub(crate) fn lane_of_record(partition: u16, lane: &Lane) -> Result<Put, SqlError> {
    Put::record(key_of_lane(&lane.key(), partition), lane)
}

#[async_trait]
impl Question for DescribeLane {
    type Answer = LaneInfo;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<LaneInfo> {
        Ok(describe(reader, self.lane.within(&self.namespace), &at.partitions, Counting::ALL).await?.0)
    }
}

#[async_trait]
impl Question for ListLanesArgs {
    type Answer = LanesPage;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<LanesPage> {
        let mut fill = LanesPageBuilder::of(&self);
        let mut after = self.begin();
        let counting = Counting { finished: self.finished, ..Counting::ALL };
        while !fill.is_full()
            && let Some(key) = next_lane(reader, &after).await?
        {
            match self.meets(&key) {
                ListingStep::Listed => after = key.to_string(),
                ListingStep::Skip(to) => {
                    after = to;
                    continue;
                }
                ListingStep::End => break,
            }
            // Staged executions are not visible and not counted, so a lane may have no depth.
            let (info, is_configured) = describe(reader, key, &at.partitions, counting).await?;
            fill.look(info, is_configured);
        }
        Ok(fill.into_page())
    }
}

/// Returns a lane, and whether it is configured. The lane's home has the newest settings.
pub(crate) async fn describe(
    reader: &mut dyn Read,
    key: LaneId,
    partitions: &PartitionConfig,
    counting: Counting,
) -> Result<(LaneInfo, bool), SqlError> {
    let home = key_of_lane(&key, lane_partition(&key, partitions));
    let known: Option<Lane> = load_record(reader, &LANE, home).await?;
    let (namespace, lane_id) = key.apart();
    let settings = known.as_ref().map(|lane| lane.settings.clone()).unwrap_or_default();
    let depths = depths(reader, (&key, &namespace), partitions, counting).await?;
    Ok((LaneInfo { namespace, lane_id, settings, depths }, known.is_some()))
}

/// Returns the lane after a key, in the order of keys.
async fn next_lane(reader: &mut dyn Read, after: &str) -> Result<Option<LaneId>, SqlError> {
    let mut next: Option<LaneId> = None;
    for sql in [NEXT_LANE, NEXT_CONFIGURED_LANE] {
        for row in reader.query(sql, &[vec![after.into()]]).await?.iter().flatten() {
            let lane = lane_of(row.text(0)?)?;
            next = Some(next.map_or(lane.clone(), |known| known.min(lane)));
        }
    }
    Ok(next)
}

/// The scope of a count of a lane.
#[derive(Clone, Copy)]
pub(crate) struct Counting {
    /// Whether to count finished executions, which may be many.
    pub(crate) finished: bool,
    /// The number of executions in one place at which counting may stop.
    pub(crate) most: u64,
}

impl Counting {
    const ALL: Self = Self { finished: true, most: i64::MAX as u64 };
}

/// Counts the executions of a lane by place.
async fn depths(
    reader: &mut dyn Read,
    (lane, namespace): (&LaneId, &Namespace),
    partitions: &PartitionConfig,
    Counting { finished, most }: Counting,
) -> Result<Depths, SqlError> {
    let lane = || Value::from(lane.as_str());
    let mut depths = Depths::new();
    let waiting = |depths: &Depths| depths.get(&LanePlace::Waiting).map_or(0, |depth| depth.count);
    // A long queue reaches the limit after few partitions.
    for span in growing_spans(partitions.num_flow_partitions, most < Counting::ALL.most) {
        if waiting(&depths) < most {
            let on = |partition: u16| vec![partition.into(), lane(), Value::number(most)];
            count(reader, DEPTH_READY, span.map(|nth| (LanePlace::Waiting, on(nth))), &mut depths).await?;
        }
    }
    let everywhere = 0..partitions.num_flow_partitions;
    let active = everywhere.map(|partition| (LanePlace::Active, vec![partition.into(), lane()]));
    count(reader, DEPTH_ACTIVE, active, &mut depths).await?;
    let tagged = |except: &str, value: &str| {
        vec![lane(), except.into(), namespace.as_str().into(), value.into(), Value::number(most)]
    };
    let in_state = PublicState::ALL.iter().filter(|state| finished || !state.is_terminal());
    let in_state = in_state.filter_map(|state| Some((place_of(*state)?, tagged("", state_as_tag(*state)?.1))));
    let suspended = PublicState::Suspended.as_str();
    let blocked = BLOCKED_PLACES
        .iter()
        .filter_map(|(on, place)| Some((*place, tagged(suspended, reason_as_tag(on.reason())?.1))));
    count(reader, DEPTH_IN_STATE, in_state.chain(blocked), &mut depths).await?;
    let completed = finished.then(|| (LanePlace::Finished, vec![lane()]));
    count(reader, DEPTH_COMPLETED, completed, &mut depths).await?;
    Ok(depths)
}

/// Adds the counts of a query that is run with each set of parameters.
async fn count(
    reader: &mut dyn Read,
    sql: &'static str,
    queries: impl IntoIterator<Item = (LanePlace, Vec<Value>)>,
    depths: &mut Depths,
) -> Result<(), SqlError> {
    let (places, parameters): (Vec<_>, Vec<_>) = queries.into_iter().unzip();
    for (place, row) in places.into_iter().zip(reader.query(sql, &parameters).await?.iter().flatten()) {
        let depth = depth_of(row, place)?;
        if depth.count > 0 {
            let known = depths.entry(place).or_default();
            *known = known.with(depth);
        }
    }
    Ok(())
}

/// Returns the partitions in spans that grow fourfold from four, or as one span.
pub(crate) fn growing_spans(partitions: u16, is_growing: bool) -> impl Iterator<Item = Range<u16>> {
    let mut next = (0_u16, if is_growing { 4 } else { partitions });
    std::iter::from_fn(move || {
        let (from, length) = next;
        let until = from.saturating_add(length).min(partitions);
        next = (until, length.saturating_mul(4));
        (from < partitions).then_some(from..until)
    })
}

fn depth_of(row: &Row, place: LanePlace) -> Result<Depth, SqlError> {
    let has_age = place != LanePlace::Finished && !row.is_null(1);
    let first_at = has_age.then(|| row.moment(1)).transpose()?;
    Ok(Depth { count: row.count(0)?, first_at })
}

/// The places of executions that admission blocks.
const BLOCKED_PLACES: [(Blocker, LanePlace); 5] = [
    (Blocker::Route, LanePlace::BlockedByRoute),
    (Blocker::Quota, LanePlace::BlockedByQuota),
    (Blocker::Budget, LanePlace::BlockedByBudget),
    (Blocker::Operator, LanePlace::BlockedByOperator),
    (Blocker::Assignment, LanePlace::BlockedByRoute),
];

/// Returns the place of executions in a state that is stored as a tag.
fn place_of(state: PublicState) -> Option<LanePlace> {
    match state {
        PublicState::Delayed => Some(LanePlace::Delayed),
        PublicState::Suspended => Some(LanePlace::Suspended),
        PublicState::WaitingChildren => Some(LanePlace::WaitingChildren),
        state => state.is_terminal().then_some(LanePlace::Finished),
    }
}
