//! Feeds as tables: the newest entries of each partition, ordered by time. One table has deliveries, one has events.

use std::collections::BTreeMap;

use ff_core::limits;
use ff_core::signal::Position;
use ff_core::types::TimestampMs;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Table;
use super::record;
use super::schema::{DELIVERY, EVENT};
use super::value::{Row, Value};
use crate::error::SqlError;
use crate::queries::{DELIVERIES_FIRST, DELIVERIES_FROM, DELIVERIES_LAST, EVENTS_FIRST, EVENTS_FROM, EVENTS_LAST};
use crate::session::{Key, Put, Read, Session, delete_all};

/// The deliveries.
pub(crate) static DELIVERIES: FeedTable =
    FeedTable { table: &DELIVERY, last: DELIVERIES_LAST, first: DELIVERIES_FIRST, from: DELIVERIES_FROM };

/// The events.
pub(crate) static EVENTS: FeedTable =
    FeedTable { table: &EVENT, last: EVENTS_LAST, first: EVENTS_FIRST, from: EVENTS_FROM };

/// The table of one kind of feed, and its queries.
pub(crate) struct FeedTable {
    table: &'static Table,
    last: &'static str,
    first: &'static str,
    from: &'static str,
}

/// The position of an entry, and the number of entries that its feed has had up to it.
#[derive(Clone, Copy)]
pub(crate) struct EntryPosition {
    pub(crate) position: Position,
    seq: i64,
}

impl EntryPosition {
    fn of(row: &Row) -> Result<Self, SqlError> {
        Ok(Self { position: position(row)?, seq: row.int(2)? })
    }

    /// Returns whether the feed that ends here is full, so that older entries may have been trimmed.
    pub(crate) fn is_full(&self) -> bool {
        self.seq >= feed_limit()
    }
}

/// An entry to append: its partition, its time and its value. The feed sets the position among entries of the same time.
pub(crate) type Entry<'t, T> = (u16, TimestampMs, &'t T);

impl FeedTable {
    /// Returns the last position of these partitions' feeds, without the empty feeds.
    pub(crate) async fn ends(
        &self,
        reader: &mut dyn Read,
        partitions: impl Iterator<Item = u16>,
    ) -> Result<BTreeMap<u16, EntryPosition>, SqlError> {
        let partitions: Vec<_> = partitions.collect();
        let parameters: Vec<_> = partitions.iter().map(|partition| vec![(*partition).into()]).collect();
        let rows = reader.query(self.last, &parameters).await?;
        let last = partitions.into_iter().zip(rows);
        let found = last.filter_map(|(partition, rows)| Some((partition, rows.into_iter().next()?)));
        found.map(|(partition, row)| Ok((partition, EntryPosition::of(&row)?))).collect()
    }

    /// Returns the first positions of some feeds, up to the limit given for each.
    pub(crate) async fn beginnings(
        &self,
        reader: &mut dyn Read,
        feeds: &[(u16, usize)],
    ) -> Result<Vec<Vec<EntryPosition>>, SqlError> {
        let parameters = |(partition, limit): &(u16, usize)| vec![(*partition).into(), Value::number(*limit)];
        let rows = reader.query(self.first, &feeds.iter().map(parameters).collect::<Vec<_>>()).await?;
        rows.iter().map(|rows| rows.iter().map(EntryPosition::of).collect()).collect()
    }

    /// Reads the entries of feeds from a position on, at most `limit` of each, oldest first. The position of an entry comes from
    /// its columns, because readers order by them.
    pub(crate) async fn read<T: DeserializeOwned>(
        &self,
        reader: &mut dyn Read,
        feeds: &[(u16, Position)],
        limit: usize,
        placed: impl Fn(T, Position) -> T,
    ) -> Result<Vec<(u16, Vec<T>)>, SqlError> {
        let parameters = |(partition, from): &(u16, Position)| {
            vec![(*partition).into(), from.at.into(), Value::number(from.nth), Value::number(limit)]
        };
        let found = reader.query(self.from, &feeds.iter().map(parameters).collect::<Vec<_>>()).await?;
        let entry = |row: &Row| Ok(placed(record::read(row.text(2)?)?, position(row)?));
        let read = |rows: Vec<Row>| rows.iter().map(entry).collect::<Result<_, SqlError>>();
        feeds.iter().zip(found).map(|((partition, _), rows)| Ok((*partition, read(rows)?))).collect()
    }

    /// Appends entries to the feeds of their partitions, in order, and trims the feeds.
    pub(crate) async fn append<T: Serialize>(
        &self,
        session: &mut dyn Session,
        entries: &[Entry<'_, T>],
        placed: impl Fn(&T, Position) -> T,
    ) -> Result<(), SqlError> {
        let mut grown: BTreeMap<u16, usize> = BTreeMap::new();
        entries.iter().for_each(|(partition, ..)| *grown.entry(*partition).or_default() += 1);
        if grown.is_empty() {
            return Ok(());
        }
        let mut ends = self.ends(session, grown.keys().copied()).await?;
        let mut rows = Vec::with_capacity(entries.len());
        for (partition, at, what) in entries {
            let last = ends.get(partition);
            let position = Position::after(last.map(|last| last.position), *at);
            let place = EntryPosition { position, seq: last.map_or(0, |last| last.seq) + 1 };
            let values = [place.seq.into(), record::written(&placed(what, position))?];
            rows.push(Put::under(key_at(*partition, position), values));
            ends.insert(*partition, place);
        }
        session.put(self.table, rows).await?;
        self.trim(session, &grown.into_iter().collect::<Vec<_>>(), &ends).await
    }

    /// Deletes all entries of these feeds.
    pub(crate) async fn wipe(
        &self,
        session: &mut dyn Session,
        partitions: impl Iterator<Item = u16>,
    ) -> Result<(), SqlError> {
        let keys: Vec<_> = partitions.map(|partition| vec![partition.into()]).collect();
        delete_all(session, self.table, keys).await.map(drop)
    }

    /// Trims feeds, each given with the number of appended entries. A feed has at most that many surplus entries, and none before
    /// it has reached its limit.
    async fn trim(
        &self,
        session: &mut dyn Session,
        grown: &[(u16, usize)],
        ends: &BTreeMap<u16, EntryPosition>,
    ) -> Result<(), SqlError> {
        let surplus = |partition: &u16| ends.get(partition).map_or(0, |last| last.seq - feed_limit());
        let long: Vec<_> = grown.iter().copied().filter(|(partition, _)| surplus(partition) > 0).collect();
        let mut keys = Vec::new();
        for ((partition, _), first) in long.iter().zip(self.beginnings(session, &long).await?) {
            let gone = first.into_iter().filter(|place| place.seq <= surplus(partition));
            keys.extend(gone.map(|place| key_at(*partition, place.position)));
        }
        delete_all(session, self.table, keys).await.map(drop)
    }
}

/// Reads a position from the first columns of a row.
fn position(row: &Row) -> Result<Position, SqlError> {
    Ok(Position { at: row.moment(0)?, nth: row.count(1)? })
}

fn key_at(partition: u16, position: Position) -> Key {
    vec![partition.into(), position.at.into(), Value::number(position.nth)]
}

fn feed_limit() -> i64 {
    i64::try_from(limits::FEED).unwrap_or(i64::MAX)
}
