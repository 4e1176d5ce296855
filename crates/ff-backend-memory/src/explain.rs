//! Reads that explain an execution or a lane, over the model.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{LaneInfo, LanePlace};
use ff_core::explain::{QueueArgs, QueueFacts};
use ff_core::operation::query::DescribeLiveLane;

use crate::{MemoryBackend, reads};

reads! {
    QueueArgs => QueueFacts: |store, query| store.model()?.queue_facts(&query);
}

impl Handle<DescribeLiveLane, LaneInfo> for MemoryBackend {
    async fn handle(&self, DescribeLiveLane { ref namespace, ref lane }: DescribeLiveLane) -> Answer<LaneInfo> {
        let mut info = self.model()?.lane_info(&lane.within(namespace));
        info.depths.remove(&LanePlace::Finished);
        Ok(info)
    }
}
