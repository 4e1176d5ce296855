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

use self::attachments::ClaimAttachments;
use self::new_ids::take_for_new;
use self::prefetch::first_loads;
use crate::batch_state::{BatchState, WriterCache};
use crate::engine::ready_on;
use crate::error::SqlError;
use crate::session::{Read, Session};

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
    let decided = decide_batch(session, cache, None, batch, partitions).await?;
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

/// Decides a batch over the cache and what it loads, or what is left of it if it has begun. On an error nothing is left to commit,
/// and of the cache nothing.
pub(crate) async fn decide_batch(
    session: &mut dyn Session,
    cache: &mut WriterCache,
    begun: Option<BegunBatch>,
    batch: &[QueuedOperation],
    partitions: &PartitionConfig,
) -> Result<DecidedBatch, AttemptError> {
    let decided = async {
        let begun = match begun {
            Some(begun) => begun,
            None => {
                let mut begun = BegunBatch::over(&*session, std::mem::take(cache));
                begun.begin(session, batch, partitions).await?;
                begun
            }
        };
        begun.finish(session, batch).await
    };
    match decided.await {
        Ok(decided) => Ok(decided),
        Err(error) => {
            undo(session, cache).await;
            Err(error.into())
        }
    }
}

/// A batch that has begun: its decisions so far, over the cache and what it has loaded. Operations may be added until it is
/// finished.
pub(crate) struct BegunBatch {
    /// Boxed, because it is large and travels through futures.
    state: Box<BatchState>,
    takes_ids_for_new: bool,
    involved: BTreeSet<u16>,
    /// Of every operation there is, and the replies to those that are decided.
    conditions: Vec<Conditions>,
    replies: Vec<Answer<(Reply, Vec<ClaimAttachments>)>>,
}

impl BegunBatch {
    /// A batch without operations.
    fn over(session: &dyn Session, cache: WriterCache) -> Self {
        Self {
            takes_ids_for_new: session.asks_ahead() && cache.cautious_batches == 0,
            state: Box::new(BatchState::with(if session.is_alone() { cache } else { cache.without_records() })),
            involved: BTreeSet::new(),
            conditions: Vec::new(),
            replies: Vec::new(),
        }
    }

    /// A batch before the commit of the last one is confirmed, over its writes, with as much decided as needs nothing from the
    /// server. Nothing, and no change, when these operations would have to wait for the server to begin.
    pub(crate) async fn ahead(
        session: &mut dyn Session,
        cache: &mut WriterCache,
        batch: &[QueuedOperation],
        partitions: &PartitionConfig,
    ) -> Result<Option<Self>, SqlError> {
        let mut begun = Self::over(session, std::mem::take(cache));
        if begun.add(session, batch, partitions).await? {
            return Ok(Some(begun));
        }
        *cache = begun.state.withdrawn();
        Ok(None)
    }

    /// Adds the operations of a batch behind those it has, and decides as many as need nothing from the server. Says whether it
    /// did: it does not when they would have to wait for the server to begin.
    pub(crate) async fn add(
        &mut self,
        session: &mut dyn Session,
        batch: &[QueuedOperation],
        partitions: &PartitionConfig,
    ) -> Result<bool, SqlError> {
        let more = &batch[self.conditions.len()..];
        let involved = involved(more, partitions);
        // The list of what is due is known up to the moment it was loaded for.
        let pumps = more.iter().any(|queued| matches!(queued.operation, Operation::Pump(_)));
        let unknown_feeds = !self.state.cache.unknown_feeds(&involved).is_empty();
        if pumps || unknown_feeds || !session.begins_at_once(&involved) {
            return Ok(false);
        }
        self.begin(session, batch, partitions).await?;
        decide::decide_known(&mut self.state, batch, &self.conditions, &mut self.replies)?;
        Ok(true)
    }

    /// Begins, or begins with more operations.
    async fn begin(
        &mut self,
        session: &mut dyn Session,
        batch: &[QueuedOperation],
        partitions: &PartitionConfig,
    ) -> Result<(), SqlError> {
        let more = &batch[self.conditions.len()..];
        let involved = involved(more, partitions);
        self.take_for_new(more, partitions);
        // What is going to be loaded is asked for with the locks, if there is something to wait for.
        let waits = session.asks_ahead() && !session.begins_at_once(&involved);
        let first = if waits { first_loads(&self.state, more, partitions, &involved).await? } else { Vec::new() };
        let context = session.begin(&involved, first).await?;
        self.state.cache.note(&context);
        self.state.begin(context.lock_session, &involved);
        self.take_for_new(more, partitions);
        let at =
            |queued: &QueuedOperation| Conditions { partitions: *partitions, nonce: queued.nonce, now: context.now };
        self.conditions.extend(more.iter().map(at));
        self.involved.extend(involved);
        Ok(())
    }

    fn take_for_new(&mut self, batch: &[QueuedOperation], partitions: &PartitionConfig) {
        if self.takes_ids_for_new {
            take_for_new(&mut self.state, batch, partitions);
        }
    }

    /// Decides what is left, and has all of it written: everything short of the commit.
    async fn finish(mut self, session: &mut dyn Session, batch: &[QueuedOperation]) -> Result<DecidedBatch, SqlError> {
        let involved: Vec<_> = self.involved.into_iter().collect();
        let state = &mut *self.state;
        // Every change may have to be recorded as an event, so the feeds are loaded first.
        let unknown = state.cache.unknown_feeds(&involved);
        registry::load_feeds(session, &mut state.cache, unknown).await?;
        decide::decide(session, state, batch, &self.conditions, &mut self.replies).await?;
        let answers = attachments::attach(session, state, self.replies).await?;
        let has_writes = writes::write(session, state).await?;
        opened_lanes(session, state).await?;
        Ok(DecidedBatch { state: self.state, answers, has_writes })
    }
}

/// The partitions of operations, in order.
fn involved(batch: &[QueuedOperation], partitions: &PartitionConfig) -> Vec<u16> {
    let involved: BTreeSet<_> = batch.iter().map(|queued| queued.operation.partition(partitions)).collect();
    involved.into_iter().collect()
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
pub(crate) async fn undo(session: &mut dyn Session, cache: &mut WriterCache) {
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
