//! Records of one kind: as stored, and as changed by a batch.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::Hash;

/// The stored state of a key: a record, none, or the reason why it is unreadable.
pub(crate) type StoredRecord<T> = Result<Option<T>, String>;

/// Records by key.
pub(crate) struct RecordSet<K, T> {
    stored: HashMap<K, StoredRecord<T>>,
    /// Changed records; none for a deleted record.
    touched: BTreeMap<K, Option<T>>,
}

impl<K: Eq + Hash + Ord, T> RecordSet<K, T> {
    /// Loads the stored record of a key, unless it is loaded already: all reads of a batch see one snapshot.
    pub(crate) fn lay(&mut self, key: K, stored: StoredRecord<T>) {
        self.stored.entry(key).or_insert(stored);
    }

    /// Returns whether the stored record of a key is loaded.
    pub(crate) fn has(&self, key: &K) -> bool {
        self.stored.contains_key(key)
    }

    /// Writes a record.
    pub(crate) fn write(&mut self, key: K, record: T) {
        self.touched.insert(key, Some(record));
    }

    /// Deletes a record.
    pub(crate) fn remove(&mut self, key: K) {
        self.touched.insert(key, None);
    }

    /// Deletes all records of these keys, loaded or not.
    pub(crate) fn forget(&mut self, is_one: impl Fn(&K) -> bool) {
        self.touched.retain(|key, _| !is_one(key));
        self.stored.iter_mut().filter(|(key, _)| is_one(key)).for_each(|(_, stored)| *stored = Ok(None));
    }

    /// Turns the changed records into stored ones, once they are stored.
    pub(crate) fn settle(&mut self) {
        let touched = std::mem::take(&mut self.touched);
        self.stored.extend(touched.into_iter().map(|(key, record)| (key, Ok(record))));
    }

    /// Keeps only the stored records for which `stays` is true.
    pub(crate) fn retain(&mut self, stays: impl Fn(&K, &T) -> bool) {
        self.stored.retain(|key, stored| matches!(stored, Ok(Some(record)) if stays(key, record)));
    }

    /// Returns the number of loaded keys.
    pub(crate) fn len(&self) -> usize {
        self.stored.len()
    }

    /// Returns the record of a key with the batch's changes; none if it was not loaded or is unreadable.
    pub(crate) fn find(&self, key: &K) -> Option<Option<&T>> {
        match (self.touched.get(key), self.stored.get(key)) {
            (Some(touched), _) => Some(touched.as_ref()),
            (None, Some(Ok(stored))) => Some(stored.as_ref()),
            (None, Some(Err(_)) | None) => None,
        }
    }

    /// Returns the stored record of a key.
    pub(crate) fn stored(&self, key: &K) -> Option<&T> {
        self.stored.get(key)?.as_ref().ok()?.as_ref()
    }

    /// Returns the name of a record and why its stored form is unreadable, if it is.
    pub(crate) fn unreadable(&self, key: &K, name: fmt::Arguments<'_>) -> Option<String> {
        Some(format!("{name}: {}", self.stored.get(key)?.as_ref().err()?))
    }

    /// Returns whether a record was written or deleted.
    pub(crate) fn is_touched(&self, key: &K) -> bool {
        self.touched.contains_key(key)
    }

    /// Returns every record that was written or deleted, by key.
    pub(crate) fn touched(&self) -> impl Iterator<Item = (&K, Option<&T>)> {
        self.touched.iter().map(|(key, record)| (key, record.as_ref()))
    }

    /// Returns every record to write, by key: those that differ from the stored ones.
    pub(crate) fn written(&self) -> impl Iterator<Item = (&K, &T)>
    where
        T: PartialEq,
    {
        let written = self.touched.iter().filter_map(|(key, record)| Some((key, record.as_ref()?)));
        written.filter(|(key, record)| self.stored(key) != Some(record))
    }

    /// Returns every key whose stored record is to be deleted.
    pub(crate) fn removed(&self) -> impl Iterator<Item = &K> {
        let removed = self.touched.iter().filter(|(_, record)| record.is_none()).map(|(key, _)| key);
        removed.filter(|key| self.stored(key).is_some())
    }
}

impl<K, T> Default for RecordSet<K, T> {
    fn default() -> Self {
        Self { stored: HashMap::new(), touched: BTreeMap::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_record_hides_the_stored_one() {
        let mut records = RecordSet::default();
        records.lay(1, Ok(Some("stored")));
        records.lay(2, Ok(None));
        assert_eq!((records.find(&1), records.find(&2), records.find(&3)), (Some(Some(&"stored")), Some(None), None));
        records.write(1, "written");
        records.lay(1, Ok(Some("stored")));
        assert_eq!(records.find(&1), Some(Some(&"written")));
        assert_eq!(records.written().collect::<Vec<_>>(), [(&1, &"written")]);
    }

    #[test]
    fn an_unchanged_record_is_not_written_and_an_absent_one_not_deleted() {
        let mut records = RecordSet::default();
        records.lay(1, Ok(Some("stored")));
        records.lay(2, Ok(Some("stored")));
        records.write(1, "written");
        records.write(1, "stored");
        records.remove(2);
        records.write(3, "written");
        records.remove(3);
        assert_eq!((records.find(&2), records.find(&3)), (Some(None), Some(None)));
        assert_eq!(records.written().count(), 0);
        assert_eq!(records.removed().collect::<Vec<_>>(), [&2]);
    }

    #[test]
    fn settled_records_become_the_stored_ones() {
        let mut records = RecordSet::default();
        records.lay(1, Ok(Some("stored")));
        records.write(1, "written");
        records.settle();
        assert_eq!((records.written().count(), records.stored(&1), records.len()), (0, Some(&"written"), 1));
    }

    #[test]
    fn a_forgotten_record_is_neither_written_nor_found() {
        let mut records = RecordSet::default();
        records.lay(1, Ok(Some("stored")));
        records.write(2, "written");
        records.write(3, "another's");
        records.forget(|key| *key < 3);
        assert_eq!((records.find(&1), records.find(&2)), (Some(None), None));
        assert_eq!(records.written().collect::<Vec<_>>(), [(&3, &"another's")]);
    }

    #[test]
    fn an_unreadable_record_is_not_taken_for_a_missing_one() {
        let mut records = RecordSet::<_, ()>::default();
        records.lay(1, Err("torn".into()));
        assert_eq!(records.find(&1), None);
        assert_eq!(records.unreadable(&1, format_args!("one")).as_deref(), Some("one: torn"));
        assert_eq!(records.unreadable(&2, format_args!("two")), None);
    }
}
