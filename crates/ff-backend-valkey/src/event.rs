//! The domain of events, on Valkey.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{EventsArgs, EventsPage, FollowArgs};
use ff_core::engine_error::EngineError;
use ff_core::event::{EventCursor, Feed};
use ff_script::event::{FeedEntries, ff_read_events, ff_read_feed};
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::ValkeyBackend;

/// Maximum number of partitions asked at the same time.
const AT_ONCE: usize = 64;

impl Handle<EventsArgs, EventsPage> for ValkeyBackend {
    async fn handle(&self, args: EventsArgs) -> Answer<EventsPage> {
        args.check_for_store()?;
        let followed = self.followed(&args).await?;
        let Some(after) = args.after.clone() else {
            // Every partition records its events from the latest of these times on.
            let from = followed.iter().map(|(_, followed)| followed.now).max().unwrap_or_default();
            let next = EventCursor { from, ..EventCursor::default() };
            return Ok(EventsPage { events: vec![], next, missed: false });
        };
        let parts = followed.into_iter().map(|(partition, followed)| (partition, followed.part));
        Ok(EventsPage::merge(after, parts, |event| args.wants(event), args.limit))
    }
}

impl ValkeyBackend {
    /// Reads the events of the requested partitions after a cursor. Reading keeps their feeds recording.
    async fn followed(&self, args: &EventsArgs) -> Answer<Vec<(u16, FeedEntries)>> {
        let part = |partition| async move {
            let place = args.after.as_ref().map(|after| after.place(partition));
            Answer::Ok((partition, ff_read_events(&*self.calls, partition, place, args.limit, true).await?))
        };
        stream::iter(args.partitions(&self.partitions)?).map(part).buffered(AT_ONCE).try_collect().await
    }
}

impl Handle<FollowArgs, Feed> for ValkeyBackend {
    async fn handle(&self, FollowArgs { partition }: FollowArgs) -> Answer<Feed> {
        ff_read_events(&*self.calls, partition, None, 1, false).await?;
        let (feed, _) = ff_read_feed(&*self.calls, partition, None, 1).await?;
        feed.ok_or_else(|| EngineError::Corrupt(format!("partition {partition} has lost its feed")))
    }
}
