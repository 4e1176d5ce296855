//! The domain of lanes, over the model.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{LaneInfo, LanesPage, ListLanesArgs};
use ff_core::query::DescribeLane;

use crate::MemoryBackend;

impl Handle<DescribeLane, LaneInfo> for MemoryBackend {
    async fn handle(&self, DescribeLane { ref namespace, ref lane }: DescribeLane) -> Answer<LaneInfo> {
        Ok(self.model()?.lane_info(&lane.within(namespace)))
    }
}

impl Handle<ListLanesArgs, LanesPage> for MemoryBackend {
    async fn handle(&self, args: ListLanesArgs) -> Answer<LanesPage> {
        Ok(self.model()?.lanes(&args))
    }
}
