//! Hints within the process. They cannot be lost on the way; a listener that falls too far behind receives a miss.

use ff_core::backend::hint::{Hint, Hints};
use futures_util::stream;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Maximum number of hints that wait for the slowest listener: more than one bulk submission makes.
const KEPT: usize = 4_096;

/// Sender of the hints of writes to every listener.
pub(crate) struct Announcer(broadcast::Sender<Hint>);

impl Default for Announcer {
    fn default() -> Self {
        Self(broadcast::Sender::new(KEPT))
    }
}

impl Announcer {
    /// Sends the hints of one write, in order. The caller holds the model's lock, so a listener that reads then sees the write.
    pub(crate) fn announce(&self, hints: Vec<Hint>) {
        for hint in hints {
            // Fails when there is no listener.
            self.0.send(hint).ok();
        }
    }

    /// Returns the hints from now on.
    pub(crate) fn listen(&self) -> Hints {
        Box::pin(stream::unfold(self.0.subscribe(), |mut receiver| async move {
            match receiver.recv().await {
                Ok(hint) => Some((hint, receiver)),
                Err(RecvError::Lagged(_)) => Some((Hint::Missed, receiver)),
                Err(RecvError::Closed) => None,
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;

    use ff_core::backend::{EngineStore, Perform};
    use ff_core::contracts::{CancelArgs, SubmitArgs};
    use ff_core::payload::Payload;
    use ff_core::types::{ExecutionId, Kind};
    use futures_util::StreamExt;
    use uuid::Uuid;

    use super::*;
    use crate::MemoryBackend;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_hint_comes_after_the_write_is_visible() {
        const MANY: usize = 500;
        let store = Arc::new(MemoryBackend::default());
        let ended = store.hints().filter_map(async |hint| match hint {
            Hint::Ended { execution_id } => Some(execution_id),
            _ => None,
        });
        let looking = store.clone();
        let listener = tokio::spawn(async move {
            let mut ended = pin!(ended.take(MANY));
            while let Some(id) = ended.next().await {
                looking.result(&id).await.unwrap();
            }
        });
        for _ in 0..MANY {
            let work = SubmitArgs::new(Kind::parse("resize").unwrap(), Payload::json("1"));
            let execution_id = store.submit(work).await.unwrap().execution_id;
            store.cancel(CancelArgs { execution_id, reason: None, requested_by: None }).await.unwrap();
        }
        listener.await.unwrap();
    }

    #[tokio::test]
    async fn a_slow_listener_gets_a_missed_hint_and_continues() {
        let announcer = Announcer::default();
        let mut hints = announcer.listen();
        let ended = |nth: usize| Hint::Ended { execution_id: ExecutionId::new(0, Uuid::from_u128(nth as u128)) };
        announcer.announce((0..=KEPT).map(ended).collect());
        assert_eq!(hints.next().await, Some(Hint::Missed));
        assert_eq!(hints.next().await, Some(ended(1)));
    }

    #[tokio::test]
    async fn hints_end_with_their_store() {
        let store = MemoryBackend::default();
        let mut hints = store.hints();
        drop(store);
        assert_eq!(hints.next().await, None);
    }
}
