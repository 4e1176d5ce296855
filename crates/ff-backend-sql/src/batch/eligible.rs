//! Loading what waits, in the order it is to be claimed: by priority and then by age, or as its lane weighs them.

use ff_core::execution::Execution;
use ff_core::limits;
use ff_core::types::{Kind, Priority};

use super::misses::read_record;
use crate::batch_state::{BatchState, ClaimFilter, IndexPrefix};
use crate::error::{SqlError, unreadable};
use crate::execution::read_body_at;
use crate::queries::{
    WAITING, WAITING_AT, WAITING_AT_OF_KIND, WAITING_OF_KIND, WAITING_PRIORITIES, WAITING_PRIORITIES_OF_KIND,
};
use crate::session::Read;
use crate::value::{Row, Value};

/// Where a row of what waits has the record of its flow, and its payload.
const FLOW: usize = 4;
const BODY: usize = 5;

/// Loads the first of what each wants, and as many of them as it says.
pub(super) async fn load_waiting(
    reader: &mut dyn Read,
    state: &mut BatchState,
    lists: Vec<(ClaimFilter, usize)>,
) -> Result<(), SqlError> {
    let (weighed, plain): (Vec<_>, Vec<_>) = lists.into_iter().partition(|(wanted, _)| wanted.ageing_ms.is_some());
    let (any, named): (Vec<_>, Vec<_>) = plain.into_iter().partition(|(wanted, _)| wanted.kinds.is_empty());
    load_plain(reader, state, any, WAITING).await?;
    load_plain(reader, state, named, WAITING_OF_KIND).await?;
    for (wanted, limit) in weighed {
        load_weighed(reader, state, wanted, limit).await?;
    }
    Ok(())
}

async fn load_plain(
    reader: &mut dyn Read,
    state: &mut BatchState,
    lists: Vec<(ClaimFilter, usize)>,
    sql: &'static str,
) -> Result<(), SqlError> {
    if lists.is_empty() {
        return Ok(());
    }
    let of = |(wanted, limit): &(ClaimFilter, usize)| each_queue(wanted, &[Value::number(*limit)]);
    let parameters: Vec<_> = lists.iter().flat_map(of).collect();
    let mut found = reader.query(sql, &parameters).await?.into_iter();
    for (wanted, limit) in lists {
        let queues = wanted.kinds.len().max(1);
        let rows: Vec<_> = found.by_ref().take(queues).flatten().collect();
        lay(state, wanted, limit, rows)?;
    }
    Ok(())
}

/// Where a wait makes up for priority, the first of each priority may be the first of all. Within one priority the older
/// goes first whatever a wait weighs.
async fn load_weighed(
    reader: &mut dyn Read,
    state: &mut BatchState,
    wanted: ClaimFilter,
    limit: usize,
) -> Result<(), SqlError> {
    let of_kinds = !wanted.kinds.is_empty();
    let priorities = if of_kinds { WAITING_PRIORITIES_OF_KIND } else { WAITING_PRIORITIES };
    let queues = each_queue(&wanted, &[Value::number(limits::AGEING_PRIORITIES)]);
    let found = reader.query(priorities, &queues).await?;
    let mut parameters = Vec::new();
    for (queue, rows) in each_queue(&wanted, &[]).into_iter().zip(&found) {
        for row in rows {
            parameters.push([queue.clone(), vec![row.int(0)?.into(), Value::number(limit)]].concat());
        }
    }
    let rows = match parameters.is_empty() {
        true => Vec::new(),
        false => reader.query(if of_kinds { WAITING_AT_OF_KIND } else { WAITING_AT }, &parameters).await?,
    };
    lay(state, wanted, limit, rows.into_iter().flatten().collect())
}

/// One set of parameters per kind wanted, or one for any.
fn each_queue(wanted: &ClaimFilter, rest: &[Value]) -> Vec<Vec<Value>> {
    let lane = || vec![wanted.partition.into(), wanted.lane.as_str().into()];
    let of = |kind: Option<&Kind>| [lane(), kind.map(|kind| kind.as_str().into()).into_iter().collect(), rest.to_vec()];
    if wanted.kinds.is_empty() {
        return vec![of(None).concat()];
    }
    wanted.kinds.iter().map(|kind| of(Some(kind)).concat()).collect()
}

fn lay(state: &mut BatchState, wanted: ClaimFilter, limit: usize, rows: Vec<Row>) -> Result<(), SqlError> {
    let mut members = Vec::with_capacity(rows.len());
    for row in &rows {
        let id = row.id(0, wanted.partition)?;
        let priority = Priority::new(row.int(1)?).map_err(unreadable("a priority"))?;
        members.push((wanted.score(priority, row.moment(2)?), id));
        let stored: Result<Execution, _> = read_record(row, 3);
        if let Ok(execution) = &stored
            && let Some(membership) = &execution.membership
            && !row.is_null(FLOW)
        {
            state.flows.flows.lay(membership.flow_id, read_record(row, FLOW).map(Some));
        }
        // One that cannot be read is none of those, and who is handed its execution finds out.
        state.small_payloads.extend(read_body_at(row, BODY).ok().map(|payload| (id, payload)));
        state.lay(id, stored.map(Some));
    }
    state.lay_waiting(wanted, IndexPrefix::new(members, limit));
    Ok(())
}
