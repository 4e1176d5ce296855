//! Configuring a lane, and holding it to its limit: what is done on one partition after the other, or on all at once.

use async_trait::async_trait;
use ff_core::backend::{Answer, LaneSteps};
use ff_core::contracts::{
    AllotArgs, Allotted, ConfigureLaneArgs, CopyLaneArgs, LaneCount, LaneSettled, RecountLaneArgs, SettleLaneArgs,
};
use ff_core::lane::Lane;
use ff_core::partition::PartitionConfig;

use crate::queue::Asker;

#[async_trait]
impl LaneSteps for Asker {
    async fn configure(&self, args: ConfigureLaneArgs) -> Answer<Lane> {
        self.ask(args).await
    }

    async fn copy(&self, args: CopyLaneArgs) -> Answer<LaneCount> {
        self.ask(args).await
    }

    async fn allot(&self, args: AllotArgs) -> Answer<Allotted> {
        self.ask(args).await
    }

    async fn recount(&self, args: RecountLaneArgs) -> Answer<LaneCount> {
        self.ask(args).await
    }

    async fn settle(&self, args: SettleLaneArgs) -> Answer<LaneSettled> {
        self.ask(args).await
    }
}

impl Asker {
    /// Configures a lane at its home and then on every partition, all of them together. Once this is answered no partition
    /// goes by what was before.
    pub async fn configure_lane(&self, args: ConfigureLaneArgs, partitions: &PartitionConfig) -> Answer<Lane> {
        args.check()?;
        let (namespace, name) = (args.namespace.clone(), args.lane.clone());
        let lane = self.ask(args).await?;
        let copy = |partition| CopyLaneArgs { partition, lane: lane.clone() };
        let counts = self.ask_each((0..partitions.num_flow_partitions).map(copy).collect()).await;
        let counts = counts.into_iter().collect::<Answer<Vec<_>>>()?;
        if lane.settings.concurrency.is_some() {
            self.ask(SettleLaneArgs { namespace, lane: name, counts }).await?;
        }
        Ok(lane)
    }
}
