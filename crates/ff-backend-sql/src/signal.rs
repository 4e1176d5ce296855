//! The domain of signals: signals and deliveries as rows, and their queries.

use std::collections::BTreeMap;

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::contracts::{DeliveriesArgs, DeliveriesPage, ReceivedSignal, SignalsArgs, SignalsPage};
use ff_core::engine_error::Code;
use ff_core::operation::query::ReadSignal;
use ff_core::signal::{Delivery, FeedCursor, FeedPart, Position, SignalKeyEntry};
use ff_core::types::{ExecutionId, IdempotencyKey, SignalId, TimestampMs, WaitpointId};

use crate::ReadContext;
use crate::batch_state::NewSignal;
use crate::error::SqlError;
use crate::execution::{body_values, found, read_body_at};
use crate::queries::SIGNALS_PAGE;
use crate::session::{Key, Put, Question, Read, Session, key_of, longer};
use crate::table::feed::{DELIVERIES, EntryPosition};
use crate::table::record;
use crate::table::schema::SIGNAL;
use crate::table::value::{Row, Value};

/// Returns the key of a signal's row.
pub(crate) fn key_of_signal(id: &ExecutionId, signal: &SignalId) -> Key {
    longer(key_of(id), [Value::Uuid(*signal.as_uuid())])
}

/// Returns the row of a signal, with its payload.
pub(crate) fn signal_of(new: &NewSignal) -> Result<Put, SqlError> {
    let (signal, payload) = (&new.recorded.signal, new.recorded.payload.as_ref());
    let [content_type, bytes] = payload.map_or([Value::Null, Value::Null], body_values);
    let values = [Value::Int(new.nth.into()), record::written(signal)?, content_type, bytes];
    Ok(Put::under(key_of_signal(&signal.execution_id, &signal.id), values))
}

/// Reads a signal from the first columns of a row: its record and, if it was selected, its payload.
pub(crate) fn read_signal(row: &Row) -> Result<ReceivedSignal, SqlError> {
    let signal = record::read(row.text(0)?)?;
    let payload = match row.values().get(1) {
        None | Some(Value::Null) => None,
        Some(_) => Some(read_body_at(row, 1)?),
    };
    Ok(ReceivedSignal { signal, payload })
}

/// Returns the key of the row of a signal's idempotency key.
pub(crate) fn key_of_signal_key(id: &ExecutionId, waitpoint: &WaitpointId, key: &IdempotencyKey) -> Key {
    longer(key_of(id), [Value::Uuid(*waitpoint.as_uuid()), key.as_str().into()])
}

/// Returns the row of a signal's idempotency key.
pub(crate) fn signal_key_of(entry: &SignalKeyEntry) -> Put {
    let key = key_of_signal_key(&entry.execution_id, &entry.waitpoint_id, &entry.key);
    Put::under(key, [Value::Uuid(*entry.signal_id.as_uuid()), entry.until.into()])
}

/// Reads the entry of an idempotency key from the columns `signal_id` and `until`, beginning at `from`.
pub(crate) fn read_signal_key(
    execution_id: ExecutionId,
    waitpoint_id: WaitpointId,
    key: IdempotencyKey,
    row: &Row,
    from: usize,
) -> Result<SignalKeyEntry, SqlError> {
    let (signal_id, until) = (SignalId::from_uuid(row.uuid(from)?), row.moment(from + 1)?);
    Ok(SignalKeyEntry { execution_id, waitpoint_id, key, signal_id, until })
}

#[async_trait]
impl Question for SignalsArgs {
    type Answer = SignalsPage;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<SignalsPage> {
        let SignalsArgs { execution_id, skip, limit } = self;
        found(reader, &execution_id).await?;
        // Signals are numbered without gaps, so the page begins at the number `skip`. One more signal than a page tells whether
        // another page follows.
        let parameters = [key_of(&execution_id), vec![Value::number(skip), Value::number(limit + 1)]].concat();
        let rows: Vec<_> = reader.query(SIGNALS_PAGE, &[parameters]).await?.into_iter().flatten().collect();
        let next = (rows.len() > limit).then(|| skip.saturating_add(limit));
        let signals = rows.iter().take(limit).map(|row| record::read(row.text(0)?));
        Ok(SignalsPage { signals: signals.collect::<Result<_, SqlError>>()?, next })
    }
}

