//! Deciding a batch: in order, over what is on the desk, loading what is missed for all at once.

use ff_core::backend::Answer;
use ff_core::engine_error::EngineError;
use ff_core::operation::{Conditions, Decision, Reply};
use ff_core::types::ExecutionId;
use ff_core::view::{EdgesOf, Miss, Stop, View};

use super::TakenUp;
use super::brought::{Promised, edges_of_inputs, payloads_ahead, promised};
use super::foresight::foreseen;
use super::misses::Misses;
use super::rehearsal::loads_of;
use crate::desk::{Desk, all_into};
use crate::error::SqlError;
use crate::session::Read;

/// How often an operation may miss something before the others are no longer asked what they would miss along with it. Most
/// miss twice or thrice; one that goes on from record to record does so alone.
const TOGETHER: usize = 3;

/// Decides every operation, each after the ones before it, and applies what it decides to the desk.
///
/// An operation that misses something waits, and with it all that come after; but they are asked what they would miss, so
/// that one query per table serves the whole batch.
pub(super) async fn decide(
    reader: &mut dyn Read,
    desk: &mut Desk,
    batch: &[TakenUp],
    conditions: &[Conditions],
) -> Result<Vec<Answer<(Reply, Vec<Promised>)>>, SqlError> {
    let mut replies = Vec::with_capacity(batch.len());
    let mut missed_by_next = 0;
    while let Some(next) = batch.get(replies.len()) {
        let at = &conditions[replies.len()];
        let reply = match next.operation.decide(desk, at) {
            Ok(decision) if is_lacking(desk, &decision) => None,
            Ok(decision) => Some(Ok(apply(desk, decision))),
            Err(Stop::Refused(refusal)) => Some(Err(refusal.into())),
            Err(Stop::Miss(miss)) => desk.unreadable(&miss).map(|why| Err(EngineError::Corrupt(why))),
        };
        match reply {
            Some(reply) => {
                replies.push(reply);
                missed_by_next = 0;
            }
            None => {
                let asked = if missed_by_next < TOGETHER { batch.len() } else { 1 };
                let rest = batch.iter().zip(conditions).skip(replies.len()).take(asked);
                let misses = missed(desk, rest);
                if reader.asks_ahead() {
                    let next = loads_of(&misses, at).await?.into_iter();
                    reader.ask_ahead(next.chain(payloads_ahead(desk, batch)).collect()).await?;
                }
                misses.load(reader, desk, at).await?;
                missed_by_next += 1;
            }
        }
    }
    Ok(replies)
}

/// Takes up what was decided, and notes what the answer is to bring along.
fn apply(desk: &mut Desk, decision: Decision) -> (Reply, Vec<Promised>) {
    decision.changes.into_iter().for_each(|change| desk.apply(change));
    decision.forgotten.into_iter().for_each(|id| desk.forget(id));
    decision.workers.into_iter().for_each(|change| desk.apply_to_worker(change));
    for key in decision.api_keys {
        desk.api_keys.write(key.info.key_id.clone(), key);
    }
    if let Some((partition, feed)) = decision.feed {
        desk.follow(partition, feed);
    }
    for (partition, lane) in decision.lanes {
        desk.known.lanes.write((partition, lane.key()), lane);
    }
    decision.flows.into_iter().for_each(|change| desk.apply_to_flow(change));
    if let Some((partition, ring)) = decision.ring {
        desk.waits.rings.write(partition, ring);
    }
    let promised = promised(desk, &decision.reply);
    (decision.reply, promised)
}

/// Whether a decision cannot be carried out with what is on the desk.
fn is_lacking(desk: &Desk, decision: &Decision) -> bool {
    edges_lacking(desk, decision).next().is_some() || keys_lacking(desk, decision).next().is_some()
}

/// The keys of what is forgotten: whether they still name it has to be known.
fn keys_lacking<'d>(desk: &'d Desk, decision: &'d Decision) -> impl Iterator<Item = Miss> + use<'d> {
    let members = decision.flows.iter().flat_map(|change| &change.forgotten);
    let key = |id: &ExecutionId| {
        let execution = desk.execution(id).ok()??;
        desk.key(&execution.namespace, execution.idempotency_key.as_ref()?).err()
    };
    decision.forgotten.iter().chain(members).filter_map(key)
}

/// The edges that go with what is forgotten, and those that brought a worker its inputs.
fn edges_lacking<'d>(desk: &'d Desk, decision: &'d Decision) -> impl Iterator<Item = EdgesOf> + use<'d> {
    let flows = decision.flows.iter();
    let going = flows.flat_map(|change| change.forgotten.iter().map(|member| all_into(change.after.id, *member)));
    going.chain(edges_of_inputs(&decision.reply)).filter(|query| desk.edges(query).is_err())
}

/// What operations would miss, were they decided now.
pub(super) fn missed<'b>(desk: &Desk, rest: impl Iterator<Item = (&'b TakenUp, &'b Conditions)>) -> Misses {
    let mut misses = Misses::default();
    for (taken_up, at) in rest {
        match taken_up.operation.decide(desk, at) {
            Err(Stop::Miss(miss)) if desk.unreadable(&miss).is_none() => {
                misses.add(desk, miss);
                foreseen(desk, &taken_up.operation, &at.partitions).into_iter().for_each(|miss| misses.add(desk, miss));
            }
            Ok(decision) => {
                edges_lacking(desk, &decision).for_each(|query| misses.add_bare(desk, &query));
                keys_lacking(desk, &decision).for_each(|miss| misses.add(desk, miss));
            }
            Err(_) => {}
        }
    }
    misses
}
