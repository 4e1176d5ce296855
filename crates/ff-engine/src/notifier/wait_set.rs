//! Bells: one per thing somebody waits for, so that news of one thing wakes only those who wait for it.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The bells that somebody listens to, by what they ring for.
pub(crate) struct WaitSet<K: Clone + Eq + Hash>(Mutex<HashMap<K, Arc<Notify>>>);

impl<K: Clone + Eq + Hash> Default for WaitSet<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Clone + Eq + Hash> WaitSet<K> {
    /// Listens for news of `key` until the bell is dropped.
    pub(crate) fn join(&self, key: &K) -> WaitEntry<'_, K> {
        let notify = self.wait_set().entry(key.clone()).or_default().clone();
        WaitEntry { wait_set: self, key: key.clone(), notify }
    }

    /// There is news of `key`.
    pub(crate) fn ring(&self, key: &K) {
        if let Some(notify) = self.wait_set().get(key) {
            notify.notify_waiters();
        }
    }

    /// There may be news of anything.
    pub(crate) fn ring_all(&self) {
        self.wait_set().values().for_each(|notify| notify.notify_waiters());
    }

    fn wait_set(&self) -> MutexGuard<'_, HashMap<K, Arc<Notify>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One listener's share of a bell. The last one to go takes the bell down.
pub(crate) struct WaitEntry<'a, K: Clone + Eq + Hash> {
    wait_set: &'a WaitSet<K>,
    key: K,
    notify: Arc<Notify>,
}

impl<K: Clone + Eq + Hash> WaitEntry<'_, K> {
    /// Comes when the bell rings after this call, whenever it is awaited.
    pub(crate) fn rung(&self) -> impl Future<Output = ()> {
        self.notify.notified()
    }
}

impl<K: Clone + Eq + Hash> Drop for WaitEntry<'_, K> {
    fn drop(&mut self) {
        let mut wait_set = self.wait_set.wait_set();
        // Shares are handed out under the same lock: two left are this one and the map's own.
        if Arc::strong_count(&self.notify) == 2 {
            wait_set.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_bell_rings_for_its_own_listeners_only_and_loses_no_ring() {
        let wait_set = WaitSet::default();
        let (one, two, other) = (wait_set.join(&1), wait_set.join(&1), wait_set.join(&2));
        let (first, second, third) = (one.rung(), two.rung(), other.rung());
        wait_set.ring(&1);
        assert_eq!(first.now_or_never(), Some(()));
        assert_eq!(second.now_or_never(), Some(()));
        assert_eq!(third.now_or_never(), None);
        let third = other.rung();
        wait_set.ring_all();
        assert_eq!(third.now_or_never(), Some(()));
    }

    #[test]
    fn nothing_is_left_of_listeners_that_went() {
        let wait_set = WaitSet::default();
        let (one, two) = (wait_set.join(&1), wait_set.join(&1));
        drop(one);
        assert_eq!(wait_set.wait_set().len(), 1);
        drop(two);
        assert_eq!(wait_set.wait_set().len(), 0);
    }
}
