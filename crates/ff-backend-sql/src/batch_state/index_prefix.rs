//! The beginning of an index: as stored, and with the changes of a batch.

/// The first members of a stored index.
pub(crate) struct IndexPrefix<T> {
    first: Vec<T>,
    limit: usize,
    /// The last loaded member: later members are not known. None if the store has no more members.
    horizon: Option<T>,
}

impl<T: Ord + Clone> IndexPrefix<T> {
    /// Creates the prefix from the members that a store returned for `limit`, from one index or from several together.
    pub(crate) fn new(mut first: Vec<T>, limit: usize) -> Self {
        let is_whole = first.len() < limit;
        first.sort_unstable();
        first.truncate(limit);
        let horizon = first.last().filter(|_| !is_whole).cloned();
        Self { first, limit, horizon }
    }

    /// Returns the prefix of an index that is empty in the store.
    pub(crate) fn empty() -> Self {
        Self::new(Vec::new(), 1)
    }

    /// Returns whether it has all members of the stored index.
    pub(crate) fn is_whole(&self) -> bool {
        self.horizon.is_none()
    }

    /// Returns whether it has no members although the store may have some.
    pub(crate) fn is_used_up(&self) -> bool {
        self.first.is_empty() && !self.is_whole()
    }

    /// Removes members that changed and adds those that `entered`, all of them stored by now. The prefix stays complete up to its
    /// horizon, or as a whole if it has none.
    pub(crate) fn settle(&mut self, changed: impl Fn(&T) -> bool, entered: impl IntoIterator<Item = T>) {
        let entered = entered.into_iter().filter(|member| is_within(self.horizon.as_ref(), member));
        self.first.retain(|member| !changed(member));
        self.first.extend(entered);
        self.first.sort_unstable();
        self.limit = self.first.len() + 1;
    }

    /// Returns the limit it was loaded with or, after `settle`, one more than its members.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Returns its members, in order.
    pub(crate) fn members(&self) -> impl ExactSizeIterator<Item = &T> {
        self.first.iter()
    }

    /// Returns the first `limit` members without the changed ones and with those that `entered`. Returns none if the prefix is
    /// too short: unknown members of the store may come before those that entered.
    pub(crate) fn first(
        &self,
        limit: usize,
        changed: impl Fn(&T) -> bool,
        entered: impl Iterator<Item = T>,
    ) -> Option<Vec<T>> {
        let entered = entered.filter(|member| is_within(self.horizon.as_ref(), member));
        let stayed = self.first.iter().filter(|member| !changed(member)).cloned();
        let mut first: Vec<_> = stayed.chain(entered).collect();
        first.sort_unstable();
        first.truncate(limit);
        (self.is_whole() || first.len() == limit).then_some(first)
    }
}

fn is_within<T: Ord>(horizon: Option<&T>, member: &T) -> bool {
    horizon.is_none_or(|horizon| member <= horizon)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(list: &[u32], count: usize, limit: usize, gone: &[u32], entered: &[u32]) -> Option<Vec<u32>> {
        let list = IndexPrefix::new(list.to_vec(), count);
        list.first(limit, |member| gone.contains(member), entered.iter().copied())
    }

    #[test]
    fn removed_entries_leave_the_prefix_and_added_ones_enter_in_order() {
        assert_eq!(first(&[1, 3, 5], 9, 3, &[3], &[2, 7]), Some(vec![1, 2, 5]));
        assert_eq!(first(&[1, 3, 5], 9, 9, &[], &[7]), Some(vec![1, 3, 5, 7]));
        assert_eq!(first(&[], 9, 2, &[], &[4]), Some(vec![4]));
    }

    #[test]
    fn a_list_that_is_whole_stays_so() {
        let mut list = IndexPrefix::new(vec![1, 3, 5], 4);
        list.settle(|member| *member == 3, [7, 2]);
        assert!(list.is_whole());
        assert_eq!(list.first(9, |_| false, [].into_iter()), Some(vec![1, 2, 5, 7]));
        assert!(!IndexPrefix::new(vec![1, 3, 5], 3).is_whole(), "the store may have more");
    }

    #[test]
    fn of_a_list_cut_short_all_is_known_up_to_its_last() {
        let mut list = IndexPrefix::new(vec![1, 3, 5], 3);
        list.settle(|member| *member == 5, [4, 7]);
        let first = |list: &IndexPrefix<_>, limit| list.first(limit, |_| false, [].into_iter());
        assert_eq!((first(&list, 3), first(&list, 4)), (Some(vec![1, 3, 4]), None));
        assert_eq!(list.first(4, |_| false, [5, 6].into_iter()), Some(vec![1, 3, 4, 5]), "and the last was 5");
        list.settle(|_| true, []);
        assert!(list.is_used_up() && !IndexPrefix::<u32>::empty().is_used_up());
    }

    #[test]
    fn a_list_cut_short_does_not_vouch_for_what_comes_after_it() {
        assert_eq!(first(&[1, 3], 2, 2, &[], &[]), Some(vec![1, 3]));
        assert_eq!(first(&[1, 3], 2, 2, &[1], &[]), None, "the store may have more");
        assert_eq!(first(&[1, 3], 2, 2, &[1], &[2]), Some(vec![2, 3]));
        assert_eq!(first(&[1, 3], 2, 2, &[1], &[7]), None, "the store may have one before it");
        assert_eq!(first(&[1], 2, 2, &[1], &[7]), Some(vec![7]), "the store has no more");
    }
}
