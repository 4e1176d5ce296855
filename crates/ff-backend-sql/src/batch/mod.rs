//! A batch: several operations decided one after the other and committed once.

mod attachments;
mod attempts;
mod decide;
mod eligible;
mod flows;
mod forgetting;
mod misses;
mod new_ids;
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

use self::new_ids::take_for_new;
use self::prefetch::first_loads;
use crate::batch_state::{BatchState, WriterCache};
use crate::engine::ready_on;
use crate::error::SqlError;
use crate::session::{Load, Read, Session};

/// How often a batch is tried that the store undoes.
const TRIES: usize = 8;

/// For how many batches the ids of submissions are looked up after one was undone, which may have been because of an id.
const CAUTIOUS: u32 = 100;

/// An operation a writer has taken up, with the randomness it keeps however often it is decided.
pub struct QueuedOperation {
    /// The operation.
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
    let mut undone = String::new();
    for _ in 0..TRIES {
        match attempt(session, cache, batch, partitions).await {
            Err(AttemptError::Undone(why)) => {
                tracing::debug!(why, "a batch was undone; trying again");
                undone = why;
            }
            Err(AttemptError::Failed(error)) => return failed(batch, &error),
            Ok(answers) => return answers,
        }
    }
    failed(batch, &EngineError::Unavailable(undone))
}

/// The answers to callers whose batch was not committed.
pub(crate) fn failed(batch: &[QueuedOperation], error: &EngineError) -> Vec<Answer<Reply>> {
    // Each caller learns that the store did not answer, and logs it where it logs outages.
    if is_away(error) {
        tracing::debug!(%error, operations = batch.len(), "a batch was not committed");
    } else {
        tracing::error!(%error, operations = batch.len(), "a batch was not committed");
    }
    batch.iter().map(|_| Err(error.clone())).collect()
}

/// A retry decides again, with the same nonces, over the records stored by then.
async fn attempt(
    session: &mut dyn Session,
    cache: &mut WriterCache,
    batch: &[QueuedOperation],
    partitions: &PartitionConfig,
) -> Result<Vec<Answer<Reply>>, AttemptError> {
    let decided = decide_batch(session, cache, batch, partitions).await?;
    let answers = decided.commit(session, cache).await?;
    match session.confirm().await {
        Ok(()) => Ok(answers),
        Err(error) => Err(uncommitted(session, cache, error).await),
    }
}

/// Why an attempt brought no answers.
pub(crate) enum AttemptError {
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

/// A batch that is decided. Its writes are with the session, and nothing is committed.
pub(crate) struct DecidedBatch {
    /// Boxed, because it is large and travels through futures.
    state: Box<BatchState>,
    answers: Vec<Answer<Reply>>,
    has_writes: bool,
}

/// Decides a batch over the cache and what it loads. On an error nothing is left to commit, and of the cache nothing.
pub(crate) async fn decide_batch(
    session: &mut dyn Session,
    cache: &mut WriterCache,
    batch: &[QueuedOperation],
    partitions: &PartitionConfig,
) -> Result<DecidedBatch, AttemptError> {
    let start = BatchStart::of(session, cache, batch, partitions).await?;
    start.decide(session, cache, batch, partitions).await
}

/// The same before the commit of the last batch is confirmed, over its writes. Nothing, and no change, when it would have to
/// wait for the server.
pub(crate) async fn decide_ahead(
    session: &mut dyn Session,
    cache: &mut WriterCache,
    batch: &[QueuedOperation],
    partitions: &PartitionConfig,
) -> Result<Option<DecidedBatch>, AttemptError> {
    let start = BatchStart::of(session, cache, batch, partitions).await?;
    // The loads of a pump are not known before.
    let pumps = batch.iter().any(|queued_operation| matches!(queued_operation.operation, Operation::Pump(_)));
    if pumps || !start.first.is_empty() || !session.begins_at_once(&start.involved) {
        *cache = start.state.withdrawn();
        return Ok(None);
    }
    start.decide(session, cache, batch, partitions).await.map(Some)
}

/// A batch before its transaction.
struct BatchStart {
    state: Box<BatchState>,
    involved: Vec<u16>,
    /// The first loads.
    first: Vec<Load>,
    takes_ids_for_new: bool,
}

impl BatchStart {
    async fn of(
        session: &mut dyn Session,
        cache: &mut WriterCache,
        batch: &[QueuedOperation],
        partitions: &PartitionConfig,
    ) -> Result<Self, AttemptError> {
        let contents = std::mem::take(cache);
        let takes_ids_for_new = session.asks_ahead() && contents.cautious_batches == 0;
        let mut state =
            Box::new(BatchState::with(if session.is_alone() { contents } else { contents.without_records() }));
        if takes_ids_for_new {
            take_for_new(&mut state, batch, partitions);
        }
        let involved: BTreeSet<_> =
            batch.iter().map(|queued_operation| queued_operation.operation.partition(partitions)).collect();
        let involved: Vec<_> = involved.into_iter().collect();
        let asks_ahead = session.asks_ahead();
        let first = if asks_ahead { first_loads(&state, batch, partitions, &involved).await? } else { Vec::new() };
        Ok(Self { state, involved, first, takes_ids_for_new })
    }

