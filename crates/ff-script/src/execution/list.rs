//! Listing the executions of a partition, newest first.

use ff_core::contracts::Cursor;
use ff_core::keys::IndexKeys;
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, LaneId, Namespace, TimestampMs};

use crate::server::ask;
use crate::signature::ListExecutions;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Which executions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub namespace: Namespace,
    pub lane: Option<LaneId>,
    pub state: Option<PublicState>,
}

/// Where to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// With the newest.
    Anything,
    /// With those created before a moment.
    Moment(TimestampMs),
    /// With those created before this one, or in the same moment with a smaller id.
    Execution(Cursor),
}

/// A part of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    pub found: Vec<Cursor>,
    /// Where to go on, when there may be more.
    pub more: Option<Cursor>,
}

/// Executions of a partition, newest first, at most so many. Looks at a bounded number of them.
pub async fn ff_list_executions(
    server: &dyn Server,
    partition: u16,
    wanted: &Wanted,
    before: Before,
    limit: usize,
) -> Result<Listed, ScriptError> {
    let (moment, id) = match before {
        Before::Anything => (None, None),
        Before::Moment(at) => (Some(at), None),
        Before::Execution(cursor) => (Some(cursor.created_at), Some(cursor.execution_id)),
    };
    let list = ListExecutions {
        all_executions: IndexKeys::new(&Partition::new(PartitionFamily::Execution, partition)).all_executions(),
        namespace: wanted.namespace.to_string(),
        lane_id: wanted.lane.as_ref().map(ToString::to_string),
        state: wanted.state.map(|state| state.to_string()),
        before: moment.map(|at| u64::try_from(at.0).unwrap_or_default()),
        before_id: id.map(|id| id.to_string()),
        limit: limit as u64,
    };
    ask(server, list.call()).await
}

impl FromFcallResult for Listed {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let more = fields.maybe_text()?.is_some();
        let last = (fields.maybe_read()?.map(TimestampMs), fields.maybe_read::<ExecutionId>()?);
        let mut rows = fields.nested()?;
        let mut found = Vec::new();
        while !rows.is_empty() {
            let execution_id = rows.read()?;
            found.push(Cursor { created_at: TimestampMs(rows.read()?), execution_id });
        }
        let more = match last {
            (Some(created_at), Some(execution_id)) if more => Some(Cursor { created_at, execution_id }),
            _ => None,
        };
        Ok(Self { found, more })
    }
}
