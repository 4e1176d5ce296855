//! Values that callers with the same key share, such as a notification: a change wakes only the callers that wait for it.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Values that callers share, by key. By default the value is a notification.
pub(crate) struct WaitSet<K: Clone + Eq + Hash, V = Notify>(Mutex<HashMap<K, Arc<V>>>);

impl<K: Clone + Eq + Hash, V> Default for WaitSet<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Clone + Eq + Hash, V: Default> WaitSet<K, V> {
    /// Shares the value of `key` until the entry is dropped.
    pub(crate) fn join(&self, key: &K) -> WaitEntry<'_, K, V> {
        let shared = self.wait_set().entry(key.clone()).or_default().clone();
        WaitEntry { wait_set: self, key: key.clone(), shared }
    }
}

impl<K: Clone + Eq + Hash> WaitSet<K> {
    /// Wakes the callers that wait for `key`.
    pub(crate) fn wake(&self, key: &K) {
        if let Some(notify) = self.wait_set().get(key) {
            notify.notify_waiters();
        }
    }

    /// Wakes all callers.
    pub(crate) fn wake_all(&self) {
        self.wait_set().values().for_each(|notify| notify.notify_waiters());
    }
}

impl<K: Clone + Eq + Hash, V> WaitSet<K, V> {
    fn wait_set(&self) -> MutexGuard<'_, HashMap<K, Arc<V>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One caller's entry. The last entry of a key removes the key.
pub(crate) struct WaitEntry<'a, K: Clone + Eq + Hash, V = Notify> {
    wait_set: &'a WaitSet<K, V>,
    key: K,
    pub(crate) shared: Arc<V>,
}

impl<K: Clone + Eq + Hash> WaitEntry<'_, K> {
    /// Completes when the key changes after this call, whenever it is awaited.
    pub(crate) fn changed(&self) -> impl Future<Output = ()> {
        self.shared.notified()
    }
}

impl<K: Clone + Eq + Hash, V> Drop for WaitEntry<'_, K, V> {
    fn drop(&mut self) {
        let mut wait_set = self.wait_set.wait_set();
        // Entries are created under the same lock: if two references are left, they are this one and the map's own.
        if Arc::strong_count(&self.shared) == 2 {
            wait_set.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_change_wakes_the_callers_of_its_key_only_and_none_is_lost() {
        let wait_set = WaitSet::<i32>::default();
        let (one, two, other) = (wait_set.join(&1), wait_set.join(&1), wait_set.join(&2));
        let (first, second, third) = (one.changed(), two.changed(), other.changed());
        wait_set.wake(&1);
        assert_eq!(first.now_or_never(), Some(()));
        assert_eq!(second.now_or_never(), Some(()));
        assert_eq!(third.now_or_never(), None);
        let third = other.changed();
        wait_set.wake_all();
        assert_eq!(third.now_or_never(), Some(()));
    }

    #[test]
    fn nothing_is_left_of_callers_that_went() {
        let wait_set = WaitSet::<i32>::default();
        let (one, two) = (wait_set.join(&1), wait_set.join(&1));
        drop(one);
        assert_eq!(wait_set.wait_set().len(), 1);
        drop(two);
        assert_eq!(wait_set.wait_set().len(), 0);
    }
}
