//! Listing the executions of a partition, newest first.

use ff_core::contracts::{Cursor, Filter};
use ff_core::rule::index::Index;
use ff_core::types::TimestampMs;

use super::{index_keys, moment, tag_items};
use crate::server::ask;
use crate::signature::ListExecutions;
use crate::{ScriptError, Server};

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
    filter: &Filter,
    before: ListStart,
    (limit, most): (usize, usize),
) -> Result<ListPage, ScriptError> {
    let (before, id) = match before {
        ListStart::Anything => (None, None),
        ListStart::Moment(at) => (Some(at), None),
        ListStart::Execution(cursor) => (Some(cursor.created_at), Some(cursor.execution_id)),
    };
    let Filter { namespace, lane, state, kind, tags, created_from, .. } = filter;
    // The index that has every match, and the fewest other entries.
    let index = filter.index();
    // The function does not check properties that every entry of the index has.
    let state = state.filter(|_| !matches!(index, Index::InState(..)));
    let walked_tags = usize::from(matches!(index, Index::Tag(..)));
    let other_tags = tags.iter().skip(walked_tags);
    let list = ListExecutions {
        walked: index.key(&index_keys(partition)),
        namespace: (index == Index::AllExecutions).then(|| namespace.to_string()),
        lane_id: lane.as_ref().map(ToString::to_string),
        state: state.map(|state| state.to_string()),
        kind: kind.as_ref().map(ToString::to_string),
        tags: tag_items(other_tags),
        from: created_from.map(moment),
        before: before.map(moment),
        before_id: id.map(|id| id.to_string()),
        limit: limit as u64,
        most: most as u64,
    };
    let mut fields = ask(server, list.call()).await?;
    let more = fields.maybe_text()?.is_some();
    let last = fields.maybe_read()?.map(TimestampMs).zip(fields.maybe_read()?);
    let last = last.map(|(created_at, execution_id)| Cursor { created_at, execution_id });
    let looked = fields.read()?;
    let rows = fields.items(|row| Ok(Cursor { execution_id: row.read()?, created_at: TimestampMs(row.read()?) }))?;
    Ok(ListPage { rows, looked, more: last.filter(|_| more) })
}
