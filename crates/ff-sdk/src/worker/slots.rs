//! Slots for handlers. A handler that has ended frees its slot at once, while its end is still being reported.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use tokio::sync::Notify;

/// Number of executions whose ends may be waiting to be reported, for each slot after the first.
const REPORTS_PER_SLOT: usize = 3;

/// The slots of a worker.
#[derive(Clone)]
pub(super) struct Slots(Arc<State>);

struct State {
    all: usize,
    in_use: AtomicUsize,
    /// Number of slots in use whose handler has not been polled yet.
    unstarted: AtomicUsize,
    freed: Notify,
}

/// A slot in use. Dropping it frees the slot.
pub(super) struct Slot {
    slots: Slots,
    started: bool,
}

impl Slots {
    pub(super) fn new(all: usize) -> Self {
        Self(Arc::new(State { all, in_use: AtomicUsize::new(0), unstarted: AtomicUsize::new(0), freed: Notify::new() }))
    }

    pub(super) fn take(&self) -> Slot {
        self.0.in_use.fetch_add(1, Ordering::SeqCst);
        self.0.unstarted.fetch_add(1, Ordering::SeqCst);
        Slot { slots: self.clone(), started: false }
    }

    /// Returns true while a handler has not been polled yet. Short handlers end at the first poll, so a claim after that asks
    /// for the slots of all of them.
    pub(super) fn has_unstarted(&self) -> bool {
        self.0.unstarted.load(Ordering::SeqCst) > 0
    }

    /// Returns how many more executions may be claimed. `in_hand` counts the running executions and those whose end is being
    /// reported. Their number is bounded too, so that reports do not pile up while the store does not answer. A worker with
    /// one slot reports an end before it claims again.
    pub(super) fn room(&self, in_hand: usize) -> usize {
        let State { all, in_use, .. } = &*self.0;
        let in_hand_at_most = all + REPORTS_PER_SLOT * (all - 1);
        all.saturating_sub(in_use.load(Ordering::SeqCst)).min(in_hand_at_most.saturating_sub(in_hand))
    }

    /// Waits until a slot is freed, or until every handler has been polled.
    pub(super) async fn freed(&self) {
        self.0.freed.notified().await;
    }
}

impl Slot {
    /// Runs a handler in this slot.
    pub(super) async fn hold<T>(mut self, handler: impl Future<Output = T>) -> T {
        let mut handler = pin!(handler);
        match futures_util::poll!(handler.as_mut()) {
            Poll::Ready(end) => end,
            Poll::Pending => {
                self.note_start();
                handler.await
            }
        }
    }

    fn note_start(&mut self) {
        let state = &self.slots.0;
        if !std::mem::replace(&mut self.started, true) && state.unstarted.fetch_sub(1, Ordering::SeqCst) == 1 {
            state.freed.notify_one();
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.0.in_use.fetch_sub(1, Ordering::SeqCst);
        self.note_start();
        self.slots.0.freed.notify_one();
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
        assert_eq!((slots.room(3), slots.freed().now_or_never()), (0, None));
        drop(taken);
        assert_eq!((slots.room(3), slots.freed().now_or_never()), (3, Some(())));
        assert_eq!((slots.room(8), slots.room(9), slots.room(0)), (1, 0, 3));
    }

    #[test]
    fn handlers_have_all_run_once_before_there_is_a_claim() {
        let slots = Slots::new(2);
        let mut short = Box::pin(slots.take().hold(async {}));
        let mut long = Box::pin(slots.take().hold(std::future::pending::<()>()));
        assert!(slots.has_unstarted());
        assert_eq!(short.as_mut().now_or_never(), Some(()));
        drop(short);
        assert_eq!((slots.room(2), slots.has_unstarted()), (1, true));
        assert_eq!(slots.freed().now_or_never(), Some(()));
        assert_eq!(long.as_mut().now_or_never(), None);
        assert_eq!((slots.freed().now_or_never(), slots.has_unstarted()), (Some(()), false));
    }

    #[test]
    fn a_handler_that_is_never_run_leaves_its_slot() {
        let slots = Slots::new(2);
        drop(slots.take().hold(async {}));
        assert_eq!((slots.room(0), slots.has_unstarted()), (2, false));
    }

    #[test]
    fn a_worker_of_one_slot_does_one_thing_after_the_other() {
        let slots = Slots::new(1);
        drop(slots.take());
        assert_eq!((slots.room(1), slots.room(0)), (0, 1));
    }
}
