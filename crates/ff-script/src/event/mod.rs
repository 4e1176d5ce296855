//! The functions of event feeds.

use ff_core::event::{EventRecord, EventsPart, Feed};
use ff_core::signal::Position;
use ff_core::types::TimestampMs;

use crate::execution::{counted_from, index_keys, moment};
use crate::record::{Hash, event_record};
use crate::server::ask;
use crate::signature::{ReadEvents, ReadFeed};
use crate::{Fields, ScriptError, Server};

/// A page of a partition's feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedEntries {
    /// The time of the read.
    pub now: TimestampMs,
    pub part: EventsPart,
}

/// Reads the events of a partition from a position on, or none without a position. Reading follows the feed. `waits`
/// requests a hint when there is more.
pub async fn ff_read_events(
    server: &dyn Server,
    partition: u16,
    from: Option<Position>,
    limit: usize,
    waits: bool,
) -> Result<FeedEntries, ScriptError> {
    let read = ReadEvents {
        events: events_key(partition),
        from_at: from.map(|place| moment(place.at)),
        from_nth: from.map(|place| counted_from(place.nth)),
        limit: limit as u64,
        waits,
    };
    let mut fields = ask(server, read.call()).await?;
    let (now, since) = (TimestampMs(fields.read()?), TimestampMs(fields.read()?));
    let trimmed = fields.maybe_text()?.is_some();
    Ok(FeedEntries { now, part: EventsPart { events: entries(&mut fields)?, trimmed, since } })
}

/// Returns the stored feed of a partition: the start and end of its recording, and its events after a position.
pub async fn ff_read_feed(
    server: &dyn Server,
    partition: u16,
    after: Option<Position>,
    limit: usize,
) -> Result<(Option<Feed>, Vec<EventRecord>), ScriptError> {
    let read =
        ReadFeed { events: events_key(partition), after: after.map(|place| place.to_string()), limit: limit as u64 };
    let mut fields = ask(server, read.call()).await?;
    let span = fields.maybe_read()?.zip(fields.maybe_read()?);
    let feed = span.map(|(since, until)| Feed { since: TimestampMs(since), until: TimestampMs(until) });
    Ok((feed, entries(&mut fields)?))
}

fn entries(fields: &mut Fields) -> Result<Vec<EventRecord>, ScriptError> {
    fields.rows(|entry| event_record(entry.read()?, &Hash::parse(entry.list()?)?))
}

fn events_key(partition: u16) -> String {
    index_keys(partition).partition_events()
}
