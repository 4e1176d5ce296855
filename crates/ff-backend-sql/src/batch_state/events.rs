//! The events that a batch records.

use std::collections::BTreeSet;

use ff_core::event::{EventRecord, Feed};
use ff_core::rule::change::Change;
use ff_core::signal::Position;

use super::WriterCache;

/// Events to record, in order.
#[derive(Default)]
pub(crate) struct EventBuffer {
    /// The events with their times. The feed sets the position among events of the same time.
    pub(crate) records: Vec<EventRecord>,
    /// Partitions whose feeds restart: their old records are deleted.
    pub(crate) anew: BTreeSet<u16>,
    /// Partitions with new events.
    grown: BTreeSet<u16>,
}

impl EventBuffer {
    /// Adds the events of a change, if its partition is followed. Returns whether the readers of the feed need a hint: one for
    /// all events of a commit.
    pub(crate) fn record(&mut self, cache: &WriterCache, change: &Change) -> bool {
        let partition = change.after.id.partition();
        let Some(Some(feed)) = cache.feeds.find(&partition) else { return false };
        if !change.events.iter().any(|event| feed.records_at(event.at)) {
            return false;
        }
        let record = |event| EventRecord::of(&change.after, event, Position { at: event.at, nth: 0 });
        self.records.extend(change.events.iter().map(record));
        self.grown.insert(partition)
    }

    /// Extends a feed, or restarts it without its old records.
    pub(crate) fn follow(&mut self, cache: &mut WriterCache, partition: u16, feed: Feed) {
        let before = cache.feeds.find(&partition).flatten();
        if before.is_some_and(|before| before.since != feed.since) {
            self.records.retain(|record| record.execution_id.partition() != partition);
            self.anew.insert(partition);
        }
        cache.feeds.write(partition, feed);
    }
}
