//! A batch: several operations decided one after the other and committed once.

mod attachments;
mod attempts;
mod decide;
mod eligible;
mod flows;
mod forgetting;
mod misses;
mod predict;
mod prefetch;
mod registry;
mod signals;
mod steps;
mod streams;
mod suspensions;
mod writes;

use std::collections::BTreeSet;

use ff_core::backend::Answer;
use ff_core::engine_error::EngineError;
use ff_core::entropy::Nonce;
use ff_core::hint::lane_hints;
use ff_core::operation::{Conditions, Operation, Reply};
use ff_core::outage::is_away;
use ff_core::partition::PartitionConfig;

use self::prefetch::first_loads;
use crate::batch_state::{BatchState, WriterCache};
use crate::engine::ready_on;
use crate::error::SqlError;
use crate::session::{Read, Session};

/// How often a batch is tried that the store undoes.
const TRIES: usize = 8;

/// An operation a writer has taken up, with the randomness it keeps however often it is decided.
pub struct QueuedOperation {
    /// What is to be done.
    pub operation: Operation,
    /// Its one nonce.
    pub nonce: Nonce,
}

/// Decides operations in order, each seeing what those before it did, and commits what they changed, once. A refused one
/// writes nothing and stops no other. Gives an answer for each, in order.
///
/// Records that `cache` holds from earlier batches are used and updated while no other program writes.
pub async fn execute(
    session: &mut dyn Session,
    cache: &mut WriterCache,
    batch: &[QueuedOperation],
    partitions: &PartitionConfig,
) -> Vec<Answer<Reply>> {
    match persist(session, cache, batch, partitions).await {
        Ok(answers) => answers,
        Err(error) => {
            // Each caller learns that the store did not answer, and logs it where it logs outages.
            if is_away(&error) {
                tracing::debug!(%error, operations = batch.len(), "a batch was not committed");
            } else {
                tracing::error!(%error, operations = batch.len(), "a batch was not committed");
            }
            batch.iter().map(|_| Err(error.clone())).collect()
        }
    }
}

/// Tries until the store does not undo it. What is tried again is decided again, with the same chance, over what is there
/// by then.
async fn persist(
    session: &mut dyn Session,
    cache: &mut WriterCache,
    batch: &[QueuedOperation],
    partitions: &PartitionConfig,
) -> Answer<Vec<Answer<Reply>>> {
    for _ in 1..TRIES {
        match attempt(session, cache, batch, partitions).await {
            Err(AttemptError::Undone(why)) => tracing::debug!(why, "a batch was undone; trying again"),
            Err(AttemptError::Failed(error)) => return Err(error),
            Ok(answers) => return Ok(answers),
        }
    }
    attempt(session, cache, batch, partitions).await.map_err(|unfinished| match unfinished {
        AttemptError::Undone(why) => EngineError::Unavailable(why),
        AttemptError::Failed(error) => error,
    })
}

/// Why an attempt brought no answers.
enum AttemptError {
    /// Nothing happened, and it may be tried again.
    Undone(String),
    Failed(EngineError),
}

impl From<SqlError> for AttemptError {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::Undone(why) => Self::Undone(why),
            other => Self::Failed(other.into()),
        }
    }
}

async fn attempt(
    session: &mut dyn Session,
    cache: &mut WriterCache,
    batch: &[QueuedOperation],
    partitions: &PartitionConfig,
) -> Result<Vec<Answer<Reply>>, AttemptError> {
    let kept = std::mem::take(cache);
    let mut state = BatchState::with(if session.is_alone() { kept } else { kept.without_records() });
    let answers = commit(session, &mut state, batch, partitions).await?;
    *cache = state.settled();
    Ok(answers)
}

async fn commit(
    session: &mut dyn Session,
    state: &mut BatchState,
    batch: &[QueuedOperation],
    partitions: &PartitionConfig,
) -> Result<Vec<Answer<Reply>>, AttemptError> {
    let involved: BTreeSet<_> =
        batch.iter().map(|queued_operation| queued_operation.operation.partition(partitions)).collect();
    let involved: Vec<_> = involved.into_iter().collect();
    let first = if session.asks_ahead() { first_loads(state, batch, partitions, &involved).await? } else { Vec::new() };
    let context = session.begin(&involved, first).await?;
    state.cache.note(&context);
    state.begin(context.lock_session, &involved);
    let now = context.now;
    let at = |nonce| Conditions { partitions: *partitions, nonce, now };
    let conditions: Vec<_> = batch.iter().map(|queued_operation| at(queued_operation.nonce)).collect();
    match prepare(session, state, batch, &conditions, &involved).await {
        Ok((answers, true)) => match session.commit(std::mem::take(&mut state.hints)).await {
            Ok(()) => Ok(answers),
            Err(error) => {
                undo(session).await;
                Err(match error {
                    SqlError::Undone(why) => AttemptError::Undone(why),
                    other => AttemptError::Failed(EngineError::Unknown(format!("the store did not answer: {other}"))),
                })
            }
        },
        Ok((answers, false)) => {
            undo(session).await;
            Ok(answers)
        }
        Err(error) => {
            undo(session).await;
            Err(error.into())
        }
    }
}

/// Everything short of the commit: the answers, and whether there is anything to commit.
async fn prepare(
    session: &mut dyn Session,
    state: &mut BatchState,
    batch: &[QueuedOperation],
    conditions: &[Conditions],
    involved: &[u16],
) -> Result<(Vec<Answer<Reply>>, bool), SqlError> {
    // Every change may have to be recorded as an event, so the feeds are loaded first.
    let unknown = state.cache.unknown_feeds(involved);
    registry::load_feeds(session, &mut state.cache, unknown).await?;
    let replies = decide::decide(session, state, batch, conditions).await?;
    let answers = attachments::attach(session, state, replies).await?;
    let written = writes::write(session, state).await?;
    opened_lanes(session, state).await?;
    Ok((answers, written))
}

/// Hints at what waits where a lane may hand out again.
async fn opened_lanes(reader: &mut dyn Read, state: &mut BatchState) -> Result<(), SqlError> {
    for ((partition, key), after) in state.cache.lanes.written() {
        let before = state.cache.lanes.stored(&(*partition, key.clone()));
        // Most changes count grants and leave the settings alone.
        if before.is_none_or(|before| before.settings != after.settings) {
            let ready = ready_on(reader, *partition).await?;
            state.hints.extend(lane_hints(*partition, before, after, ready));
        }
    }
    Ok(())
}

/// Rolls a transaction back. A failure to do so is only logged; the next `begin` finds out.
async fn undo(session: &mut dyn Session) {
    if let Err(error) = session.rollback().await {
        tracing::error!(%error, "a transaction was not rolled back");
    }
}
