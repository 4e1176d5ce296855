//! Listing executions, newest first.

use std::cmp::Reverse;

use ff_core::backend::Answer;
use ff_core::contracts::{Cursor, ListArgs, Page};
use ff_core::execution::Execution;
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, TimestampMs};
use uuid::Uuid;

use crate::error::SqlError;
use crate::queries::{LIST_BY_LANE, LIST_BY_NAMESPACE};
use crate::record;
use crate::session::{Question, Read};
use crate::value::{Row, Value};

/// One page of executions.
///
/// The indexes are by state. A list of every state is merged from one short list of each, which costs a reader a few
/// lookups and spares every write an index of its own.
pub struct List(pub ListArgs);

impl Question for List {
    type Answer = Page;

    async fn ask<R: Read>(self, reader: &mut R) -> Answer<Page> {
        let args = self.0;
        args.check()?;
        let (sql, within) = match &args.lane {
            Some(lane) => (LIST_BY_LANE, lane.within(&args.namespace).as_str().into()),
            None => (LIST_BY_NAMESPACE, args.namespace.as_str().into()),
        };
        let lists = reader.query(sql, &parameters(&within, &args)).await?;
        Ok(page(lists.into_iter().flatten(), args.limit)?)
    }
}

/// One set of parameters per state asked for. One row more than a page tells whether another page follows.
fn parameters(within: &Value, args: &ListArgs) -> Vec<Vec<Value>> {
    let states = args.state.as_ref().map_or(PublicState::ALL, std::slice::from_ref);
    // No execution is newer than this.
    let start = || Cursor { created_at: TimestampMs(i64::MAX), execution_id: ExecutionId::new(u16::MAX, Uuid::max()) };
    let after = args.after.unwrap_or_else(start);
    let limit = i64::try_from(args.limit + 1).unwrap_or(i64::MAX);
    let of = |state: &PublicState| {
        vec![
            within.clone(),
            state.as_str().into(),
            after.created_at.into(),
            after.execution_id.partition().into(),
            Value::Uuid(after.execution_id.uuid()),
            limit.into(),
        ]
    };
    states.iter().map(of).collect()
}

fn page(rows: impl Iterator<Item = Row>, limit: usize) -> Result<Page, SqlError> {
    let mut rows = rows.map(|row| Ok((place(&row)?, row))).collect::<Result<Vec<_>, SqlError>>()?;
    rows.sort_unstable_by_key(|(place, _)| Reverse(*place));
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|(place, _)| *place);
    let info = |row: &Row| Ok(record::read::<Execution>(row.text(3)?)?.info());
    Ok(Page { executions: rows.iter().map(|(_, row)| info(row)).collect::<Result<_, SqlError>>()?, next })
}

fn place(row: &Row) -> Result<Cursor, SqlError> {
    Ok(Cursor { created_at: row.moment(0)?, execution_id: row.id(2, row.partition(1)?)? })
}
