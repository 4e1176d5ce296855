//! What a batch tells on the feeds of what happens.

use std::collections::BTreeSet;

use ff_core::change::Change;
use ff_core::event::{EventRecord, Feed};
use ff_core::signal::Position;

use super::WriterCache;

/// What is to be told, in order.
#[derive(Default)]
pub(crate) struct EventBuffer {
    /// When each happened is known; where it stands among others of that moment, the feed decides.
    pub(crate) told: Vec<EventRecord>,
    /// Partitions whose feeds begin anew: what they told before goes.
    pub(crate) anew: BTreeSet<u16>,
    /// Partitions that have something to tell.
    grown: BTreeSet<u16>,
}

impl EventBuffer {
    /// Tells what a change says happened, if somebody follows its partition. Answers whether its readers are to be told of
    /// it: once for all that happens in one commit.
    pub(crate) fn tell(&mut self, cache: &WriterCache, change: &Change) -> bool {
        let partition = change.after.id.partition();
        let Some(Some(feed)) = cache.feeds.find(&partition) else { return false };
        if !change.events.iter().any(|event| feed.tells(event.at)) {
            return false;
        }
        let told = |event| EventRecord::of(&change.after, event, Position { at: event.at, nth: 0 });
        self.told.extend(change.events.iter().map(told));
        self.grown.insert(partition)
    }

    /// Has a feed go on, or begin anew without what it told before.
    pub(crate) fn follow(&mut self, cache: &mut WriterCache, partition: u16, feed: Feed) {
        let before = cache.feeds.find(&partition).flatten();
        if before.is_some_and(|before| before.since != feed.since) {
            self.told.retain(|told| told.execution_id.partition() != partition);
            self.anew.insert(partition);
        }
        cache.feeds.write(partition, feed);
    }
}
