//! The room of lanes, on Valkey.

use async_trait::async_trait;
use ff_core::backend::{Answer, LaneRoom, LaneSteps};
use ff_core::contracts::{
    AllotArgs, Allotted, ConfigureLaneArgs, CopyLaneArgs, Depth, LaneCount, LaneInfo, LaneSettled, LanesFill,
    LanesPage, ListLanesArgs, Meets, RecountLaneArgs, SettleLaneArgs,
};
use ff_core::lane::Lane;
use ff_core::partition::lane_partition;
use ff_core::types::{LaneId, Namespace};
use ff_script::lane::{
    CountedLanes, ff_allot_lane, ff_configure_lane, ff_copy_lane, ff_count_lanes, ff_recount_lane, ff_settle_lane,
    lane_of_index,
};
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::ValkeyBackend;
use crate::directory::Entry;

/// Partitions asked at the same time.
const AT_ONCE: usize = 64;

/// Partitions whose lanes are counted at the same time. Counting all lanes there are takes the server a while, and whoever
/// else asks it waits for so many calls at most.
const COUNTED_AT_ONCE: usize = 8;

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
        let mut fill = LanesFill::of(&args);
        let mut rest = &known[..];
        while !rest.is_empty() && !fill.is_full() {
            let (some, more) = rest.split_at(fill.room().clamp(FEW_LANES, LANES_AT_ONCE).min(rest.len()));
            for (info, is_configured) in self.lane_infos(some, args.finished).await? {
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
        let (namespace, lane_id) = key.apart();
        let read = self.lane_infos(&[key], true).await?.into_iter().next();
        let nothing = || LaneInfo { namespace, lane_id, settings: Default::default(), depths: Default::default() };
        Ok(read.map_or_else(nothing, |(info, _)| info))
    }

    /// How lanes stand on all partitions together, each with whether somebody configured it. Its home knows the newest
    /// settings.
    async fn lane_infos(&self, keys: &[LaneId], finished: bool) -> Answer<Vec<(LaneInfo, bool)>> {
        let nothing = |key: &LaneId| {
            let (namespace, lane_id) = key.apart();
            (LaneInfo { namespace, lane_id, settings: Default::default(), depths: Default::default() }, false)
        };
        let mut infos: Vec<_> = keys.iter().map(nothing).collect();
        let count = |partition| async move {
            let at_home = |key: &&LaneId| lane_partition(key, &self.partitions) == partition;
            let homed: Vec<_> = keys.iter().filter(at_home).cloned().collect();
            Answer::Ok(ff_count_lanes(&*self.calls, partition, keys, &homed, finished).await?)
        };
        let mut counted = stream::iter(0..self.partitions.num_flow_partitions).map(count).buffered(COUNTED_AT_ONCE);
        while let Some(CountedLanes { depths, configured }) = counted.try_next().await? {
            for ((info, _), depths) in infos.iter_mut().zip(depths) {
                for (standing, depth) in depths {
                    let all = info.depths.entry(standing).or_insert(Depth::default());
                    *all = all.with(depth);
                }
            }
            for lane in configured {
                let at = keys.iter().position(|key| *key == lane.key());
                if let Some((info, is_configured)) = at.and_then(|at| infos.get_mut(at)) {
                    (info.settings, *is_configured) = (lane.settings, true);
                }
            }
        }
        Ok(infos)
    }
}
