//! The domain of events: the feeds that are followed, and the recorded events.

use std::collections::BTreeMap;

use async_trait::async_trait;
use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{EventsArgs, EventsPage, FollowArgs};
use ff_core::event::{EventCursor, EventRecord, EventsPart, Feed, follow};
use ff_core::partition::PartitionConfig;
use ff_core::signal::Position;

use crate::batch_state::EventBuffer;
use crate::error::SqlError;
use crate::queries::FEEDS;
use crate::session::{Put, Question, Read, Session};
use crate::table::feed::{EVENTS, EntryPosition};
use crate::table::value::Row;
use crate::{Driver, ReadContext, SqlStore};

/// Returns the row with the time span in which a partition records events.
pub(crate) fn feed_of(partition: u16, feed: &Feed) -> Put {
    Put::whole(vec![partition.into(), feed.since.into(), feed.until.into()])
}

/// Records events in order and restarts lapsed feeds. Returns whether there were any events.
pub(crate) async fn record_events(session: &mut dyn Session, events: &EventBuffer) -> Result<bool, SqlError> {
    EVENTS.wipe(session, events.anew.iter().copied()).await?;
    let records = events.records.iter();
    let entries: Vec<_> = records.map(|record| (record.execution_id.partition(), record.position.at, record)).collect();
    EVENTS.append(session, &entries, |record, position| EventRecord { position, ..record.clone() }).await?;
    Ok(!entries.is_empty())
}

/// The question for the time span in which each partition records events.
pub(crate) struct ReadFeeds;

#[async_trait]
impl Question for ReadFeeds {
    type Answer = BTreeMap<u16, Feed>;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<BTreeMap<u16, Feed>> {
        Ok(feeds(reader, &at.partitions).await?)
    }
}

impl<D: Driver> Handle<EventsArgs, EventsPage> for SqlStore<D> {
    async fn handle(&self, args: EventsArgs) -> Answer<EventsPage> {
        args.check_for_store()?;
        let partitions = args.partitions(&self.partitions())?;
        let (feeds, now) = (self.read(ReadFeeds).await?, self.driver().now().await?);
        // Usually an earlier reader has extended every feed.
        let lapsing = partitions.filter(|of| follow(feeds.get(of), now).is_some());
        let follow = lapsing.map(|partition| FollowArgs { partition }).collect();
        self.writer().ask_each(follow).await.into_iter().try_for_each(|answer| answer.map(drop))?;
        self.read(ReadEvents(args)).await
    }
}

/// The question for the events after a cursor, on feeds that are followed.
pub(crate) struct ReadEvents(pub EventsArgs);

#[async_trait]
impl Question for ReadEvents {
    type Answer = EventsPage;

    const IS_TIMED: bool = true;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<EventsPage> {
        let (partitions, limit) = (self.0.partitions(&at.partitions)?, self.0.limit);
        let Some(after) = self.0.after.clone() else {
            let next = EventCursor { from: at.now, ..EventCursor::default() };
            return Ok(EventsPage { events: vec![], next, missed: false });
        };
        let mut feeds = feeds(reader, &at.partitions).await?;
        feeds.retain(|partition, _| partitions.contains(partition));
        let ends = EVENTS.ends(reader, feeds.keys().copied()).await?;
        // A reader at the end of a feed has missed nothing of it, so nothing has to be loaded.
        let unread = ends.iter().filter(|(partition, last)| after.place(**partition) <= last.position);
        let unread: Vec<_> = unread.map(|(partition, last)| (*partition, *last)).collect();
        let trimmed = trimmed(reader, &unread, &after).await?;
        let from: Vec<_> = unread.iter().map(|(partition, _)| (*partition, after.place(*partition))).collect();
        let mut records: BTreeMap<_, _> = read_events(reader, &from, limit).await?.into_iter().collect();
        let part = |(partition, feed): (u16, Feed)| {
            let events = records.remove(&partition).unwrap_or_default();
            (partition, EventsPart { events, trimmed: trimmed.contains(&partition), since: feed.since })
        };
        let parts: Vec<_> = feeds.into_iter().map(part).collect();
        Ok(EventsPage::merge(after, parts, |record| self.0.wants(record), limit))
    }
}

/// Returns the events of feeds from a position on, at most `limit` of each, oldest first.
pub(crate) async fn read_events(
    reader: &mut dyn Read,
    from: &[(u16, Position)],
    limit: usize,
) -> Result<Vec<(u16, Vec<EventRecord>)>, SqlError> {
    EVENTS.read(reader, from, limit, |record: EventRecord, position| EventRecord { position, ..record }).await
}

/// Returns the feeds that trimmed events before their reader saw them. Only a full feed trims.
async fn trimmed(
    reader: &mut dyn Read,
    unread: &[(u16, EntryPosition)],
    after: &EventCursor,
) -> Result<Vec<u16>, SqlError> {
    let full: Vec<_> = unread.iter().filter(|(_, last)| last.is_full()).map(|(partition, _)| (*partition, 1)).collect();
    let first = EVENTS.beginnings(reader, &full).await?;
    let unseen = |((partition, _), first): (&(u16, usize), &Vec<EntryPosition>)| {
        first.iter().any(|first| after.place(*partition) <= first.position).then_some(*partition)
    };
    Ok(full.iter().zip(&first).filter_map(unseen).collect())
}

async fn feeds(reader: &mut dyn Read, partitions: &PartitionConfig) -> Result<BTreeMap<u16, Feed>, SqlError> {
    let rows = reader.query(FEEDS, &[vec![partitions.num_flow_partitions.into()]]).await?;
    let feed = |row: &Row| Ok((row.partition(0)?, Feed { since: row.moment(1)?, until: row.moment(2)? }));
    rows.iter().flatten().map(feed).collect()
}
