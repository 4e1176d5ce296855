//! The room of lanes, on Postgres.

use async_trait::async_trait;
use ff_backend_sql::{DescribeLane, ListLanes};
use ff_core::backend::{Answer, EngineBackend, LaneRoom, LaneSteps};
use ff_core::contracts::{
    AllotArgs, Allotted, ConfigureLaneArgs, CopyLaneArgs, LaneCount, LaneInfo, LaneSettled, LanesPage, ListLanesArgs,
    RecountLaneArgs, SettleLaneArgs,
};
use ff_core::lane::Lane;
use ff_core::types::{LaneId, Namespace};

use crate::PostgresBackend;

#[async_trait]
impl LaneRoom for PostgresBackend {
    async fn configure_lane(&self, args: ConfigureLaneArgs) -> Answer<LaneInfo> {
        let lane = self.writers.asker.configure_lane(args, &self.partitions()).await?;
        self.describe_lane(&lane.namespace, &lane.lane).await
    }

    async fn describe_lane(&self, namespace: &Namespace, lane: &LaneId) -> Answer<LaneInfo> {
        let lane = lane.within(namespace);
        self.readers.read(DescribeLane { lane, partitions: self.partitions() }).await
    }

    async fn list_lanes(&self, args: ListLanesArgs) -> Answer<LanesPage> {
        args.check()?;
        self.readers.read(ListLanes { args, partitions: self.partitions() }).await
    }
}

#[async_trait]
impl LaneSteps for PostgresBackend {
    async fn configure(&self, args: ConfigureLaneArgs) -> Answer<Lane> {
        self.writers.asker.configure(args).await
    }

    async fn copy(&self, args: CopyLaneArgs) -> Answer<LaneCount> {
        self.writers.asker.copy(args).await
    }

    async fn allot(&self, args: AllotArgs) -> Answer<Allotted> {
        self.writers.asker.allot(args).await
    }

    async fn recount(&self, args: RecountLaneArgs) -> Answer<LaneCount> {
        self.writers.asker.recount(args).await
    }

    async fn settle(&self, args: SettleLaneArgs) -> Answer<LaneSettled> {
        self.writers.asker.settle(args).await
    }
}
