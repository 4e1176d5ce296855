//! The room of lanes, on Valkey.

use async_trait::async_trait;
use ff_core::backend::{Answer, LaneRoom, LaneSteps};
use ff_core::contracts::{
    AllotArgs, Allotted, ConfigureLaneArgs, CopyLaneArgs, LaneCount, LaneInfo, LaneSettled, LanesFill, LanesPage,
    ListLanesArgs, Meets, RecountLaneArgs, SettleLaneArgs,
};
use ff_core::lane::Lane;
use ff_core::types::{LaneId, Namespace};
use ff_script::lane::{ff_allot_lane, ff_configure_lane, ff_copy_lane, ff_recount_lane, ff_settle_lane, lane_of_index};
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::ValkeyBackend;
use crate::directory::Entry;

/// Partitions asked at the same time.
const AT_ONCE: usize = 64;

/// Lanes times partitions that are counted for one page.
const COUNTS: usize = 64 * 1024;

/// Lanes one call counts before it lets others in, and how many at least: those that have nothing may come first.
const LANES_AT_ONCE: usize = 64;
const FEW_LANES: usize = 16;

#[async_trait]
impl LaneRoom for ValkeyBackend {
    async fn configure_lane(&self, args: ConfigureLaneArgs) -> Answer<LaneInfo> {
        args.check()?;
        let key = args.lane.within(&args.namespace);
        let lane = self.configure(args).await?;
        let copy = |partition| {
            let args = CopyLaneArgs { partition, lane: lane.clone() };
            async move { self.copy(args).await }
        };
        let copies = stream::iter(0..self.partitions.num_flow_partitions).map(copy).buffered(AT_ONCE);
        let counts: Vec<_> = copies.try_collect().await?;
        if lane.settings.concurrency.is_some() {
            let (namespace, lane) = (lane.namespace.clone(), lane.lane.clone());
            self.settle(SettleLaneArgs { namespace, lane, counts }).await?;
        }
        self.lane_info(key).await
    }

    async fn describe_lane(&self, namespace: &Namespace, lane: &LaneId) -> Answer<LaneInfo> {
        self.lane_info(lane.within(namespace)).await
    }

    async fn list_lanes(&self, args: ListLanesArgs) -> Answer<LanesPage> {
        args.check()?;
        let known = self.calls.directory.lanes(&self.calls).await?;
        let wanted =
            |key: &LaneId| args.meets(key) == Meets::Listed && args.after.as_ref().is_none_or(|after| key > after);
        let mut known: Vec<_> = known.iter().filter_map(|lane| lane_of_index(lane)).filter(wanted).collect();
        known.sort_unstable();
        let partitions = usize::from(self.partitions.num_flow_partitions).max(1);
        let mut fill = LanesFill::looking_at(&args, (COUNTS / partitions).max(FEW_LANES));
        let mut rest = &known[..];
        while !rest.is_empty() && !fill.is_full() {
            let (some, more) = rest.split_at(fill.room().clamp(FEW_LANES, LANES_AT_ONCE).min(rest.len()));
            for (info, is_configured) in self.lane_counter.count(some, args.finished).await? {
                fill.look(info, is_configured);
            }
            rest = more;
        }
        Ok(fill.into_page())
    }
}

#[async_trait]
impl LaneSteps for ValkeyBackend {
    async fn configure(&self, args: ConfigureLaneArgs) -> Answer<Lane> {
        let args = self.checked(args)?;
        // The directory first, so that no lane is configured that nobody lists.
        let lane = Entry::Lane(args.lane.within(&args.namespace));
        self.calls.directory.note(&self.calls, &[lane]).await?;
        Ok(ff_configure_lane(&*self.calls, &self.partitions, args).await?)
    }

    async fn copy(&self, args: CopyLaneArgs) -> Answer<LaneCount> {
        Ok(ff_copy_lane(&*self.calls, &self.checked(args)?).await?)
    }

    async fn allot(&self, args: AllotArgs) -> Answer<Allotted> {
        Ok(ff_allot_lane(&*self.calls, &self.partitions, &self.checked(args)?).await?)
    }

    async fn recount(&self, args: RecountLaneArgs) -> Answer<LaneCount> {
        Ok(ff_recount_lane(&*self.calls, &self.checked(args)?).await?)
    }

    async fn settle(&self, args: SettleLaneArgs) -> Answer<LaneSettled> {
        Ok(ff_settle_lane(&*self.calls, &self.partitions, &self.checked(args)?).await?)
    }
}

impl ValkeyBackend {
    async fn lane_info(&self, key: LaneId) -> Answer<LaneInfo> {
        let counted = self.lane_counter.count(std::slice::from_ref(&key), true).await?.pop();
        let (namespace, lane_id) = key.apart();
        let nothing = || LaneInfo { namespace, lane_id, settings: Default::default(), depths: Default::default() };
        Ok(counted.map_or_else(nothing, |(info, _)| info))
    }
}
