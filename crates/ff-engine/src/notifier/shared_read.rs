//! One read for all callers with the same question at the same time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ff_core::backend::Answer;
use ff_core::engine_error::EngineError;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};

/// A question that several callers ask. One read of it runs at a time; callers that ask during a read share the next one.
pub(super) struct SharedRead<T> {
    running: Arc<tokio::sync::Mutex<()>>,
    /// The read that has not begun.
    next: Arc<NextRead<T>>,
}

type NextRead<T> = Mutex<Option<Shared<BoxFuture<'static, Answer<T>>>>>;

impl<T> Default for SharedRead<T> {
    fn default() -> Self {
        Self { running: Arc::default(), next: Arc::default() }
    }
}

impl<T: Clone + Send + Sync + 'static> SharedRead<T> {
    /// Returns the answer of a read that begins after this call. A running read could miss the change that its caller has just
    /// heard of.
    ///
    /// The read is a task, so a caller that is dropped or no longer polled does not delay the others.
    pub(super) async fn read(&self, read: impl Future<Output = Answer<T>> + Send + 'static) -> Answer<T> {
        let answer = lock(&self.next).get_or_insert_with(|| self.begin(read)).clone();
        answer.await
    }

    fn begin(&self, read: impl Future<Output = Answer<T>> + Send + 'static) -> Shared<BoxFuture<'static, Answer<T>>> {
        let (running, next) = (self.running.clone(), self.next.clone());
        let reading = tokio::spawn(async move {
            let _running = running.lock().await;
            lock(&next).take();
            read.await
        });
        let ended = |error| Err(EngineError::Unavailable(format!("a read ended: {error}")));
        reading.map(move |answer| answer.unwrap_or_else(ended)).boxed().shared()
    }
}

fn lock<T>(next: &NextRead<T>) -> MutexGuard<'_, Option<Shared<BoxFuture<'static, Answer<T>>>>> {
    next.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures_util::future::join_all;
    use futures_util::poll;
    use tokio::sync::Semaphore;

    use super::*;

    /// Reads that end on request, with the number of reads that have begun.
    struct Reads {
        shared: SharedRead<u32>,
        begun: Arc<AtomicU32>,
        permits: Arc<Semaphore>,
    }

    impl Reads {
        fn new() -> Self {
            Self { shared: SharedRead::default(), begun: Arc::default(), permits: Arc::new(Semaphore::new(0)) }
        }

        async fn read(&self) -> u32 {
            let (begun, permits) = (self.begun.clone(), self.permits.clone());
            let read = async move {
                let nth = begun.fetch_add(1, Ordering::Relaxed) + 1;
                permits.acquire().await.unwrap().forget();
                Ok(nth)
            };
            self.shared.read(read).await.unwrap()
        }

        /// Lets the tasks run until `count` reads have begun.
        async fn begun(&self, count: u32) {
            while self.begun.load(Ordering::Relaxed) < count {
                tokio::task::yield_now().await;
            }
        }
    }

    #[tokio::test]
    async fn callers_that_come_while_a_read_runs_share_the_next() {
        let reads = Reads::new();
        let mut first = Box::pin(reads.read());
        assert!(poll!(first.as_mut()).is_pending());
        reads.begun(1).await;
        let mut others = Box::pin(join_all((0..100).map(|_| reads.read())));
        assert!(poll!(others.as_mut()).is_pending());
        assert_eq!(reads.begun.load(Ordering::Relaxed), 1, "the others wait for a read that begins after they asked");
        reads.permits.add_permits(2);
        assert_eq!((first.await, others.await), (1, vec![2; 100]));
    }

    #[tokio::test]
    async fn a_caller_that_is_no_longer_polled_holds_up_no_other() {
        let reads = Reads::new();
        let mut first = Box::pin(reads.read());
        assert!(poll!(first.as_mut()).is_pending());
        reads.begun(1).await;
        let mut second = Box::pin(reads.read());
        assert!(poll!(second.as_mut()).is_pending());
        reads.permits.add_permits(2);
        assert_eq!(reads.read().await, 2, "it shares the read of the second");
        drop((first, second));
        reads.permits.add_permits(1);
        assert_eq!(reads.read().await, 3);
    }
}
