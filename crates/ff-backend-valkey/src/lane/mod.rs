//! The domain of lanes, on Valkey.

pub(crate) mod counter;

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{
    AllotArgs, Allotment, ConfigureLaneArgs, CopyLaneArgs, LaneCount, LaneInfo, LaneSettled, LanesPage,
    LanesPageBuilder, ListLanesArgs, ListQueueArgs, ListingStep, QueuedExecution, RecountLaneArgs, RegisterClassesArgs,
    SettleLaneArgs,
};
use ff_core::lane::Lane;
use ff_core::operation::query::DescribeLane;
use ff_core::types::LaneId;
use ff_script::lane::{
    ff_allot_lane, ff_configure_lane, ff_copy_lane, ff_list_queue, ff_recount_lane, ff_register_classes,
    ff_settle_lane, lane_of_index,
};

use crate::ValkeyBackend;
use crate::backend::functions;
use crate::directory::Entry;

/// Maximum number of counts for one page: lanes times partitions.
const COUNTS: usize = 64 * 1024;

/// Maximum number of lanes that one call counts, so that other calls get their turn, and the minimum, because the first
/// lanes may all be empty.
const LANES_AT_ONCE: usize = 64;
const FEW_LANES: usize = 16;

impl Handle<ListLanesArgs, LanesPage> for ValkeyBackend {
    async fn handle(&self, args: ListLanesArgs) -> Answer<LanesPage> {
        let known = self.calls.directory.lanes(&self.calls.link).await?;
        let wanted = |key: &LaneId| {
            args.meets(key) == ListingStep::Listed && args.after.as_ref().is_none_or(|after| key > after)
        };
        let mut known: Vec<_> = known.iter().filter_map(|lane| lane_of_index(lane)).filter(wanted).collect();
        known.sort_unstable();
        let partitions = usize::from(self.partitions.num_flow_partitions).max(1);
        let mut fill = LanesPageBuilder::with_budget(&args, (COUNTS / partitions).max(FEW_LANES));
        let mut rest = &known[..];
        while !rest.is_empty() && !fill.is_full() {
            let (some, more) = rest.split_at(fill.remaining().clamp(FEW_LANES, LANES_AT_ONCE).min(rest.len()));
            for (info, is_configured) in self.lane_counter.count(some, args.finished).await? {
                fill.look(info, is_configured);
            }
            rest = more;
        }
        Ok(fill.into_page())
    }
}

impl Handle<ConfigureLaneArgs, Lane> for ValkeyBackend {
    async fn handle(&self, args: ConfigureLaneArgs) -> Answer<Lane> {
        // Write the directory first, so that no configured lane is missing from listings.
        let lane = Entry::Lane(args.lane.within(&args.namespace));
        self.calls.note(&[lane]).await?;
        Ok(ff_configure_lane(&*self.calls, &self.partitions, args).await?)
    }
}

impl Handle<RegisterClassesArgs, Lane> for ValkeyBackend {
    async fn handle(&self, args: RegisterClassesArgs) -> Answer<Lane> {
        let lane = Entry::Lane(args.lane.within(&args.namespace));
        self.calls.note(&[lane]).await?;
        Ok(ff_register_classes(&*self.calls, &self.partitions, args).await?)
    }
}

functions! {
    DescribeLane => LaneInfo: |store, DescribeLane { namespace, lane }| store.lane_info(lane.within(&namespace), true);
    CopyLaneArgs => LaneCount: |store, args| ff_copy_lane(&*store.calls, &args);
    ListQueueArgs => Vec<QueuedExecution>: |store, args| ff_list_queue(&*store.calls, &args);
    AllotArgs => Allotment: |store, args| ff_allot_lane(&*store.calls, &store.partitions, &args);
    RecountLaneArgs => LaneCount: |store, args| ff_recount_lane(&*store.calls, &args);
    SettleLaneArgs => LaneSettled: |store, args| ff_settle_lane(&*store.calls, &store.partitions, &args);
}

impl ValkeyBackend {
    /// Returns the settings and depths of a lane, by its name in indexes. Counts finished executions only on request.
    pub(crate) async fn lane_info(&self, lane: LaneId, finished: bool) -> Answer<LaneInfo> {
        let counted = self.lane_counter.count(std::slice::from_ref(&lane), finished).await?.pop();
        Ok(counted.map_or_else(|| counter::nothing_of(&lane), |(info, _)| info))
    }
}
