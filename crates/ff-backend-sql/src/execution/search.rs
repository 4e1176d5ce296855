//! Walking an index from the newest: how a search finds what a filter means, and where it stops looking.

use ff_core::contracts::{Cursor, Filter, ListArgs};
use ff_core::limits;
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, TimestampMs};
use uuid::Uuid;

use super::key_of_label;
use crate::error::SqlError;
use crate::queries::{WALK_LABEL, WALK_LANE, WALK_NAMESPACE};
use crate::schema::TAG;
use crate::session::Read;
use crate::value::{Row, Value};

/// How much is looked at before it is seen whether that was enough.
const AT_ONCE: usize = 2_000;

/// What walks have found, and how far they came.
#[derive(Default)]
pub(super) struct SearchProgress {
    /// Places of what is meant, in no order.
    pub(super) places: Vec<Cursor>,
    /// Nothing older than this is known; absent when everything was looked at.
    pub(super) horizon: Option<Cursor>,
}

/// Looks for a page and one more, at a bounded number of executions.
///
/// What has a label is walked by its first. Everything else is walked by lane or namespace and state; where no state is
/// named, a walk of each is as good as one of all, and spares every write an index of its own.
pub(super) async fn search(reader: &mut dyn Read, args: &ListArgs) -> Result<SearchProgress, SqlError> {
    let filter = &args.filter;
    let (sql, indexes) = indexes(filter);
    let most = limits::SEARCH / indexes.len();
    let mut found = SearchProgress::default();
    let start = start(args);
    let mut walks: Vec<_> =
        indexes.into_iter().map(|index| Walk { index, place: start, looked: 0, found: 0 }).collect();
    let mut at_once = args.limit + 1;
    while !walks.is_empty() {
        let parameters: Vec<_> = walks.iter().map(|walk| walk.parameters(filter, at_once)).collect();
        let steps = reader.query(sql, &parameters).await?;
        let mut unfinished = Vec::new();
        for (mut walk, rows) in walks.into_iter().zip(steps) {
            let ended = rows.len() < at_once;
            let meant = meant(reader, filter, &rows).await?;
            walk.looked += rows.len();
            walk.found += meant.len();
            found.places.extend(meant);
            walk.place = rows.last().map(place).transpose()?.unwrap_or(walk.place);
            if ended {
                continue;
            }
            if walk.found > args.limit || walk.looked >= most {
                found.horizon = found.horizon.max(Some(walk.place));
            } else {
                unfinished.push(walk);
            }
        }
        walks = unfinished;
        // Where little is meant, much is looked at.
        at_once = (at_once * 4).min(AT_ONCE);
    }
    Ok(found)
}

/// One index, and how far it was walked.
struct Walk {
    index: Vec<Value>,
    place: Cursor,
    looked: usize,
    found: usize,
}

impl Walk {
    fn parameters(&self, filter: &Filter, limit: usize) -> Vec<Value> {
        let (place, from) = (self.place, filter.created_from.unwrap_or(TimestampMs(i64::MIN)));
        let mut parameters = self.index.clone();
        parameters.extend([
            place.created_at.into(),
            place.execution_id.partition().into(),
            Value::Uuid(place.execution_id.uuid()),
            from.into(),
            Value::number(limit),
        ]);
        parameters
    }
}

/// Which indexes are walked, all by the same query.
fn indexes(filter: &Filter) -> (&'static str, Vec<Vec<Value>>) {
    let namespace = || Value::from(filter.namespace.as_str());
    if let Some((key, value)) = filter.tags.first_key_value() {
        return (WALK_LABEL, vec![vec![namespace(), key.as_str().into(), value.as_str().into()]]);
    }
    let (sql, within) = match &filter.lane {
        Some(lane) => (WALK_LANE, lane.within(&filter.namespace).as_str().into()),
        None => (WALK_NAMESPACE, namespace()),
    };
    let states = filter.state.as_ref().map_or(PublicState::ALL, std::slice::from_ref);
    (sql, states.iter().map(|state| vec![within.clone(), state.as_str().into()]).collect())
}

/// Where a walk begins: after the last page, and within the time that is asked for.
fn start(args: &ListArgs) -> Cursor {
    let before = |created_at| Cursor { created_at, execution_id: ExecutionId::new(0, Uuid::nil()) };
    // No execution is newer than this.
    let newest = Cursor { created_at: TimestampMs(i64::MAX), execution_id: ExecutionId::new(u16::MAX, Uuid::max()) };
    let until = args.filter.created_until.map_or(newest, before);
    args.after.map_or(until, |after| after.min(until))
}

/// The places of those that are everything the filter says.
async fn meant(reader: &mut dyn Read, filter: &Filter, rows: &[Row]) -> Result<Vec<Cursor>, SqlError> {
    let lane = filter.lane.as_ref().map(|lane| lane.within(&filter.namespace));
    let mut places = Vec::new();
    for row in rows {
        let fits = lane.as_ref().is_none_or(|lane| row.text(3).is_ok_and(|text| text == lane.as_str()))
            && filter.state.is_none_or(|state| row.text(4).is_ok_and(|text| text == state.as_str()))
            && filter.kind.as_ref().is_none_or(|kind| row.text(5).is_ok_and(|text| text == kind.as_str()));
        if fits {
            places.push(place(row)?);
        }
    }
    for label in filter.tags.iter().skip(1) {
        if places.is_empty() {
            break;
        }
        let keys: Vec<_> = places.iter().map(|place| key_of_label(&filter.namespace, label, *place)).collect();
        let labelled = reader.load(&TAG, TAG.named(&["partition"]), &keys).await?;
        let both = places.into_iter().zip(labelled);
        places = both.filter_map(|(place, row)| row.map(|_| place)).collect();
    }
    Ok(places)
}

fn place(row: &Row) -> Result<Cursor, SqlError> {
    Ok(Cursor { created_at: row.moment(0)?, execution_id: row.id(2, row.partition(1)?)? })
}