#[async_trait]
impl Question for ReadSignal {
    type Answer = ReceivedSignal;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<ReceivedSignal> {
        found(reader, &self.execution_id).await?;
        let wanted = SIGNAL.named(&["record", "content_type", "bytes"]);
        let rows = reader.load(&SIGNAL, wanted, &[key_of_signal(&self.execution_id, &self.signal_id)]).await?;
        let row = rows.into_iter().flatten().next().ok_or(Code::NotFound)?;
        Ok(read_signal(&row)?)
    }
}

#[async_trait]
impl Question for DeliveriesArgs {
    type Answer = DeliveriesPage;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<DeliveriesPage> {
        let mut ends = DELIVERIES.ends(reader, 0..at.partitions.num_flow_partitions).await?;
        let Some(after) = self.after else {
            let next = FeedCursor(ends.into_iter().map(|(partition, last)| (partition, last.position)).collect());
            return Ok(DeliveriesPage { deliveries: vec![], next, missed: false });
        };
        // A reader at the end of a feed has missed nothing of it, so nothing has to be loaded.
        ends.retain(|partition, last| after.0.get(partition).is_none_or(|reached| *reached < last.position));
        let missed = missed(reader, &ends, &after).await?;
        let unread = unread(reader, ends.keys().copied().collect(), &after, self.limit).await?;
        let parts = unread.into_iter().map(|(partition, deliveries)| (partition, FeedPart { deliveries, missed }));
        Ok(DeliveriesPage::merge(after, parts, self.limit))
    }
}

/// Appends signals to the feeds of their partitions, in order.
pub(crate) async fn record_deliveries(session: &mut dyn Session, signals: &[NewSignal]) -> Result<(), SqlError> {
    let deliveries = signals.iter().map(|new| &new.delivery);
    let entries: Vec<_> =
        deliveries.map(|delivery| (delivery.execution_id.partition(), delivery.position.at, delivery)).collect();
    DELIVERIES.append(session, &entries, |delivery, position| placed(delivery.clone(), position)).await
}

/// Returns the deliveries of these partitions after a cursor, at most `limit` of each, oldest first.
pub(crate) async fn unread(
    reader: &mut dyn Read,
    partitions: Vec<u16>,
    after: &FeedCursor,
    limit: usize,
) -> Result<Vec<(u16, Vec<Delivery>)>, SqlError> {
    let start = Position { at: TimestampMs(i64::MIN), nth: 0 };
    let next = |last: &Position| Position { nth: last.nth.saturating_add(1), ..*last };
    let from = |partition: u16| (partition, after.0.get(&partition).map_or(start, next));
    let feeds: Vec<_> = partitions.into_iter().map(from).collect();
    DELIVERIES.read(reader, &feeds, limit, placed).await
}

/// Returns whether a feed trimmed deliveries before its reader saw them. Only a full feed trims.
async fn missed(
    reader: &mut dyn Read,
    ends: &BTreeMap<u16, EntryPosition>,
    after: &FeedCursor,
) -> Result<bool, SqlError> {
    let full: Vec<_> = ends.iter().filter(|(_, last)| last.is_full()).map(|(partition, _)| (*partition, 1)).collect();
    let first = DELIVERIES.beginnings(reader, &full).await?;
    let unseen = |(partition, first): (&(u16, usize), &Vec<EntryPosition>)| {
        let reached = after.0.get(&partition.0);
        first.iter().any(|first| reached.is_none_or(|reached| *reached < first.position))
    };
    Ok(full.iter().zip(&first).any(unseen))
}

fn placed(delivery: Delivery, position: Position) -> Delivery {
    Delivery { position, ..delivery }
}
