//! Deciding a batch: operations are decided in order over the loaded records, and one load serves the misses of all operations.

use ff_core::backend::Answer;
use ff_core::engine_error::EngineError;
use ff_core::operation::{Conditions, Decision, Reply};
use ff_core::rule::view::Stop;

use super::QueuedOperation;
use super::attachments::{ClaimAttachments, attachments, payloads_ahead};
use super::misses::{is_lacking, missed};
use super::new_ids::was_taken_for_new;
use super::prefetch::loads_of;
use crate::batch_state::BatchState;
use crate::error::SqlError;
use crate::session::Read;

/// Maximum number of times that an operation may miss a record while the later operations also report their misses. Most
/// operations miss two or three times. After that, the operation probably follows records one by one, and only its own misses
/// are loaded.
const TOGETHER: usize = 3;

/// Decides every operation that has no reply yet, each after the ones before it, and applies its decision to the batch state.
///
/// An operation that misses a record waits, and so do all operations after it. The later operations report their misses too, so
/// that one query per table serves the whole batch.
pub(super) async fn decide(
    reader: &mut dyn Read,
    state: &mut BatchState,
    batch: &[QueuedOperation],
    conditions: &[Conditions],
    replies: &mut Vec<Answer<(Reply, Vec<ClaimAttachments>)>>,
) -> Result<(), SqlError> {
    let mut missed_by_next = 0;
    loop {
        let before = replies.len();
        decide_known(state, batch, conditions, replies)?;
        let Some(at) = conditions.get(replies.len()) else { break };
        if replies.len() > before {
            missed_by_next = 0;
        }
        let count = if missed_by_next < TOGETHER { batch.len() } else { 1 };
        let rest = batch.iter().zip(conditions).skip(replies.len()).take(count);
        let misses = missed(state, rest);
        if reader.asks_ahead() {
            let next = loads_of(&misses, at).await?.into_iter();
            reader.ask_ahead(next.chain(payloads_ahead(state, batch)).collect()).await?;
        }
        misses.load(reader, state, at).await?;
        missed_by_next += 1;
    }
    if state.going().any(|(id, _)| state.was_taken_for_new(id)) {
        return Err(SqlError::Undone("an execution was deleted before its id was looked up".into()));
    }
    Ok(())
}

/// Decides the operations that have no reply yet, up to the first one that misses a record.
pub(super) fn decide_known(
    state: &mut BatchState,
    batch: &[QueuedOperation],
    conditions: &[Conditions],
    replies: &mut Vec<Answer<(Reply, Vec<ClaimAttachments>)>>,
) -> Result<(), SqlError> {
    while let Some(next) = batch.get(replies.len()) {
        let at = &conditions[replies.len()];
        let reply = match next.operation.decide(state, at) {
            Ok(decision) if is_lacking(state, &decision) => None,
            Ok(decision) => Some(Ok(apply(state, decision))),
            Err(Stop::Refused(refusal)) if was_taken_for_new(state, &next.operation, &at.partitions) => {
                return Err(SqlError::Undone(format!(
                    "a submission was refused before its id was looked up: {refusal}"
                )));
            }
            Err(Stop::Refused(refusal)) => Some(Err(refusal.into())),
            Err(Stop::Miss(miss)) => state.unreadable(&miss).map(|why| Err(EngineError::Corrupt(why))),
        };
        match reply {
            Some(reply) => replies.push(reply),
            None => break,
        }
    }
    Ok(())
}

/// Applies a decision, and collects the attachments of its reply.
fn apply(state: &mut BatchState, decision: Decision) -> (Reply, Vec<ClaimAttachments>) {
    decision.changes.into_iter().for_each(|change| state.apply(change));
    decision.forgotten.into_iter().for_each(|id| state.forget(id));
    decision.workers.into_iter().for_each(|change| state.apply_to_worker(change));
    for key in decision.api_keys {
        state.api_keys.write(key.info.key_id.clone(), key);
    }
    if let Some((partition, feed)) = decision.feed {
        state.follow(partition, feed);
    }
    for (partition, lane) in decision.lanes {
        state.cache.lanes.write((partition, lane.key()), lane);
    }
    state.apply_to_quotas(decision.quotas);
    decision.key_queues.into_iter().for_each(|queue| state.apply_to_key_queue(queue));
    for (name, turn) in decision.turns {
        match turn {
            Some(turn) => state.turns.turns.write(name, turn),
            None => state.turns.turns.remove(name),
        }
    }
    decision.schedules.into_iter().for_each(|write| state.apply_to_schedule(write));
    decision.flows.into_iter().for_each(|change| state.apply_to_flow(change));
    if let Some((partition, ring)) = decision.ring {
        state.suspensions.rings.write(partition, ring);
    }
    let attachments = attachments(state, &decision.reply);
    (decision.reply, attachments)
}
