//! Reading what was delivered, over the feeds of all partitions.

use std::collections::BTreeMap;

use ff_core::backend::Answer;
use ff_core::contracts::{DeliveriesArgs, DeliveriesPage};
use ff_core::partition::PartitionConfig;
use ff_core::signal::{Delivery, FeedCursor, FeedPart, Position};
use ff_core::types::TimestampMs;

use super::feed::{Place, beginnings, ends, position};
use crate::error::SqlError;
use crate::queries::FEED_AFTER;
use crate::record;
use crate::session::{Question, Read};
use crate::value::{Row, Value};

/// What was delivered since a cursor.
pub struct ReadDeliveries {
    /// Since when, and how many.
    pub args: DeliveriesArgs,
    /// The partitions there are.
    pub partitions: PartitionConfig,
}

impl Question for ReadDeliveries {
    type Answer = DeliveriesPage;

    async fn ask<R: Read>(self, reader: &mut R) -> Answer<DeliveriesPage> {
        let mut ends = ends(reader, 0..self.partitions.num_flow_partitions).await?;
        let Some(after) = self.args.after else {
            let next = FeedCursor(ends.into_iter().map(|(partition, last)| (partition, last.position)).collect());
            return Ok(DeliveriesPage { deliveries: vec![], next, missed: false });
        };
        // Who has read to the end of a feed has missed nothing of it, and there is nothing to look for.
        ends.retain(|partition, last| after.0.get(partition).is_none_or(|reached| *reached < last.position));
        let missed = missed(reader, &ends, &after).await?;
        let unread = unread(reader, ends.keys().copied().collect(), &after, self.args.limit).await?;
        let parts = unread.into_iter().map(|(partition, deliveries)| (partition, FeedPart { deliveries, missed }));
        Ok(DeliveriesPage::merge(after, parts, self.args.limit))
    }
}

/// Whether some feed has lost what its reader never saw. Only a full one has lost anything.
async fn missed<R: Read>(reader: &mut R, ends: &BTreeMap<u16, Place>, after: &FeedCursor) -> Result<bool, SqlError> {
    let full: Vec<_> = ends.iter().filter(|(_, last)| last.is_full()).map(|(partition, _)| (*partition, 1)).collect();
    if full.is_empty() {
        return Ok(false);
    }
    let first = beginnings(reader, &full).await?;
    let unseen = |(partition, first): (&(u16, usize), &Vec<Place>)| {
        let reached = after.0.get(&partition.0);
        first.iter().any(|first| reached.is_none_or(|reached| *reached < first.position))
    };
    Ok(full.iter().zip(&first).any(unseen))
}

/// What the feeds of these partitions have after a cursor, at most so many of each, oldest first.
pub(crate) async fn unread<R: Read>(
    reader: &mut R,
    partitions: Vec<u16>,
    after: &FeedCursor,
    limit: usize,
) -> Result<Vec<(u16, Vec<Delivery>)>, SqlError> {
    if partitions.is_empty() {
        return Ok(Vec::new());
    }
    let start = Position { at: TimestampMs(i64::MIN), nth: 0 };
    let parameters = |partition: &u16| {
        let reached = after.0.get(partition).copied().unwrap_or(start);
        let nth = i64::try_from(reached.nth).unwrap_or(i64::MAX);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        vec![(*partition).into(), reached.at.into(), nth.into(), Value::Int(limit)]
    };
    let found = reader.query(FEED_AFTER, &partitions.iter().map(parameters).collect::<Vec<_>>()).await?;
    let read = |rows: Vec<Row>| rows.iter().map(delivery).collect::<Result<_, _>>();
    partitions.into_iter().zip(found).map(|(partition, rows)| Ok((partition, read(rows)?))).collect()
}

/// An entry of a feed. It stands where its columns say, since readers go by those.
fn delivery(row: &Row) -> Result<Delivery, SqlError> {
    Ok(Delivery { position: position(row)?, ..record::read(row.text(2)?)? })
}
