//! Searches for executions: a bounded walk of one index from the newest execution, compared with the filter.

use ff_core::contracts::{Cursor, Filter, ListArgs};
use ff_core::limits;
use ff_core::types::{ExecutionId, TimestampMs};
use uuid::Uuid;

use super::{STAGED, key_of_tag_row, reason_as_tag, state_as_tag};
use crate::error::SqlError;
use crate::queries::{WALK_LANE, WALK_NAMESPACE, WALK_TAG};
use crate::session::Read;
use crate::table::schema::TAG;
use crate::table::value::{Row, Value};

/// Maximum number of index rows that a search reads at once after its first read.
const AT_ONCE: usize = 2_000;

/// The matches of a walk, and its progress.
#[derive(Default)]
pub(super) struct SearchProgress {
    /// Places of the matches, newest first.
    pub(super) places: Vec<Cursor>,
    /// The place the walk has reached; none when it has seen everything.
    pub(super) horizon: Option<Cursor>,
}

/// Finds the matches of one page and one more. Stops after a bounded number of executions.
pub(super) async fn search(reader: &mut dyn Read, args: &ListArgs) -> Result<SearchProgress, SqlError> {
    let filter = &args.filter;
    let (sql, index) = index(filter);
    let from = filter.created_from.unwrap_or(TimestampMs(i64::MIN));
    let (mut place, mut looked, mut places) = (start(args), 0, Vec::new());
    let mut at_once = args.limit + 1;
    loop {
        let at =
            [place.created_at.into(), place.execution_id.partition().into(), Value::Uuid(place.execution_id.uuid())];
        let parameters = [&index[..], &at, &[from.into(), Value::number(at_once)]].concat();
        let rows: Vec<_> = reader.query(sql, &[parameters]).await?.into_iter().flatten().collect();
        places.extend(matching(reader, filter, &rows).await?);
        place = rows.last().map(self::place).transpose()?.unwrap_or(place);
        looked += rows.len();
        if rows.len() < at_once {
            return Ok(SearchProgress { places, horizon: None });
        }
        if places.len() > args.limit || looked >= limits::SEARCH {
            return Ok(SearchProgress { places, horizon: Some(place) });
        }
        // If few rows match, the next read is larger.
        at_once = (at_once * 4).min(AT_ONCE);
    }
}

/// Returns the index to walk: that of a blocking reason, of a tag, of a state that is stored as a tag, of a lane, or of a
/// namespace.
fn index(filter: &Filter) -> (&'static str, Vec<Value>) {
    let namespace = || Value::from(filter.namespace.as_str());
    let tag = filter.tags.first_key_value().map(|(key, value)| (key.as_str(), value.as_str()));
    let reason = filter.blocking_reason.and_then(reason_as_tag);
    match (reason.or(tag).or_else(|| state_as_tag(filter.state?)), &filter.lane) {
        (Some((key, value)), _) => (WALK_TAG, vec![namespace(), key.into(), value.into()]),
        (None, Some(lane)) => (WALK_LANE, vec![lane.within(&filter.namespace).as_str().into()]),
        (None, None) => (WALK_NAMESPACE, vec![namespace()]),
    }
}

/// Returns where a walk begins: after the last page, and before the filter's latest time.
fn start(args: &ListArgs) -> Cursor {
    let before = |created_at| Cursor { created_at, execution_id: ExecutionId::new(0, Uuid::nil()) };
    // No execution is newer than this.
    let newest = Cursor { created_at: TimestampMs(i64::MAX), execution_id: ExecutionId::new(u16::MAX, Uuid::max()) };
    let until = args.filter.created_until.map_or(newest, before);
    args.after.map_or(until, |after| after.min(until))
}

/// Returns the places of the rows that match the whole filter.
async fn matching(reader: &mut dyn Read, filter: &Filter, rows: &[Row]) -> Result<Vec<Cursor>, SqlError> {
    let lane = filter.lane.as_ref().map(|lane| lane.within(&filter.namespace));
    let mut places = Vec::new();
    for row in rows {
        let fits = row.text(4).is_ok_and(|state| state != STAGED)
            && lane.as_ref().is_none_or(|lane| row.text(3).is_ok_and(|text| text == lane.as_str()))
            && filter.state.is_none_or(|state| row.text(4).is_ok_and(|text| text == state.as_str()))
            && filter.kind.as_ref().is_none_or(|kind| row.text(5).is_ok_and(|text| text == kind.as_str()));
        if fits {
            places.push(place(row)?);
        }
    }
    // The walk has already compared the first tag, unless it walks a blocking reason.
    for (key, value) in filter.tags.iter().skip(usize::from(filter.blocking_reason.is_none())) {
        if places.is_empty() {
            break;
        }
        let keys: Vec<_> = places
            .iter()
            .map(|place| key_of_tag_row(&filter.namespace, (key.as_str(), value.as_str()), *place))
            .collect();
        let tagged = reader.load(&TAG, TAG.named(&["partition"]), &keys).await?;
        let both = places.into_iter().zip(tagged);
        places = both.filter_map(|(place, row)| row.map(|_| place)).collect();
    }
    Ok(places)
}

fn place(row: &Row) -> Result<Cursor, SqlError> {
    Ok(Cursor { created_at: row.moment(0)?, execution_id: row.id(2, row.partition(1)?)? })
}
