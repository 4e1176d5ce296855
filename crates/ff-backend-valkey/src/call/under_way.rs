//! The calls that are under way on each primary.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// The address of a primary; none for a single server.
type Address = Option<(String, u16)>;

/// The calls under way, by primary.
#[derive(Default)]
pub(crate) struct CallsUnderWay(Mutex<HashMap<Address, Arc<PrimaryCalls>>>);

impl CallsUnderWay {
    /// Returns the calls under way on a primary.
    pub(crate) fn on(&self, primary: Address) -> Arc<PrimaryCalls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(primary).or_default().clone()
    }
}

/// The calls under way on one primary.
#[derive(Default)]
pub(crate) struct PrimaryCalls {
    count: AtomicUsize,
    answered: Notify,
}

impl PrimaryCalls {
    /// Counts a call as under way until the returned value is dropped.
    pub(crate) fn begin(self: Arc<Self>) -> CallUnderWay {
        self.count.fetch_add(1, Ordering::SeqCst);
        CallUnderWay(self)
    }

    /// Waits until one of the calls under way is answered. Returns at once if there are none.
    pub(crate) async fn next_answer(&self) {
        let mut answered = pin!(self.answered.notified());
        // Registered before the count is read, so that no answer in between is missed.
        answered.as_mut().enable();
        if self.count.load(Ordering::SeqCst) > 0 {
            answered.await;
        }
    }
}

/// A call that is under way.
pub(crate) struct CallUnderWay(Arc<PrimaryCalls>);

impl Drop for CallUnderWay {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::SeqCst);
        self.0.answered.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_wait_ends_with_the_first_answer_on_the_same_primary() {
        let calls = CallsUnderWay::default();
        let (primary, other) = (calls.on(Some(("one".into(), 1))), calls.on(None));
        assert!(primary.next_answer().now_or_never().is_some(), "nothing is under way");
        let (first, second) = (primary.clone().begin(), primary.clone().begin());
        let mut waiting = pin!(primary.next_answer());
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(other.begin());
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(first);
        assert!(waiting.as_mut().now_or_never().is_some(), "the second is still under way");
        drop(second);
        assert!(primary.next_answer().now_or_never().is_some());
    }
}
