//! The feeds of delivered signals: telling of them, and reading them over all partitions.

use std::collections::BTreeMap;

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::contracts::{DeliveriesArgs, DeliveriesPage};
use ff_core::signal::{Delivery, FeedCursor, FeedPart, Position};
use ff_core::types::TimestampMs;

use crate::ReadContext;
use crate::desk::NewSignal;
use crate::error::SqlError;
use crate::session::{Question, Read, Session};
use crate::tape::{DELIVERIES, Place};

#[async_trait]
impl Question for DeliveriesArgs {
    type Answer = DeliveriesPage;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<DeliveriesPage> {
        let mut ends = DELIVERIES.ends(reader, 0..at.partitions.num_flow_partitions).await?;
        let Some(after) = self.after else {
            let next = FeedCursor(ends.into_iter().map(|(partition, last)| (partition, last.position)).collect());
            return Ok(DeliveriesPage { deliveries: vec![], next, missed: false });
        };
        // Who has read to the end of a feed has missed nothing of it, and there is nothing to look for.
        ends.retain(|partition, last| after.0.get(partition).is_none_or(|reached| *reached < last.position));
        let missed = missed(reader, &ends, &after).await?;
        let unread = unread(reader, ends.keys().copied().collect(), &after, self.limit).await?;
        let parts = unread.into_iter().map(|(partition, deliveries)| (partition, FeedPart { deliveries, missed }));
        Ok(DeliveriesPage::merge(after, parts, self.limit))
    }
}

/// Tells of signals in the feeds of their partitions, in order.
pub(crate) async fn tell(session: &mut dyn Session, signals: &[NewSignal]) -> Result<(), SqlError> {
    let told = signals.iter().map(|new| &new.delivery);
    let entries: Vec<_> = told.map(|told| (told.execution_id.partition(), told.position.at, told)).collect();
    DELIVERIES.tell(session, &entries, |delivery, position| placed(delivery.clone(), position)).await
}

/// What the feeds of these partitions have after a cursor, at most so many of each, oldest first.
pub(crate) async fn unread(
    reader: &mut dyn Read,
    partitions: Vec<u16>,
    after: &FeedCursor,
    limit: usize,
) -> Result<Vec<(u16, Vec<Delivery>)>, SqlError> {
    let start = Position { at: TimestampMs(i64::MIN), nth: 0 };
    let next = |last: &Position| Position { nth: last.nth.saturating_add(1), ..*last };
    let from = |partition: u16| (partition, after.0.get(&partition).map_or(start, next));
    let tapes: Vec<_> = partitions.into_iter().map(from).collect();
    DELIVERIES.read(reader, &tapes, limit, placed).await
}

/// Whether some feed has lost what its reader never saw. Only a full one has lost anything.
async fn missed(reader: &mut dyn Read, ends: &BTreeMap<u16, Place>, after: &FeedCursor) -> Result<bool, SqlError> {
    let full: Vec<_> = ends.iter().filter(|(_, last)| last.is_full()).map(|(partition, _)| (*partition, 1)).collect();
    if full.is_empty() {
        return Ok(false);
    }
    let first = DELIVERIES.beginnings(reader, &full).await?;
    let unseen = |(partition, first): (&(u16, usize), &Vec<Place>)| {
        let reached = after.0.get(&partition.0);
        first.iter().any(|first| reached.is_none_or(|reached| *reached < first.position))
    };
    Ok(full.iter().zip(&first).any(unseen))
}

fn placed(delivery: Delivery, position: Position) -> Delivery {
    Delivery { position, ..delivery }
}
