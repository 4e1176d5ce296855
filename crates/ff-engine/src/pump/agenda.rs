//! Known due times, by partition.

use std::collections::{BTreeSet, HashMap};

use ff_core::types::TimestampMs;

/// The earliest known due time of each partition. A partition being pumped is set aside; due times noted meanwhile count after the
/// pump.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    due_times: BTreeSet<(TimestampMs, u16)>,
    by_partition: HashMap<u16, TimestampMs>,
    aside: HashMap<u16, TimestampMs>,
}

impl Agenda {
    /// Notes a due time of a partition. Keeps only the earliest, because the pump's answer has the next one.
    pub(crate) fn note(&mut self, partition: u16, at: TimestampMs) {
        match self.by_partition.get(&partition) {
            Some(known) if *known <= at => return,
            Some(known) => self.due_times.remove(&(*known, partition)),
            None => false,
        };
        self.due_times.insert((at, partition));
        self.by_partition.insert(partition, at);
    }

    /// Drops the due times of all other partitions.
    pub(crate) fn retain(&mut self, partitions: &BTreeSet<u16>) {
        self.due_times.retain(|(_, partition)| partitions.contains(partition));
        self.by_partition.retain(|partition, _| partitions.contains(partition));
    }

    /// Returns the next due time of the partitions that are not set aside.
    pub(crate) fn earliest(&self) -> Option<TimestampMs> {
        self.first().map(|(at, _)| at)
    }

    /// Takes the partition that has been due the longest, and sets it aside to be pumped.
    pub(crate) fn take_due(&mut self, now: TimestampMs) -> Option<u16> {
        let (at, partition) = self.first().filter(|(at, _)| *at <= now)?;
        self.due_times.remove(&(at, partition));
        self.by_partition.remove(&partition);
        self.aside.insert(partition, at);
        Some(partition)
    }

    /// Ends the pump of a partition.
    pub(crate) fn give_back(&mut self, partition: u16) {
        self.aside.remove(&partition);
    }

    /// Returns the earliest due time not handled yet, including partitions being pumped.
    pub(crate) fn pending_since(&self) -> Option<TimestampMs> {
        let first = self.due_times.first().map(|(at, _)| *at);
        first.into_iter().chain(self.aside.values().copied()).min()
    }

    fn first(&self) -> Option<(TimestampMs, u16)> {
        // Few partitions are set aside at once, so the search skips few.
        self.due_times.iter().find(|(_, partition)| !self.aside.contains_key(partition)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> TimestampMs {
        TimestampMs(ms)
    }

    #[test]
    fn the_agenda_keeps_the_earliest_due_time_of_a_partition() {
        let mut agenda = Agenda::default();
        for ms in [30, 10, 20] {
            agenda.note(1, at(ms));
        }
        assert_eq!(agenda.earliest(), Some(at(10)));
        assert_eq!(agenda.take_due(at(9)), None);
        assert_eq!(agenda.take_due(at(10)), Some(1));
        assert_eq!(agenda.earliest(), None);
    }

    #[test]
    fn the_partition_due_longest_is_taken_first() {
        let mut agenda = Agenda::default();
        agenda.note(1, at(30));
        agenda.note(2, at(10));
        agenda.note(3, at(20));
        let order: Vec<_> = std::iter::from_fn(|| agenda.take_due(at(30))).collect();
        assert_eq!(order, [2, 3, 1]);
    }

    #[test]
    fn a_hint_during_a_pump_is_kept_until_the_pump_is_through() {
        let mut agenda = Agenda::default();
        agenda.note(1, at(10));
        assert_eq!(agenda.take_due(at(10)), Some(1));
        agenda.note(1, at(15));
        assert_eq!(agenda.pending_since(), Some(at(10)), "what is being pumped is not through");
        agenda.note(1, at(5));
        agenda.note(2, at(50));
        assert_eq!(agenda.earliest(), Some(at(50)));
        assert_eq!(agenda.take_due(at(10)), None);
        agenda.give_back(1);
        assert_eq!(agenda.pending_since(), Some(at(5)));
        assert_eq!(agenda.take_due(at(10)), Some(1));
    }
}
