//! The feeds of events on the partitions of the model.

use std::collections::{BTreeMap, VecDeque};

use super::Model;
use crate::backend::snapshot::Snapshot;
use crate::event::{EventCursor, EventRecord, EventsPart, Feed};
use crate::limits;
use crate::rule::change::Change;
use crate::signal::Position;

/// The feeds of all partitions, and their recorded events.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    feeds: BTreeMap<u16, Feed>,
    records: BTreeMap<u16, VecDeque<EventRecord>>,
}

impl Events {
    pub(super) fn feed(&self, partition: u16) -> Option<&Feed> {
        self.feeds.get(&partition)
    }

    /// Writes a feed. A feed that begins anew loses its old records.
    pub(super) fn follow(&mut self, partition: u16, feed: Feed) {
        let before = self.feeds.insert(partition, feed);
        if before.is_some_and(|before| before.since != feed.since) {
            self.records.remove(&partition);
        }
    }

    /// Returns whether the partition records an event of a change.
    pub(super) fn records_event(&self, change: &Change) -> bool {
        let feed = self.feeds.get(&change.after.id.partition());
        change.events.iter().any(|event| feed.is_some_and(|feed| feed.records_at(event.at)))
    }

    /// Records the events of a change while the feed is followed. The oldest beyond the limit are dropped.
    pub(super) fn record(&mut self, change: &Change) {
        if !self.records_event(change) {
            return;
        }
        let records = self.records.entry(change.after.id.partition()).or_default();
        for event in &change.events {
            let position = Position::after(records.back().map(|last| last.position), event.at);
            records.push_back(EventRecord::of(&change.after, event, position));
        }
        let surplus = records.len().saturating_sub(limits::FEED);
        records.drain(..surplus);
    }

    pub(super) fn snapshot(&self, partition: u16, snapshot: &mut Snapshot) {
        snapshot.feed = self.feeds.get(&partition).copied();
        snapshot.events = self.records.get(&partition).into_iter().flatten().cloned().collect();
    }
}

impl Model {
    /// Returns the events of a partition after a cursor, or nothing if its feed was never followed.
    pub fn events(&self, partition: u16, cursor: &EventCursor, limit: usize) -> Option<EventsPart> {
        let (feed, nothing) = (*self.events.feeds.get(&partition)?, VecDeque::new());
        let records = self.events.records.get(&partition).unwrap_or(&nothing);
        Some(EventsPart::of(feed, records.iter(), (partition, cursor), limit))
    }
}
