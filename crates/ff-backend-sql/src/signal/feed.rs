//! The feeds of delivered signals: one of each partition, the newest entries kept.

use std::collections::BTreeMap;

use ff_core::limits;
use ff_core::signal::{Delivery, Position};

use crate::desk::NewSignal;
use crate::error::SqlError;
use crate::queries::{FEED_FIRST, FEED_LAST};
use crate::record;
use crate::schema::DELIVERY;
use crate::session::{Key, Put, Read, Session};
use crate::value::{Row, Value};

/// Where an entry of a feed stands, and how many the feed had told with it.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) position: Position,
    pub(super) seq: i64,
}

impl Place {
    fn of(row: &Row) -> Result<Self, SqlError> {
        Ok(Self { position: position(row)?, seq: row.int(2)? })
    }

    /// Whether the feed that ends here is full, so that it may have lost what was before its first.
    pub(super) fn is_full(&self) -> bool {
        self.seq >= kept()
    }
}

/// A position, from the first columns of a row.
pub(super) fn position(row: &Row) -> Result<Position, SqlError> {
    let unlike = |_| SqlError::Unreadable("a place in a feed is below zero".into());
    Ok(Position { at: row.moment(0)?, nth: u64::try_from(row.int(1)?).map_err(unlike)? })
}

/// Where the feeds of these partitions end; nothing of those that have none.
pub(super) async fn ends<R: Read>(
    reader: &mut R,
    partitions: impl Iterator<Item = u16>,
) -> Result<BTreeMap<u16, Place>, SqlError> {
    let partitions: Vec<_> = partitions.collect();
    let parameters: Vec<_> = partitions.iter().map(|partition| vec![(*partition).into()]).collect();
    let rows = reader.query(FEED_LAST, &parameters).await?;
    let found =
        partitions.into_iter().zip(rows).filter_map(|(partition, rows)| Some((partition, rows.into_iter().next()?)));
    found.map(|(partition, row)| Ok((partition, Place::of(&row)?))).collect()
}

/// The first entries of some feeds, so many of each.
pub(super) async fn beginnings<R: Read>(reader: &mut R, feeds: &[(u16, usize)]) -> Result<Vec<Vec<Place>>, SqlError> {
    let parameters = |(partition, limit): &(u16, usize)| {
        vec![(*partition).into(), Value::Int(i64::try_from(*limit).unwrap_or(i64::MAX))]
    };
    let rows = reader.query(FEED_FIRST, &feeds.iter().map(parameters).collect::<Vec<_>>()).await?;
    rows.iter().map(|rows| rows.iter().map(Place::of).collect()).collect()
}

/// Tells of signals in the feeds of their partitions, in order, and deletes what that pushes out.
pub(crate) async fn tell<S: Session>(session: &mut S, signals: &[NewSignal]) -> Result<(), SqlError> {
    let mut feeds: BTreeMap<u16, Vec<&Delivery>> = BTreeMap::new();
    for new in signals {
        feeds.entry(new.delivery.execution_id.partition()).or_default().push(&new.delivery);
    }
    if feeds.is_empty() {
        return Ok(());
    }
    let mut ends = ends(session, feeds.keys().copied()).await?;
    let mut rows = Vec::with_capacity(signals.len());
    for (partition, told) in &feeds {
        for delivery in told {
            let last = ends.get(partition);
            let position = Position::after(last.map(|last| last.position), delivery.position.at);
            let place = Place { position, seq: last.map_or(0, |last| last.seq) + 1 };
            rows.push(entry_of(*partition, place, delivery)?);
            ends.insert(*partition, place);
        }
    }
    session.put(&DELIVERY, &rows).await?;
    trim(session, &feeds.into_iter().map(|(partition, told)| (partition, told.len())).collect::<Vec<_>>(), &ends).await
}

fn entry_of(partition: u16, place: Place, delivery: &Delivery) -> Result<Put, SqlError> {
    let mut values = key_at(partition, place.position);
    values.push(place.seq.into());
    values.push(record::written(&Delivery { position: place.position, ..delivery.clone() })?);
    Ok(Put::whole(values))
}

/// Deletes what feeds that grew by so many have too many. A feed has at most as many of them as it grew by, and none before
/// it has told its limit.
async fn trim<S: Session>(
    session: &mut S,
    grown: &[(u16, usize)],
    ends: &BTreeMap<u16, Place>,
) -> Result<(), SqlError> {
    let surplus = |partition: &u16| ends.get(partition).map_or(0, |last| last.seq - kept());
    let long: Vec<_> = grown.iter().copied().filter(|(partition, _)| surplus(partition) > 0).collect();
    if long.is_empty() {
        return Ok(());
    }
    let mut keys = Vec::new();
    for ((partition, _), first) in long.iter().zip(beginnings(session, &long).await?) {
        let gone = first.into_iter().filter(|place| place.seq <= surplus(partition));
        keys.extend(gone.map(|place| key_at(*partition, place.position)));
    }
    session.delete(&DELIVERY, &keys).await
}

fn key_at(partition: u16, position: Position) -> Key {
    vec![partition.into(), position.at.into(), Value::Int(i64::try_from(position.nth).unwrap_or(i64::MAX))]
}

fn kept() -> i64 {
    i64::try_from(limits::FEED).unwrap_or(i64::MAX)
}