    async fn decide(
        self,
        session: &mut dyn Session,
        cache: &mut WriterCache,
        batch: &[QueuedOperation],
        partitions: &PartitionConfig,
    ) -> Result<DecidedBatch, AttemptError> {
        match self.prepare(session, batch, partitions).await {
            Ok(decided) => Ok(decided),
            Err(error) => {
                undo(session, cache).await;
                Err(error.into())
            }
        }
    }

    async fn prepare(
        self,
        session: &mut dyn Session,
        batch: &[QueuedOperation],
        partitions: &PartitionConfig,
    ) -> Result<DecidedBatch, SqlError> {
        let Self { mut state, involved, first, takes_ids_for_new } = self;
        let context = session.begin(&involved, first).await?;
        state.cache.note(&context);
        state.begin(context.lock_session, &involved);
        if takes_ids_for_new {
            take_for_new(&mut state, batch, partitions);
        }
        let at = |nonce| Conditions { partitions: *partitions, nonce, now: context.now };
        let conditions: Vec<_> = batch.iter().map(|queued_operation| at(queued_operation.nonce)).collect();
        let (answers, has_writes) = prepare(session, &mut state, batch, &conditions, &involved).await?;
        Ok(DecidedBatch { state, answers, has_writes })
    }
}

impl DecidedBatch {
    /// Commits it. Once that is confirmed, the answers hold and the cache is right.
    pub(crate) async fn commit(
        mut self,
        session: &mut dyn Session,
        cache: &mut WriterCache,
    ) -> Result<Vec<Answer<Reply>>, AttemptError> {
        if self.has_writes {
            if let Err(error) = session.commit(std::mem::take(&mut self.state.hints)).await {
                return Err(uncommitted(session, cache, error).await);
            }
        } else {
            roll_back(session).await;
        }
        *cache = self.state.settled();
        Ok(self.answers)
    }
}

/// Undoes a batch whose commit brought an error, and says what that means for its callers.
pub(crate) async fn uncommitted(session: &mut dyn Session, cache: &mut WriterCache, error: SqlError) -> AttemptError {
    undo(session, cache).await;
    match error {
        SqlError::Undone(why) => AttemptError::Undone(why),
        other => AttemptError::Failed(EngineError::Unknown(format!("the store did not answer: {other}"))),
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

/// Rolls a transaction back and forgets what was cached, which may have counted on it. The next batches look up the ids of
/// submissions.
async fn undo(session: &mut dyn Session, cache: &mut WriterCache) {
    roll_back(session).await;
    *cache = WriterCache::default();
    cache.cautious_batches = CAUTIOUS;
}

/// A failure to do so is only logged; the next `begin` finds out.
async fn roll_back(session: &mut dyn Session) {
    if let Err(error) = session.rollback().await {
        tracing::error!(%error, "a transaction was not rolled back");
    }
}
