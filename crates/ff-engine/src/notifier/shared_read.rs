//! One read for all callers that ask the same at the same time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ff_core::backend::Answer;
use tokio::sync::OnceCell;

/// A question that several callers ask. One read of it runs at a time; those who ask while it runs share the next.
pub(super) struct SharedRead<T> {
    running: tokio::sync::Mutex<()>,
    next: Mutex<Arc<OnceCell<Answer<T>>>>,
}

impl<T> Default for SharedRead<T> {
    fn default() -> Self {
        Self { running: tokio::sync::Mutex::default(), next: Mutex::default() }
    }
}

impl<T: Clone> SharedRead<T> {
    /// The answer of a read that begins after this call. One that runs already would miss what its caller has just heard of.
    ///
    /// When the caller that reads is dropped, another one reads in its place.
    pub(super) async fn read<Read: Future<Output = Answer<T>>>(&self, read: impl FnOnce() -> Read) -> Answer<T> {
        let own = self.next().clone();
        let reading = || async {
            let _running = self.running.lock().await;
            *self.next() = Arc::default();
            read().await
        };
        own.get_or_init(reading).await.clone()
    }

    fn next(&self) -> MutexGuard<'_, Arc<OnceCell<Answer<T>>>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures_util::future::join_all;
    use futures_util::{FutureExt, poll};
    use tokio::sync::Semaphore;

    use super::*;

    /// Reads that end when they are let go, and how many have begun.
    struct Reads {
        shared: SharedRead<u32>,
        begun: AtomicU32,
        let_go: Semaphore,
    }

    impl Reads {
        fn new() -> Self {
            Self { shared: SharedRead::default(), begun: AtomicU32::new(0), let_go: Semaphore::new(0) }
        }

        async fn read(&self) -> u32 {
            let read = || async {
                let nth = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
                self.let_go.acquire().await.unwrap().forget();
                Ok(nth)
            };
            self.shared.read(read).await.unwrap()
        }
    }

    #[tokio::test]
    async fn callers_that_come_while_a_read_runs_share_the_next() {
        let reads = Reads::new();
        let mut first = Box::pin(reads.read());
        assert!(poll!(first.as_mut()).is_pending());
        let mut others = Box::pin(join_all((0..100).map(|_| reads.read())));
        assert!(poll!(others.as_mut()).is_pending());
        assert_eq!(reads.begun.load(Ordering::Relaxed), 1, "the others wait for a read that begins after they asked");
        reads.let_go.add_permits(2);
        assert_eq!((first.await, others.await), (1, vec![2; 100]));
    }

    #[tokio::test]
    async fn a_caller_that_goes_leaves_the_read_to_the_others() {
        let reads = Reads::new();
        let mut first = Box::pin(reads.read());
        let mut second = Box::pin(reads.read());
        assert!(poll!(first.as_mut()).is_pending() && poll!(second.as_mut()).is_pending());
        let mut third = Box::pin(reads.read());
        assert!(poll!(third.as_mut()).is_pending());
        drop((first, second));
        reads.let_go.add_permits(1);
        assert_eq!(third.now_or_never(), Some(2));
    }
}
