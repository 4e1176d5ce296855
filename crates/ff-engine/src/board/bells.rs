//! Bells: one per thing somebody waits for, so that news of one thing wakes only those who wait for it.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The bells that somebody listens to, by what they ring for.
pub(crate) struct Bells<K: Clone + Eq + Hash>(Mutex<HashMap<K, Arc<Notify>>>);

impl<K: Clone + Eq + Hash> Default for Bells<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Clone + Eq + Hash> Bells<K> {
    /// Listens for news of `key` until the bell is dropped.
    pub(crate) fn join(&self, key: &K) -> Bell<'_, K> {
        let notify = self.bells().entry(key.clone()).or_default().clone();
        Bell { bells: self, key: key.clone(), notify }
    }

    /// There is news of `key`.
    pub(crate) fn ring(&self, key: &K) {
        if let Some(notify) = self.bells().get(key) {
            notify.notify_waiters();
        }
    }

    /// There may be news of anything.
    pub(crate) fn ring_all(&self) {
        self.bells().values().for_each(|notify| notify.notify_waiters());
    }

    fn bells(&self) -> MutexGuard<'_, HashMap<K, Arc<Notify>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One listener's share of a bell. The last one to go takes the bell down.
pub(crate) struct Bell<'a, K: Clone + Eq + Hash> {
    bells: &'a Bells<K>,
    key: K,
    notify: Arc<Notify>,
}

impl<K: Clone + Eq + Hash> Bell<'_, K> {
    /// Comes when the bell rings after this call, whenever it is awaited.
    pub(crate) fn rung(&self) -> impl Future<Output = ()> {
        self.notify.notified()
    }
}

impl<K: Clone + Eq + Hash> Drop for Bell<'_, K> {
    fn drop(&mut self) {
        let mut bells = self.bells.bells();
        // Shares are handed out under the same lock: two left are this one and the map's own.
        if Arc::strong_count(&self.notify) == 2 {
            bells.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn a_bell_rings_for_its_own_listeners_only_and_loses_no_ring() {
        let bells = Bells::default();
        let (one, two, other) = (bells.join(&1), bells.join(&1), bells.join(&2));
        let (first, second, third) = (one.rung(), two.rung(), other.rung());
        bells.ring(&1);
        assert_eq!(first.now_or_never(), Some(()));
        assert_eq!(second.now_or_never(), Some(()));
        assert_eq!(third.now_or_never(), None);
        let third = other.rung();
        bells.ring_all();
        assert_eq!(third.now_or_never(), Some(()));
    }

    #[test]
    fn nothing_is_left_of_listeners_that_went() {
        let bells = Bells::default();
        let (one, two) = (bells.join(&1), bells.join(&1));
        drop(one);
        assert_eq!(bells.bells().len(), 1);
        drop(two);
        assert_eq!(bells.bells().len(), 0);
    }
}
