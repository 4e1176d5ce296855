//! The writer: takes all that is queued and commits it, until the queue is closed.

use std::pin::pin;

use ff_core::entropy::Entropy;
use ff_core::partition::PartitionConfig;
use futures_util::future::{Either, LocalBoxFuture, select};

use crate::batch::{QueuedOperation, execute};
use crate::batch_state::WriterCache;
use crate::queue::{OperationRequest, Queue};
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

async fn serve(session: &mut dyn Session, mut queue: Queue, partitions: &PartitionConfig, entropy: &dyn Entropy) {
    let mut cache = WriterCache::default();
    while let Some(asked) = take(session, &mut queue).await {
        let take_up =
            |OperationRequest { operation, caller }| (QueuedOperation { operation, nonce: entropy.nonce() }, caller);
        let (batch, callers): (Vec<_>, Vec<_>) = asked.into_iter().map(take_up).unzip();
        let answers = execute(session, &mut cache, &batch, partitions).await;
        for (caller, answer) in callers.into_iter().zip(answers) {
            // Fails when the caller has gone away.
            caller.send(answer).ok();
        }
    }
}

/// Takes what is queued. While there is nothing, the session rests.
async fn take(session: &mut dyn Session, queue: &mut Queue) -> Option<Vec<OperationRequest>> {
    match select(pin!(queue.take()), pin!(session.rest())).await {
        Either::Left((asked, _)) => asked,
        Either::Right(((), taking)) => taking.await,
    }
}
