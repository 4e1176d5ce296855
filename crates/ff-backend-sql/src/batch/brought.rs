//! What a batch's claims bring along: payloads, signals, and the results that others passed on. What the batch itself has
//! changed of them is noted when the claim is decided, for it may change again after; what is stored is read for all
//! claims together, in the same transaction.

use std::collections::HashMap;

use ff_core::backend::Answer;
use ff_core::change::Write;
use ff_core::contracts::{Claimed, Claims, GrantedClaim, GrantedClaims, Input, Taken, Task};
use ff_core::engine_error::EngineError;
use ff_core::limits;
use ff_core::operation::{Operation, Reply};
use ff_core::payload::Payload;
use ff_core::types::ExecutionId;
use ff_core::view::{EdgesOf, View};

use super::TakenUp;
use super::signals::Handed;
use crate::desk::{Desk, all_into};
use crate::error::SqlError;
use crate::execution::read_body;
use crate::schema::{PAYLOAD, RESULT};
use crate::session::{Load, Read, key_of};
use crate::table::Table;

/// What a claimed execution is to bring along, as far as the batch knows it.
pub(super) struct Promised {
    payload: Source,
    inputs: Vec<Input>,
    /// Whose stored results are to be put in their places among the inputs.
    awaited: Vec<ExecutionId>,
}

/// Where a payload comes from.
enum Source {
    Batch(Payload),
    Stored,
    ResultOf(ExecutionId),
}

/// What the executions of a reply are to bring along. The edges into those that were given inputs are on the desk.
pub(super) fn promised(desk: &Desk, reply: &Reply) -> Vec<Promised> {
    tasks(reply).iter().map(|task| promise(desk, task)).collect()
}

/// The edges that brought the executions of a reply their inputs.
pub(super) fn edges_of_inputs(reply: &Reply) -> impl Iterator<Item = EdgesOf> {
    tasks(reply).iter().filter_map(edges_into)
}

fn edges_into(task: &Task) -> Option<EdgesOf> {
    let flow = task.flow.as_ref().filter(|flow| flow.inputs > 0)?;
    Some(all_into(flow.flow_id, task.execution_id))
}

fn promise(desk: &Desk, task: &Task) -> Promised {
    let payload = match desk.beside.payloads.get(&task.execution_id) {
        Some(Write::Put(payload)) => Source::Batch(payload.clone()),
        Some(Write::ResultOf(other)) => Source::ResultOf(*other),
        Some(Write::Keep | Write::Remove) | None => Source::Stored,
    };
    let edges = edges_into(task).and_then(|query| Some((query.flow, desk.edges(&query).ok()?)));
    let edges = edges.into_iter().flat_map(|(flow, ids)| ids.into_iter().map(move |id| (flow, id)));
    let edges: Vec<_> = edges.filter_map(|(flow, id)| desk.edge(&flow, &id).ok().flatten()).collect();
    let mut awaited = Vec::new();
    let inputs = Input::handed(edges, |upstream| match desk.beside.results.get(upstream) {
        Some(Write::Put(result)) => Some(result.clone()),
        Some(_) => None,
        None => {
            awaited.push(*upstream);
            None
        }
    });
    Promised { payload, inputs, awaited }
}

/// The payloads a claim is going to bring along, when what waits for it is known and something else is still missed. Claims
/// in company find out what each of them gets when it is decided.
pub(super) fn payloads_ahead(desk: &Desk, batch: &[TakenUp]) -> Option<Load> {
    let [TakenUp { operation: Operation::Claim(args), .. }] = batch else { return None };
    let first = desk.waiting(args).take(args.max.min(limits::CLAIM_AT_ONCE));
    let keys: Vec<_> = first.filter(|id| !desk.small_payloads.contains_key(id)).map(key_of).collect();
    (!keys.is_empty()).then(|| Load::Rows(&PAYLOAD, PAYLOAD.all(), keys))
}

