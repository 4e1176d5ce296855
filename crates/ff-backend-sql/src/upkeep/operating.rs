//! What a partition holds of lanes, workers, labels and what happened.

use ff_core::event::Feed;
use ff_core::index::Index;
use ff_core::lane::Lane;
use ff_core::signal::Position;
use ff_core::snapshot::Snapshot;
use ff_core::types::{Namespace, TagKey, TagValue, TimestampMs};
use ff_core::worker::Worker;

use crate::error::{SqlError, unreadable};
use crate::event::read_told;
use crate::execution::lane_of;
use crate::queries::{LABELS_ON, LANES_ON, WORKERS_ON};
use crate::record;
use crate::schema::FEED;
use crate::session::Read;
use crate::value::Row;

/// Adds them to a snapshot.
pub(super) async fn add_operating(
    reader: &mut dyn Read,
    snapshot: &mut Snapshot,
    partition: u16,
) -> Result<(), SqlError> {
    let here = || [vec![partition.into()]];
    for row in reader.query(LABELS_ON, &here()).await?.iter().flatten() {
        let (index, id) = (label(row)?, row.id(4, partition)?);
        snapshot.indexes.entry(index).or_default().insert(id, row.int(3)?);
    }
    for row in reader.query(LANES_ON, &here()).await?.iter().flatten() {
        snapshot.lanes.insert(lane_of(row.text(0)?)?, record::read::<Lane>(row.text(1)?)?);
    }
    for row in reader.query(WORKERS_ON, &here()).await?.iter().flatten() {
        let worker: Worker = record::read(row.text(0)?)?;
        snapshot.workers.insert(worker.worker_instance_id.clone(), worker);
    }
    let feed = reader.load(&FEED, FEED.named(&["since", "until"]), &here()).await?;
    let feed = feed.iter().flatten().next();
    snapshot.feed =
        feed.map(|row| Ok::<_, SqlError>(Feed { since: row.moment(0)?, until: row.moment(1)? })).transpose()?;
    let start = Position { at: TimestampMs(i64::MIN), nth: 0 };
    let told = read_told(reader, &[(partition, start)], usize::MAX).await?;
    snapshot.told = told.into_iter().flat_map(|(_, told)| told).collect();
    Ok(())
}

fn label(row: &Row) -> Result<Index, SqlError> {
    let namespace = Namespace::parse(row.text(0)?).map_err(unreadable("a namespace"))?;
    let key = TagKey::parse(row.text(1)?).map_err(unreadable("a label"))?;
    Ok(Index::Tag(namespace, key, TagValue::parse(row.text(2)?).map_err(unreadable("a label"))?))
}
