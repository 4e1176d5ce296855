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
use ff_core::backend::entropy::Nonce;
use ff_core::backend::hint::lane_hints;
use ff_core::backend::outage::is_away;
use ff_core::engine_error::EngineError;
use ff_core::operation::{Conditions, Operation, Reply};
use ff_core::partition::PartitionConfig;

use self::attachments::ClaimAttachments;
use self::new_ids::take_for_new;
use self::prefetch::first_loads;
use crate::batch_state::{BatchState, WriterCache};
use crate::engine::ready_on;
use crate::error::SqlError;
use crate::session::{Read, Session};

/// Maximum number of attempts at a batch that the store undoes.
const ATTEMPTS_MAX: usize = 8;

/// Number of batches that look up the ids of submissions after a batch was undone, because a taken id may have been the cause.
const CAUTIOUS: u32 = 100;

/// An operation in a batch, with the nonce that it keeps for every attempt.
pub struct QueuedOperation {
    pub operation: Operation,
    /// The randomness of all its decisions.
    pub nonce: Nonce,
}

/// Decides operations in order and commits their changes once. Each operation sees the changes of those before it. A refused
/// operation writes nothing and does not stop the others. Returns the answers in the order of the operations.
///
/// Uses and updates the records in `cache` while no other program writes.
pub async fn execute(
    session: &mut dyn Session,
    cache: &mut WriterCache,
    batch: &[QueuedOperation],
    partitions: &PartitionConfig,
) -> Vec<Answer<Reply>> {
    let mut undone = String::new();
    for _ in 0..ATTEMPTS_MAX {
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

/// Returns the answers to callers whose batch was not committed.
pub(crate) fn failed(batch: &[QueuedOperation], error: &EngineError) -> Vec<Answer<Reply>> {
    // Each caller learns that the store did not answer, and logs it in its own outage log.
    if is_away(error) {
        tracing::debug!(%error, operations = batch.len(), "a batch was not committed");
    } else {
        tracing::error!(%error, operations = batch.len(), "a batch was not committed");
    }
    batch.iter().map(|_| Err(error.clone())).collect()
}

/// Decides and commits a batch once. A retry uses the same nonces and reads the records again.
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

/// The reason why an attempt has no answers.
pub(crate) enum AttemptError {
    /// The batch wrote nothing and may be tried again.
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

/// A decided batch. The session has its writes, and nothing is committed.
pub(crate) struct DecidedBatch {
    /// Boxed, because it is large and travels through futures.
    state: Box<BatchState>,
    answers: Vec<Answer<Reply>>,
    has_writes: bool,
}

/// Decides a batch, or the rest of a batch that has begun, over the cache and the records it loads. An error leaves nothing to
/// commit and an empty cache.
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

/// A batch that has begun: its decisions so far, the cache and the loaded records. Operations may be added until it is finished.
pub(crate) struct BegunBatch {
    /// Boxed, because it is large and travels through futures.
    state: Box<BatchState>,
    takes_ids_for_new: bool,
    involved: BTreeSet<u16>,
    /// The conditions of all operations, and the replies of the decided ones.
    conditions: Vec<Conditions>,
    replies: Vec<Answer<(Reply, Vec<ClaimAttachments>)>>,
}

impl BegunBatch {
    /// Returns a batch without operations.
    fn over(session: &dyn Session, cache: WriterCache) -> Self {
        Self {
            takes_ids_for_new: session.asks_ahead() && cache.cautious_batches == 0,
            state: Box::new(BatchState::with(if session.is_alone() { cache } else { cache.without_records() })),
            involved: BTreeSet::new(),
            conditions: Vec::new(),
            replies: Vec::new(),
        }
    }

    /// Begins a batch over the writes of the last one, before that commit is confirmed. Decides the operations in order up to the
    /// first that needs a record from the server. Returns none and keeps the cache if the batch cannot begin before the
    /// confirmation.
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

    /// Adds the operations of `batch` that it does not have yet, and decides in order up to the first that needs a record from
    /// the server. Returns false and adds nothing if one of them is a pump, a feed has to be loaded or the session has to wait
    /// for the server to begin.
    pub(crate) async fn add(
        &mut self,
        session: &mut dyn Session,
        batch: &[QueuedOperation],
        partitions: &PartitionConfig,
    ) -> Result<bool, SqlError> {
        let more = &batch[self.conditions.len()..];
        let involved = involved(more, partitions);
        // The due list is known only up to the time it was loaded for.
        let pumps = more.iter().any(|queued| matches!(queued.operation, Operation::Pump(_)));
        let unknown_feeds = !self.state.cache.unknown_feeds(&involved).is_empty();
        if pumps || unknown_feeds || !session.begins_at_once(&involved) {
            return Ok(false);
        }
        self.begin(session, batch, partitions).await?;
        decide::decide_known(&mut self.state, batch, &self.conditions, &mut self.replies)?;
        Ok(true)
    }

    /// Begins the transaction, or begins it again with more operations.
    async fn begin(
        &mut self,
        session: &mut dyn Session,
        batch: &[QueuedOperation],
        partitions: &PartitionConfig,
    ) -> Result<(), SqlError> {
        let more = &batch[self.conditions.len()..];
        let involved = involved(more, partitions);
        self.take_for_new(more, partitions);
        // If the session has to wait for locks, the first loads are sent together with the request for them.
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

    /// Decides the remaining operations and writes all changes, without committing.
    async fn finish(mut self, session: &mut dyn Session, batch: &[QueuedOperation]) -> Result<DecidedBatch, SqlError> {
        let involved: Vec<_> = self.involved.into_iter().collect();
        let state = &mut *self.state;
        // Every change may need an event, so the feeds are loaded first.
        let unknown = state.cache.unknown_feeds(&involved);
        registry::load_feeds(session, &mut state.cache, unknown).await?;
        decide::decide(session, state, batch, &self.conditions, &mut self.replies).await?;
        let answers = attachments::attach(session, state, self.replies).await?;
        let has_writes = writes::write(session, state).await?;
        opened_lanes(session, state).await?;
        Ok(DecidedBatch { state: self.state, answers, has_writes })
    }
}

/// Returns the partitions of operations, in ascending order.
fn involved(batch: &[QueuedOperation], partitions: &PartitionConfig) -> Vec<u16> {
    let involved: BTreeSet<_> = batch.iter().map(|queued| queued.operation.partition(partitions)).collect();
    involved.into_iter().collect()
}

impl DecidedBatch {
    /// Commits the batch. The answers and the cache are valid once the commit is confirmed.
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

/// Undoes a batch whose commit failed, and returns what the failure means for its callers.
pub(crate) async fn uncommitted(session: &mut dyn Session, cache: &mut WriterCache, error: SqlError) -> AttemptError {
    undo(session, cache).await;
    match error {
        SqlError::Undone(why) => AttemptError::Undone(why),
        other => AttemptError::Failed(EngineError::Unknown(format!("the store did not answer: {other}"))),
    }
}

/// Adds hints about the waiting executions of lanes whose new settings may allow claims.
async fn opened_lanes(reader: &mut dyn Read, state: &mut BatchState) -> Result<(), SqlError> {
    for ((partition, key), after) in state.cache.lanes.written() {
        let before = state.cache.lanes.stored(&(*partition, key.clone()));
        // Most writes of a lane count grants and leave its settings unchanged.
        if before.is_none_or(|before| before.settings != after.settings) {
            let ready = ready_on(reader, *partition).await?;
            state.hints.extend(lane_hints(*partition, before, after, ready));
        }
    }
    Ok(())
}

/// Rolls back a transaction and clears the cache, which may depend on it. The next batches look up the ids of submissions.
pub(crate) async fn undo(session: &mut dyn Session, cache: &mut WriterCache) {
    roll_back(session).await;
    *cache = WriterCache::default();
    cache.cautious_batches = CAUTIOUS;
}

/// Rolls back a transaction. A failure is only logged; the next `begin` reports it.
async fn roll_back(session: &mut dyn Session) {
    if let Err(error) = session.rollback().await {
        tracing::error!(%error, "a transaction was not rolled back");
    }
}
