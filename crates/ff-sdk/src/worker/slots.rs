//! Room for handlers. A handler that has ended leaves its slot at once, while its end is still being reported.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// How many ends may be on their way for each slot but one.
const REPORTED: usize = 3;

/// The slots of a worker.
#[derive(Clone)]
pub(super) struct Slots(Arc<State>);

struct State {
    all: usize,
    taken: AtomicUsize,
    left: Notify,
}

/// A slot that is taken until it is dropped.
pub(super) struct Slot(Slots);

impl Slots {
    pub(super) fn new(all: usize) -> Self {
        Self(Arc::new(State { all, taken: AtomicUsize::new(0), left: Notify::new() }))
    }

    pub(super) fn take(&self) -> Slot {
        self.0.taken.fetch_add(1, Ordering::SeqCst);
        Slot(self.clone())
    }

    /// How many more executions may be taken when so many are in hand, those being reported included. Their number is
    /// bounded too: a store that does not answer must not be given ever more to say. A worker of one slot does one thing
    /// after the other.
    pub(super) fn room(&self, in_hand: usize) -> usize {
        let State { all, taken, .. } = &*self.0;
        let in_hand_at_most = all + REPORTED * (all - 1);
        all.saturating_sub(taken.load(Ordering::SeqCst)).min(in_hand_at_most.saturating_sub(in_hand))
    }

    /// Comes when a slot was left.
    pub(super) async fn left(&self) {
        self.0.left.notified().await;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.0.taken.fetch_sub(1, Ordering::SeqCst);
        self.0.0.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn a_slot_is_free_while_its_end_is_being_reported() {
        let slots = Slots::new(3);
        let taken: Vec<_> = (0..3).map(|_| slots.take()).collect();
        assert_eq!((slots.room(3), slots.left().now_or_never()), (0, None));
        drop(taken);
        assert_eq!((slots.room(3), slots.left().now_or_never()), (3, Some(())));
        assert_eq!((slots.room(8), slots.room(9), slots.room(0)), (1, 0, 3));
    }

    #[test]
    fn a_worker_of_one_slot_does_one_thing_after_the_other() {
        let slots = Slots::new(1);
        drop(slots.take());
        assert_eq!((slots.room(1), slots.room(0)), (0, 1));
    }
}
