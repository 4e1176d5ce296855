//! The writer: takes all that is queued and commits it, until the queue is closed. While the commit of one batch is on its way, the
//! next is decided over its outcome, and committed when that is confirmed.

use std::pin::pin;

use ff_core::backend::Answer;
use ff_core::entropy::Entropy;
use ff_core::operation::Reply;
use ff_core::partition::PartitionConfig;
use futures_util::future::{Either, LocalBoxFuture, select};

use crate::batch::{
    AttemptError, DecidedBatch, QueuedOperation, decide_ahead, decide_batch, execute, failed, uncommitted,
};
use crate::batch_state::WriterCache;
use crate::error::SqlError;
use crate::queue::{Caller, OperationRequest, Queue};
use crate::session::Session;

/// Serves a queue until it is closed and empty. There is no timer: at low load a caller waits for one transaction, at high
/// load for one batch.
///
/// The future is boxed, so that it is compiled here and not once more in every crate that awaits it.
pub fn write<'w>(
    session: &'w mut dyn Session,
    queue: Queue,
    partitions: &'w PartitionConfig,
    entropy: &'w dyn Entropy,
) -> LocalBoxFuture<'w, ()> {
    Box::pin(serve(session, queue, partitions, entropy))
}

async fn serve(session: &mut dyn Session, queue: Queue, partitions: &PartitionConfig, entropy: &dyn Entropy) {
    let cache = WriterCache::default();
    let mut writer = Writer { session, queue, partitions, entropy, cache, unconfirmed: None };
    loop {
        match writer.next().await {
            Next::Batch(batch, callers) => {
                let decided = writer.decide(&batch).await;
                writer.commit(batch, callers, decided).await;
            }
            Next::Confirmed => {}
            Next::Closed => return,
        }
    }
}

struct Writer<'w> {
    session: &'w mut dyn Session,
    queue: Queue,
    partitions: &'w PartitionConfig,
    entropy: &'w dyn Entropy,
    cache: WriterCache,
    unconfirmed: Option<UnconfirmedBatch>,
}

/// A batch whose commit was sent.
struct UnconfirmedBatch {
    batch: Vec<QueuedOperation>,
    callers: Vec<Caller>,
    answers: Vec<Answer<Reply>>,
}

/// The next action of a writer.
enum Next {
    Batch(Vec<QueuedOperation>, Vec<Caller>),
    /// The last batch is confirmed.
    Confirmed,
    Closed,
}

impl Writer<'_> {
    /// Waits for the next batch. While the last one is not confirmed, that is one as large: with fewer, it would only be the
    /// smaller for not having waited.
    async fn next(&mut self) -> Next {
        let taken = match &self.unconfirmed {
            None => take(self.session, &mut self.queue).await,
            Some(sent) => match take_unless_confirmed(self.session, &mut self.queue, sent.batch.len()).await {
                Either::Left(confirmed) => {
                    self.answer(confirmed).await;
                    return Next::Confirmed;
                }
                Either::Right(taken) => taken,
            },
        };
        let Some(taken) = taken else {
            self.confirm().await;
            return Next::Closed;
        };
        let take_up = |OperationRequest { operation, caller }| {
            (QueuedOperation { operation, nonce: self.entropy.nonce() }, caller)
        };
        let (batch, callers) = taken.into_iter().map(take_up).unzip();
        Next::Batch(batch, callers)
    }

    /// Decides a batch, while the last one is on its way if that can be.
    async fn decide(&mut self, batch: &[QueuedOperation]) -> Result<DecidedBatch, AttemptError> {
        if self.unconfirmed.is_some() {
            let ahead = decide_ahead(self.session, &mut self.cache, batch, self.partitions).await;
            if self.confirm().await
                && let Ok(Some(decided)) = ahead
            {
                return Ok(decided);
            }
        }
        decide_batch(self.session, &mut self.cache, batch, self.partitions).await
    }

    /// Commits a decided batch. One that cannot be is tried again, and its callers are answered.
    async fn commit(
        &mut self,
        batch: Vec<QueuedOperation>,
        callers: Vec<Caller>,
        decided: Result<DecidedBatch, AttemptError>,
    ) {
        let committed = match decided {
            Ok(decided) => decided.commit(self.session, &mut self.cache).await,
            Err(error) => Err(error),
        };
        match committed {
            Ok(answers) => self.unconfirmed = Some(UnconfirmedBatch { batch, callers, answers }),
            Err(error) => send(callers, self.retry(&batch, error).await),
        }
    }

    /// Waits until the last batch is confirmed and answers its callers; says whether it was committed as it was decided.
    async fn confirm(&mut self) -> bool {
        let confirmed = self.session.confirm().await;
        self.answer(confirmed).await
    }

    async fn answer(&mut self, confirmed: Result<(), SqlError>) -> bool {
        let Some(UnconfirmedBatch { batch, callers, answers }) = self.unconfirmed.take() else { return true };
        let (answers, is_committed) = match confirmed {
            Ok(()) => (answers, true),
            Err(error) => {
                let error = uncommitted(self.session, &mut self.cache, error).await;
                (self.retry(&batch, error).await, false)
            }
        };
        send(callers, answers);
        is_committed
    }

    /// The answers to a batch that was not committed.
    async fn retry(&mut self, batch: &[QueuedOperation], error: AttemptError) -> Vec<Answer<Reply>> {
        match error {
            AttemptError::Failed(error) => failed(batch, &error),
            AttemptError::Undone(why) => {
                tracing::debug!(why, "a batch was undone; trying again");
                execute(self.session, &mut self.cache, batch, self.partitions).await
            }
        }
    }
}

/// Takes what is queued. While there is nothing, the session rests.
async fn take(session: &mut dyn Session, queue: &mut Queue) -> Option<Vec<OperationRequest>> {
    match select(pin!(queue.take(1)), pin!(session.rest())).await {
        Either::Left((taken, _)) => taken,
        Either::Right(((), taking)) => taking.await,
    }
}

/// Takes what is queued once that is much, unless the last commit is confirmed before.
async fn take_unless_confirmed(
    session: &mut dyn Session,
    queue: &mut Queue,
    least: usize,
) -> Either<Result<(), SqlError>, Option<Vec<OperationRequest>>> {
    match select(pin!(session.confirm()), pin!(queue.take(least))).await {
        Either::Left((confirmed, _)) => Either::Left(confirmed),
        Either::Right((taken, _)) => Either::Right(taken),
    }
}

fn send(callers: Vec<Caller>, answers: Vec<Answer<Reply>>) {
    for (caller, answer) in callers.into_iter().zip(answers) {
        // Fails when the caller has gone away.
        caller.send(answer).ok();
    }
}
