//! What a snapshot has of lanes, workers and what happens.

use ff_core::backend::Answer;
use ff_core::limits;
use ff_core::partition::worker_partition;
use ff_core::snapshot::Snapshot;
use ff_script::event::ff_read_feed;
use ff_script::lane::{ff_read_lanes, lane_of_index};

use crate::ValkeyBackend;

/// Lanes read with one call, and entries of a feed.
const LANES_AT_ONCE: usize = 16;
const TOLD_AT_ONCE: usize = 1_000;

impl ValkeyBackend {
    pub(super) async fn operating(&self, snapshot: &mut Snapshot, partition: u16) -> Answer<()> {
        let lanes = self.calls.directory.lanes(&self.calls).await?;
        let lanes: Vec<_> = lanes.iter().filter_map(|lane| lane_of_index(lane)).collect();
        for some in lanes.chunks(LANES_AT_ONCE) {
            let read = ff_read_lanes(&*self.calls, partition, some).await?;
            let known = some.iter().zip(read).filter_map(|(key, fields)| Some((key.clone(), fields.lane?)));
            snapshot.lanes.extend(known);
        }
        for id in self.listed_workers().await? {
            if worker_partition(&id, &self.partitions) == partition
                && let Some(worker) = self.worker(id.clone()).await?
            {
                snapshot.workers.insert(id, worker);
            }
        }
        while snapshot.told.len() < limits::FEED {
            let after = snapshot.told.last().map(|told| told.position);
            let (feed, told) = ff_read_feed(&*self.calls, partition, after, TOLD_AT_ONCE).await?;
            snapshot.feed = feed;
            if told.is_empty() {
                break;
            }
            snapshot.told.extend(told);
        }
        Ok(())
    }
}
