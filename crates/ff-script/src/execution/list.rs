//! Listing the executions of a partition, newest first.

use ff_core::contracts::{Cursor, Filter};
use ff_core::index::Index;
use ff_core::keys::IndexKeys;
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::types::{ExecutionId, TimestampMs};

use super::moment;
use crate::server::ask;
use crate::signature::ListExecutions;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// A filter, and an index that contains every execution it matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListQuery {
    pub filter: Filter,
    pub index: Index,
}

impl ListQuery {
    /// Returns the query for a filter, over the index with the fewest other entries.
    pub fn by(filter: &Filter) -> Self {
        Self { filter: filter.clone(), index: filter.index() }
    }
}

/// The place where a listing starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListStart {
    /// The newest execution.
    Anything,
    /// The newest execution created before this time.
    Moment(TimestampMs),
    /// The next execution after this one: created earlier, or at the same time with a smaller id.
    Execution(Cursor),
}

/// A page of the listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListPage {
    pub rows: Vec<Cursor>,
    /// Number of index entries that were looked at.
    pub looked: usize,
    /// The place to continue from, when there may be more.
    pub more: Option<Cursor>,
}

/// Lists at most `limit` executions of a partition, newest first. Looks at no more than `most` entries, and at a
/// bounded number in any case.
pub async fn ff_list_executions(
    server: &dyn Server,
    partition: u16,
    wanted: &ListQuery,
    before: ListStart,
    (limit, most): (usize, usize),
) -> Result<ListPage, ScriptError> {
    let (before, id) = match before {
        ListStart::Anything => (None, None),
        ListStart::Moment(at) => (Some(at), None),
        ListStart::Execution(cursor) => (Some(cursor.created_at), Some(cursor.execution_id)),
    };
    let Filter { namespace, lane, state, kind, tags, created_from, .. } = &wanted.filter;
    // The function does not check properties that every entry of the index has.
    let state = state.filter(|_| !matches!(wanted.index, Index::InState(..)));
    let walked_tags = usize::from(matches!(wanted.index, Index::Tag(..)));
    let other_tags = tags.iter().skip(walked_tags);
    let list = ListExecutions {
        walked: wanted.index.key(&IndexKeys::new(&Partition::new(PartitionFamily::Execution, partition))),
        namespace: (wanted.index == Index::AllExecutions).then(|| namespace.to_string()),
        lane_id: lane.as_ref().map(ToString::to_string),
        state: state.map(|state| state.to_string()),
        kind: kind.as_ref().map(ToString::to_string),
        tags: other_tags.flat_map(|(key, value)| [key.to_string().into(), value.to_string().into()]).collect(),
        from: created_from.map(moment),
        before: before.map(moment),
        before_id: id.map(|id| id.to_string()),
        limit: limit as u64,
        most: most as u64,
    };
    ask(server, list.call()).await
}

impl FromFcallResult for ListPage {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let more = fields.maybe_text()?.is_some();
        let last = (fields.maybe_read()?.map(TimestampMs), fields.maybe_read::<ExecutionId>()?);
        let looked = fields.read()?;
        let mut list = fields.nested()?;
        let mut rows = Vec::new();
        while !list.is_empty() {
            let execution_id = list.read()?;
            rows.push(Cursor { created_at: TimestampMs(list.read()?), execution_id });
        }
        let more = match last {
            (Some(created_at), Some(execution_id)) if more => Some(Cursor { created_at, execution_id }),
            _ => None,
        };
        Ok(Self { rows, looked, more })
    }
}