/// Gives every claim what it is to bring along, with one query per table for all that is stored.
pub(super) async fn attach(
    reader: &mut dyn Read,
    desk: &Desk,
    replies: Vec<Answer<(Reply, Vec<Promised>)>>,
) -> Result<Vec<Answer<Reply>>, SqlError> {
    let (mut own, mut others, mut at_hand) = (Vec::new(), Vec::new(), Vec::new());
    for (reply, promised) in replies.iter().flatten() {
        for (task, promised) in tasks(reply).iter().zip(promised) {
            match &promised.payload {
                Source::Batch(_) => {}
                Source::Stored => match desk.small_payloads.get(&task.execution_id) {
                    Some(payload) => at_hand.push((task.execution_id, payload.clone())),
                    None => own.push(task.execution_id),
                },
                Source::ResultOf(other) => others.push(*other),
            }
            others.extend(&promised.awaited);
        }
    }
    let mut payloads = bodies(reader, &PAYLOAD, own).await?;
    payloads.extend(at_hand);
    let found = Found {
        payloads,
        results: bodies(reader, &RESULT, others).await?,
        signals: Handed::find(reader, desk, replies.iter().flatten().flat_map(|(reply, _)| tasks(reply))).await?,
    };
    Ok(replies.into_iter().map(|reply| reply.and_then(|(reply, promised)| found.complete(reply, promised))).collect())
}

/// The payloads or results that are stored under these ids.
pub(super) async fn bodies(
    reader: &mut dyn Read,
    table: &'static Table,
    ids: Vec<ExecutionId>,
) -> Result<HashMap<ExecutionId, Payload>, SqlError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = reader.load(table, table.all(), &ids.iter().map(key_of).collect::<Vec<_>>()).await?;
    let found = ids.into_iter().zip(rows).filter_map(|(id, row)| Some((id, row?)));
    found.map(|(id, row)| Ok((id, read_body(&row)?))).collect()
}

/// What was stored of what claims bring along.
struct Found {
    payloads: HashMap<ExecutionId, Payload>,
    results: HashMap<ExecutionId, Payload>,
    signals: Handed,
}

impl Found {
    /// The reply with what its claims bring along.
    fn complete(&self, reply: Reply, promised: Vec<Promised>) -> Answer<Reply> {
        Ok(match reply {
            Reply::Taken(taken) => Reply::Claimed(self.claims(taken, promised)?),
            Reply::ClaimGranted(GrantedClaim { taken, count }) => {
                Reply::GrantClaimed(GrantedClaims { claims: self.claims(taken, promised)?, count })
            }
            complete => complete,
        })
    }

    fn claims(&self, taken: Taken, promised: Vec<Promised>) -> Answer<Claims> {
        let claimed = taken.tasks.into_iter().zip(promised).map(|(task, promised)| self.claimed(task, promised));
        Ok(Claims { claimed: claimed.collect::<Answer<_>>()?, next: taken.next, limited: taken.limited })
    }

    fn claimed(&self, task: Task, promised: Promised) -> Answer<Claimed> {
        let id = task.execution_id;
        let payload = match promised.payload {
            Source::Batch(payload) => Some(payload),
            Source::Stored => self.payloads.get(&id).cloned(),
            Source::ResultOf(other) => self.results.get(&other).cloned(),
        };
        let payload = payload.ok_or_else(|| EngineError::Corrupt(format!("{id} has lost its payload")))?;
        let mut inputs = promised.inputs;
        for input in inputs.iter_mut().filter(|input| promised.awaited.contains(&input.from)) {
            input.payload = self.results.get(&input.from).cloned();
        }
        Ok(Claimed { payload, signals: self.signals.to(&task)?, inputs, task })
    }
}

fn tasks(reply: &Reply) -> &[Task] {
    match reply {
        Reply::Taken(taken) => &taken.tasks,
        Reply::ClaimGranted(granted) => &granted.taken.tasks,
        _ => &[],
    }
}
