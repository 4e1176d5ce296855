//! Loads of waiting executions, in the order of claims: by priority and then by age, or with ageing if the lane has it.

use ff_core::limits;
use ff_core::types::{Priority, RequirementClass};

use crate::batch_state::{BatchState, ClaimFilter, IndexPrefix};
use crate::error::{SqlError, unreadable};
use crate::execution::{class_word, read_body_at, stored_execution};
use crate::queries::{WAITING, WAITING_AT, WAITING_KINDS, WAITING_PRIORITIES};
use crate::session::Read;
use crate::table::record::read_record;
use crate::table::value::{Row, Value};

/// Columns of a waiting row that begin the flow's record and the payload.
const FLOW: usize = 5;
const BODY: usize = 6;

/// Loads the first executions of each list, as many as its limit says.
pub(super) async fn load_waiting(
    reader: &mut dyn Read,
    state: &mut BatchState,
    lists: Vec<(ClaimFilter, usize)>,
) -> Result<(), SqlError> {
    let queues = queues(reader, &lists).await?;
    let lists = lists.into_iter().zip(queues).map(|((wanted, limit), queues)| WantedList { wanted, limit, queues });
    let (weighed, plain): (Vec<_>, Vec<_>) = lists.partition(|list| list.wanted.ageing_ms.is_some());
    load_plain(reader, state, plain).await?;
    for list in weighed {
        load_weighed(reader, state, list).await?;
    }
    Ok(())
}

/// A list to be loaded.
struct WantedList {
    wanted: ClaimFilter,
    limit: usize,
    /// The parameters of the queues to read, one for each class and kind.
    queues: Vec<Vec<Value>>,
}

impl WantedList {
    /// Returns the parameters of each queue, followed by `rest`.
    fn queues(&self, rest: &[Value]) -> Vec<Vec<Value>> {
        self.queues.iter().map(|queue| [&queue[..], rest].concat()).collect()
    }
}

/// Returns the key prefix of the queues of each class.
fn classes_of(wanted: &ClaimFilter) -> impl Iterator<Item = Vec<Value>> {
    let queue = |class: &RequirementClass| {
        vec![wanted.partition.into(), wanted.lane.as_str().into(), class_word(class, &wanted.key)]
    };
    wanted.classes.iter().map(queue)
}

/// Returns the queues of each list. For a list of any kind, these are the queues that have waiting executions.
async fn queues(reader: &mut dyn Read, lists: &[(ClaimFilter, usize)]) -> Result<Vec<Vec<Vec<Value>>>, SqlError> {
    let any: Vec<_> = lists.iter().filter(|(of, _)| of.kinds.is_empty()).flat_map(|(of, _)| classes_of(of)).collect();
    let mut found = reader.query(WAITING_KINDS, &any).await?.into_iter();
    let mut all = Vec::with_capacity(lists.len());
    for (wanted, _) in lists {
        let mut queues = Vec::new();
        for class in classes_of(wanted) {
            let mut kinds: Vec<Value> = wanted.kinds.iter().map(|kind| kind.as_str().into()).collect();
            if kinds.is_empty() {
                for row in found.next().into_iter().flatten() {
                    kinds.push(row.text(0)?.into());
                }
            }
            queues.extend(kinds.into_iter().map(|kind| [&class[..], &[kind]].concat()));
        }
        all.push(queues);
    }
    Ok(all)
}

async fn load_plain(reader: &mut dyn Read, state: &mut BatchState, lists: Vec<WantedList>) -> Result<(), SqlError> {
    let parameters: Vec<_> = lists.iter().flat_map(|list| list.queues(&[Value::number(list.limit)])).collect();
    let mut found = reader.query(WAITING, &parameters).await?.into_iter();
    for list in lists {
        let rows: Vec<_> = found.by_ref().take(list.queues.len()).flatten().collect();
        lay(state, list.wanted, list.limit, rows)?;
    }
    Ok(())
}

/// Loads a list with ageing. The first execution of each priority may be the first of the list, so each priority is read. Within
/// one priority the oldest is always first.
async fn load_weighed(reader: &mut dyn Read, state: &mut BatchState, list: WantedList) -> Result<(), SqlError> {
    let mut parameters = Vec::new();
    let found = reader.query(WAITING_PRIORITIES, &list.queues(&[Value::number(limits::AGEING_PRIORITIES)])).await?;
    for (queue, rows) in list.queues.iter().zip(&found) {
        for row in rows {
            parameters.push([&queue[..], &[row.int(0)?.into(), Value::number(list.limit)]].concat());
        }
    }
    let rows = reader.query(WAITING_AT, &parameters).await?;
    lay(state, list.wanted, list.limit, rows.into_iter().flatten().collect())
}

fn lay(state: &mut BatchState, wanted: ClaimFilter, limit: usize, rows: Vec<Row>) -> Result<(), SqlError> {
    let mut members = Vec::with_capacity(rows.len());
    for row in &rows {
        let id = row.id(0, wanted.partition)?;
        let priority = Priority::new(row.int(1)?).map_err(unreadable("a priority"))?;
        members.push((wanted.score(priority, row.moment(2)?), id));
        let stored = stored_execution(row, 3);
        if let Ok(Some(execution)) = &stored
            && let Some(membership) = &execution.membership
            && !row.is_null(FLOW)
        {
            state.flows.flows.lay(membership.flow_id, read_record(row, FLOW).map(Some));
        }
        // An unreadable or left-out payload is not kept; the claim that hands out the execution loads it and reports the error.
        state.small_payloads.extend(read_body_at(row, BODY).ok().map(|payload| (id, payload)));
        state.lay(id, stored);
    }
    state.lay_waiting(wanted, IndexPrefix::new(members, limit));
    Ok(())
}
