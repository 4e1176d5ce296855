//! Records of one kind: as stored, and as a batch has them written.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// What a store had under a key: a record, none, or something that cannot be read.
pub(crate) type Stored<T> = Result<Option<T>, String>;

/// Records under their keys.
pub(crate) struct Shelf<K, T> {
    stored: HashMap<K, Stored<T>>,
    written: BTreeMap<K, T>,
}

impl<K: Eq + Hash + Ord, T> Shelf<K, T> {
    /// Puts what the store has under a key on the shelf. What is there already is as fresh: a batch reads one moment.
    pub(crate) fn lay(&mut self, key: K, stored: Stored<T>) {
        self.stored.entry(key).or_insert(stored);
    }

    /// Takes up a record as it is to be.
    pub(crate) fn write(&mut self, key: K, record: T) {
        self.written.insert(key, record);
    }

    /// What is under a key; nothing is known when it was not loaded, or cannot be read.
    pub(crate) fn find(&self, key: &K) -> Option<Option<&T>> {
        match (self.written.get(key), self.stored.get(key)) {
            (Some(written), _) => Some(Some(written)),
            (None, Some(Ok(stored))) => Some(stored.as_ref()),
            (None, Some(Err(_)) | None) => None,
        }
    }

    /// Why what is stored under a key cannot be read.
    pub(crate) fn unreadable(&self, key: &K) -> Option<&String> {
        self.stored.get(key)?.as_ref().err()
    }

    /// Every record that is to be written, by key.
    pub(crate) fn written(&self) -> impl Iterator<Item = (&K, &T)> {
        self.written.iter()
    }
}

impl<K, T> Default for Shelf<K, T> {
    fn default() -> Self {
        Self { stored: HashMap::new(), written: BTreeMap::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_hides_what_was_stored() {
        let mut shelf = Shelf::default();
        shelf.lay(1, Ok(Some("stored")));
        shelf.lay(2, Ok(None));
        assert_eq!((shelf.find(&1), shelf.find(&2), shelf.find(&3)), (Some(Some(&"stored")), Some(None), None));
        shelf.write(1, "written");
        shelf.lay(1, Ok(Some("stored")));
        assert_eq!(shelf.find(&1), Some(Some(&"written")));
        assert_eq!(shelf.written().collect::<Vec<_>>(), [(&1, &"written")]);
    }

    #[test]
    fn what_cannot_be_read_is_not_taken_for_nothing() {
        let mut shelf = Shelf::<_, ()>::default();
        shelf.lay(1, Err("torn".into()));
        assert_eq!(shelf.find(&1), None);
        assert_eq!(shelf.unreadable(&1).map(String::as_str), Some("torn"));
        assert_eq!(shelf.unreadable(&2), None);
    }
}
