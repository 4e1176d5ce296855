//! The feeds of what happens on the partitions of the model.

use std::collections::{BTreeMap, VecDeque};

use crate::change::Change;
use crate::event::{EventCursor, EventRecord, EventsPart, Feed};
use crate::limits;
use crate::signal::Position;
use crate::snapshot::Snapshot;

/// What is told, and where.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    feeds: BTreeMap<u16, Feed>,
    told: BTreeMap<u16, VecDeque<EventRecord>>,
}

impl Events {
    pub(super) fn feed(&self, partition: u16) -> Option<&Feed> {
        self.feeds.get(&partition)
    }

    /// Has a feed go on, or begin anew without what it told before.
    pub(super) fn follow(&mut self, partition: u16, feed: Feed) {
        let before = self.feeds.insert(partition, feed);
        if before.is_some_and(|before| before.since != feed.since) {
            self.told.remove(&partition);
        }
    }

    /// Whether a partition tells what a change says happened.
    pub(super) fn tells(&self, change: &Change) -> bool {
        let feed = self.feeds.get(&change.after.id.partition());
        change.events.iter().any(|event| feed.is_some_and(|feed| feed.tells(event.at)))
    }

    /// Tells what happened, where somebody follows. The feed forgets its oldest past a number.
    pub(super) fn tell(&mut self, change: &Change) {
        if !self.tells(change) {
            return;
        }
        let told = self.told.entry(change.after.id.partition()).or_default();
        for event in &change.events {
            let position = Position::after(told.back().map(|last| last.position), event.at);
            told.push_back(EventRecord::of(&change.after, event, position));
        }
        let surplus = told.len().saturating_sub(limits::FEED);
        told.drain(..surplus);
    }

    /// The next of a partition's feed; none when nobody ever followed it.
    pub(super) fn part(&self, partition: u16, cursor: &EventCursor, limit: usize) -> Option<EventsPart> {
        let (feed, nothing) = (*self.feeds.get(&partition)?, VecDeque::new());
        let told = self.told.get(&partition).unwrap_or(&nothing);
        Some(EventsPart::of(feed, told.iter(), (partition, cursor), limit))
    }

    pub(super) fn snapshot(&self, partition: u16, snapshot: &mut Snapshot) {
        snapshot.feed = self.feeds.get(&partition).copied();
        snapshot.told = self.told.get(&partition).into_iter().flatten().cloned().collect();
    }
}
