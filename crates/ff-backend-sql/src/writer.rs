//! The writer takes queued operations and commits them, until the queue is closed. While the commit of one batch is under way, it
//! decides the operations of the next batch over that batch's writes. The next batch is committed once the commit before it is
//! confirmed.

use std::pin::pin;

use ff_core::backend::Answer;
use ff_core::backend::entropy::Entropy;
use ff_core::operation::Reply;
use ff_core::partition::PartitionConfig;
use futures_util::future::{Either, LocalBoxFuture, select};

use crate::batch::{
    AttemptError, BegunBatch, DecidedBatch, QueuedOperation, decide_batch, execute, failed, uncommitted, undo,
};
use crate::batch_state::WriterCache;
use crate::error::SqlError;
use crate::queue::{Caller, OperationRequest, Queue};
use crate::session::Session;

/// Serves a queue until it is closed and empty. There is no timer: at low load a caller waits for one transaction, at high load
/// for one batch.
///
/// The future is boxed, so that it is compiled here and not in every crate that awaits it.
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
    let mut writer = Writer { session, queue, partitions, entropy, cache, unconfirmed: None, left_over: Vec::new() };
    while let Some(OpenBatch { operations, callers, begun }) = writer.next().await {
        let decided = decide_batch(writer.session, &mut writer.cache, begun, &operations, partitions).await;
        writer.commit(operations, callers, decided).await;
    }
}

struct Writer<'w> {
    session: &'w mut dyn Session,
    queue: Queue,
    partitions: &'w PartitionConfig,
    entropy: &'w dyn Entropy,
    cache: WriterCache,
    unconfirmed: Option<UnconfirmedBatch>,
    /// Requests that could not be added to the last batch. They begin the next one.
    left_over: Vec<OperationRequest>,
}

/// A batch whose commit was sent.
struct UnconfirmedBatch {
    batch: Vec<QueuedOperation>,
    callers: Vec<Caller>,
    answers: Vec<Answer<Reply>>,
}

/// An unfinished batch. Some of its operations may be decided.
#[derive(Default)]
struct OpenBatch {
    operations: Vec<QueuedOperation>,
    callers: Vec<Caller>,
    begun: Option<BegunBatch>,
}

impl OpenBatch {
    fn add(&mut self, requests: Vec<OperationRequest>, entropy: &dyn Entropy) {
        for OperationRequest { operation, caller } in requests {
            self.operations.push(QueuedOperation { operation, nonce: entropy.nonce() });
            self.callers.push(caller);
        }
    }

    /// Removes the operations from a position on and returns their requests.
    fn split_off(&mut self, at: usize) -> Vec<OperationRequest> {
        let operations = self.operations.drain(at..).map(|queued| queued.operation);
        operations
            .zip(self.callers.drain(at..))
            .map(|(operation, caller)| OperationRequest { operation, caller })
            .collect()
    }
}

impl Writer<'_> {
    /// Returns the next batch, once the last one is confirmed. Operations that arrive before that are decided over the writes of
    /// the last batch. Returns none once the queue is closed and empty.
    async fn next(&mut self) -> Option<OpenBatch> {
        let mut next = OpenBatch::default();
        self.queue.begin_batch();
        let left_over = std::mem::take(&mut self.left_over);
        if !left_over.is_empty() {
            self.add(&mut next, left_over).await;
        }
        while self.unconfirmed.is_some() {
            let is_open = self.left_over.is_empty();
            let is_committed = match confirmed_or_taken(self.session, &mut self.queue, is_open).await {
                Either::Left(confirmed) => self.answer(confirmed).await,
                Either::Right(Some(requests)) => {
                    self.add(&mut next, requests).await;
                    continue;
                }
                Either::Right(None) => self.confirm().await,
            };
            if !is_committed {
                next.begun = None;
            }
        }
        if next.operations.is_empty() {
            next.add(take(self.session, &mut self.queue).await?, self.entropy);
        }
        Some(next)
    }

    /// Adds requests to a batch, and decides them if that is possible before the last batch is confirmed. Requests that cannot be
    /// decided together with those before them are left over for the batch after it.
    async fn add(&mut self, next: &mut OpenBatch, requests: Vec<OperationRequest>) {
        let before = next.operations.len();
        next.add(requests, self.entropy);
        if before > 0 && next.begun.is_none() {
            return;
        }
        match self.decide_ahead(next).await {
            Ok(false) if before > 0 => self.left_over = next.split_off(before),
            Ok(_) => {}
            Err(error) => {
                tracing::debug!(%error, "a batch is decided again, once the one before it is confirmed");
                undo(self.session, &mut self.cache).await;
                next.begun = None;
            }
        }
    }

    /// Decides the added operations as far as they need nothing from the server. Returns whether the batch has begun with them.
    async fn decide_ahead(&mut self, next: &mut OpenBatch) -> Result<bool, SqlError> {
        let OpenBatch { operations, begun, .. } = next;
        if let Some(begun) = begun {
            return begun.add(self.session, operations, self.partitions).await;
        }
        *begun = BegunBatch::ahead(self.session, &mut self.cache, operations, self.partitions).await?;
        Ok(begun.is_some())
    }

    /// Commits a decided batch. A batch that cannot be committed is retried or failed, and its callers are answered.
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

    /// Waits until the last batch is confirmed and answers its callers. Returns whether it was committed as decided.
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

    /// Returns the answers to a batch that was not committed. An undone batch is tried again.
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

/// Takes the queued operations. The session is idle while the queue is empty.
async fn take(session: &mut dyn Session, queue: &mut Queue) -> Option<Vec<OperationRequest>> {
    match select(pin!(queue.take()), pin!(session.idle())).await {
        Either::Left((taken, _)) => taken,
        Either::Right(((), taking)) => taking.await,
    }
}

/// Waits until the last commit is confirmed or, if the next batch is open, operations are queued.
async fn confirmed_or_taken(
    session: &mut dyn Session,
    queue: &mut Queue,
    is_open: bool,
) -> Either<Result<(), SqlError>, Option<Vec<OperationRequest>>> {
    if !is_open {
        return Either::Left(session.confirm().await);
    }
    match select(pin!(session.confirm()), pin!(queue.take())).await {
        Either::Left((confirmed, _)) => Either::Left(confirmed),
        Either::Right((taken, _)) => Either::Right(taken),
    }
}

fn send(callers: Vec<Caller>, answers: Vec<Answer<Reply>>) {
    for (caller, answer) in callers.into_iter().zip(answers) {
        // Fails when the caller no longer waits.
        caller.send(answer).ok();
    }
}
