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

/// Which executions, and the index that has them all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListQuery {
    pub filter: Filter,
    pub index: Index,
}

impl ListQuery {
    /// What a filter means, from the index that has as little else as any.
    pub fn by(filter: &Filter) -> Self {
        Self { filter: filter.clone(), index: filter.index() }
    }
}

/// Where to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListStart {
    /// With the newest.
    Anything,
    /// With those created before a moment.
    Moment(TimestampMs),
    /// With those created before this one, or in the same moment with a smaller id.
    Execution(Cursor),
}

/// A part of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListPage {
    pub rows: Vec<Cursor>,
    /// How many were looked at.
    pub looked: usize,
    /// Where to go on, when there may be more.
    pub more: Option<Cursor>,
}

/// Executions of a partition, newest first, at most so many. Looks at no more than `most` of them, and at a bounded number
/// in any case.
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
    // Properties that every member of the index has are not checked.
    let state = state.filter(|_| !matches!(wanted.index, Index::InState(..)));
    let walked_label = usize::from(matches!(wanted.index, Index::Tag(..)));
    let labels = tags.iter().skip(walked_label);
    let list = ListExecutions {
        walked: wanted.index.key(&IndexKeys::new(&Partition::new(PartitionFamily::Execution, partition))),
        namespace: (wanted.index == Index::AllExecutions).then(|| namespace.to_string()),
        lane_id: lane.as_ref().map(ToString::to_string),
        state: state.map(|state| state.to_string()),
        kind: kind.as_ref().map(ToString::to_string),
        tags: labels.flat_map(|(key, value)| [key.to_string().into(), value.to_string().into()]).collect(),
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
