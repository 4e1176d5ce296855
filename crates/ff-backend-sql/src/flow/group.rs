//! The row of a group. It has no record: its columns say everything.

use ff_core::flow::{Group, Join};
use ff_core::types::{ExecutionId, FlowId};
use serde::{Deserialize, Serialize};

use crate::error::{SqlError, unreadable};
use crate::record;
use crate::session::{Put, key_of};
use crate::value::{Row, Value};

/// The column `joined_by`: what is fixed by the edges themselves and not by how they stand.
#[derive(Serialize, Deserialize)]
struct JoinColumn {
    #[serde(flatten)]
    join: Join,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    passes_payload: bool,
}

/// The row that makes `after` of `before`.
pub(crate) fn group_put(before: Option<&Group>, after: &Group) -> Result<Put, SqlError> {
    Ok(Put::over(before.map(row).transpose()?, row(after)?))
}

fn row(group: &Group) -> Result<Vec<Value>, SqlError> {
    let mut values = key_of(&group.downstream_execution_id);
    values.extend([
        Value::Uuid(*group.flow_id.as_uuid()),
        record::written(&JoinColumn { join: group.join, passes_payload: group.passes_payload })?,
        Value::number(group.n),
        Value::number(group.succeeded),
        Value::number(group.failed),
        Value::number(group.skipped),
        group.state.as_str().into(),
        group.fired_at.into(),
        Value::number(group.round),
    ]);
    Ok(values)
}

/// The group of an execution from the columns that begin at a place in a row, its flow first.
pub(crate) fn read_group(downstream: ExecutionId, row: &Row, from: usize) -> Result<Group, SqlError> {
    let JoinColumn { join, passes_payload } = record::read(row.text(from + 1)?)?;
    Ok(Group {
        flow_id: FlowId::from_uuid(row.uuid(from)?),
        downstream_execution_id: downstream,
        join,
        n: row.count(from + 2)?,
        succeeded: row.count(from + 3)?,
        failed: row.count(from + 4)?,
        skipped: row.count(from + 5)?,
        state: row.text(from + 6)?.parse().map_err(unreadable("the state of a group"))?,
        fired_at: if row.is_null(from + 7) { None } else { Some(row.moment(from + 7)?) },
        round: row.count(from + 8)?,
        passes_payload,
    })
}

/// The group that comes with something else; none where its columns are empty.
pub(crate) fn group_beside(downstream: ExecutionId, row: &Row, from: usize) -> Result<Option<Group>, SqlError> {
    if row.is_null(from) { Ok(None) } else { read_group(downstream, row, from).map(Some) }
}
