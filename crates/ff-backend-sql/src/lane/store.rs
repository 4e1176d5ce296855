//! The room of lanes, on every SQL store.

use async_trait::async_trait;
use ff_core::backend::{Answer, LaneRoom, LaneSteps};
use ff_core::contracts::{
    AllotArgs, Allotted, ConfigureLaneArgs, CopyLaneArgs, LaneCount, LaneInfo, LaneSettled, LanesPage, ListLanesArgs,
    RecountLaneArgs, SettleLaneArgs,
};
use ff_core::lane::Lane;
use ff_core::types::{LaneId, Namespace};

use super::read::{DescribeLane, ListLanes};
use crate::store::{Driver, SqlStore};

#[async_trait]
impl<D: Driver> LaneRoom for SqlStore<D> {
    async fn configure_lane(&self, args: ConfigureLaneArgs) -> Answer<LaneInfo> {
        let lane = self.writer().configure_lane(args, &self.driver().partitions()).await?;
        self.describe_lane(&lane.namespace, &lane.lane).await
    }

    async fn describe_lane(&self, namespace: &Namespace, lane: &LaneId) -> Answer<LaneInfo> {
        let lane = lane.within(namespace);
        self.read(DescribeLane { lane, partitions: self.driver().partitions() }).await
    }

    async fn list_lanes(&self, args: ListLanesArgs) -> Answer<LanesPage> {
        args.check()?;
        self.read(ListLanes { args, partitions: self.driver().partitions() }).await
    }
}

#[async_trait]
impl<D: Driver> LaneSteps for SqlStore<D> {
    async fn configure(&self, args: ConfigureLaneArgs) -> Answer<Lane> {
        self.writer().configure(args).await
    }

    async fn copy(&self, args: CopyLaneArgs) -> Answer<LaneCount> {
        self.writer().copy(args).await
    }

    async fn allot(&self, args: AllotArgs) -> Answer<Allotted> {
        self.writer().allot(args).await
    }

    async fn recount(&self, args: RecountLaneArgs) -> Answer<LaneCount> {
        self.writer().recount(args).await
    }

    async fn settle(&self, args: SettleLaneArgs) -> Answer<LaneSettled> {
        self.writer().settle(args).await
    }
}
