//! The room of lanes, on Valkey.

use async_trait::async_trait;
use ff_core::backend::{Answer, LaneRoom, LaneSteps};
use ff_core::contracts::{
    AllotArgs, Allotted, ConfigureLaneArgs, CopyLaneArgs, Depth, LaneCount, LaneInfo, LaneSettled, LaneStanding,
    LanesPage, ListLanesArgs, RecountLaneArgs, SettleLaneArgs,
};
use ff_core::lane::Lane;
use ff_core::partition::lane_partition;
use ff_core::types::{LaneId, Namespace};
use ff_script::lane::{
    LaneFields, ff_allot_lane, ff_configure_lane, ff_copy_lane, ff_read_lanes, ff_recount_lane, ff_settle_lane,
    lane_of_index,
};
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::ValkeyBackend;
use crate::directory::Entry;

/// Partitions asked at the same time.
const AT_ONCE: usize = 64;

/// Lanes one call reads before it lets others in.
const LANES_AT_ONCE: usize = 16;

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
        let ListLanesArgs { namespace, after, limit, finished } = args;
        let known = self.calls.directory.lanes(&self.calls).await?;
        let mut known: Vec<_> = known.iter().filter_map(|lane| lane_of_index(lane)).collect();
        known.sort_unstable();
        known.retain(|key| {
            namespace.as_ref().is_none_or(|namespace| key.apart().0 == *namespace)
                && after.as_ref().is_none_or(|after| key > after)
        });
        let mut page = LanesPage { lanes: Vec::new(), next: None };
        let mut listed = None;
        for some in known.chunks(LANES_AT_ONCE) {
            for (key, (mut info, is_configured)) in some.iter().zip(self.lane_infos(some).await?) {
                if !finished {
                    info.depths.remove(&LaneStanding::Finished);
                }
                if info.depths.is_empty() && !is_configured {
                    continue;
                }
                if page.lanes.len() == limit {
                    page.next = listed;
                    return Ok(page);
                }
                page.lanes.push(info);
                listed = Some(key.clone());
            }
        }
        Ok(page)
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
        let (namespace, lane_id) = key.apart();
        let read = self.lane_infos(&[key]).await?.into_iter().next();
        let nothing = || LaneInfo { namespace, lane_id, settings: Default::default(), depths: Default::default() };
        Ok(read.map_or_else(nothing, |(info, _)| info))
    }

    /// How lanes stand on all partitions together, each with whether somebody configured it. Its home knows the newest
    /// settings.
    async fn lane_infos(&self, keys: &[LaneId]) -> Answer<Vec<(LaneInfo, bool)>> {
        let read =
            |partition| async move { Answer::Ok((partition, ff_read_lanes(&*self.calls, partition, keys).await?)) };
        let mut read = stream::iter(0..self.partitions.num_flow_partitions).map(read).buffered(AT_ONCE);
        let nothing = |key: &LaneId| {
            let (namespace, lane_id) = key.apart();
            (LaneInfo { namespace, lane_id, settings: Default::default(), depths: Default::default() }, false)
        };
        let mut infos: Vec<_> = keys.iter().map(nothing).collect();
        while let Some((partition, lanes)) = read.try_next().await? {
            for ((key, (info, is_configured)), LaneFields { lane, depths }) in keys.iter().zip(&mut infos).zip(lanes) {
                for (standing, depth) in depths {
                    let all = info.depths.entry(standing).or_insert(Depth::default());
                    *all = all.with(depth);
                }
                if let Some(lane) = lane.filter(|_| partition == lane_partition(key, &self.partitions)) {
                    (info.settings, *is_configured) = (lane.settings, true);
                }
            }
        }
        Ok(infos)
    }
}
