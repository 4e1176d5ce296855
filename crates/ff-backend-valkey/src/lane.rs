//! The domain of lanes, on Valkey.

use std::collections::HashMap;
use std::sync::Arc;

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{
    AllotArgs, Allotment, ConfigureLaneArgs, CopyLaneArgs, Depth, LaneCount, LaneInfo, LaneSettled, LanesFill,
    LanesPage, ListLanesArgs, ListQueueArgs, ListingStep, QueuedExecution, RecountLaneArgs, RegisterClassesArgs,
    SettleLaneArgs,
};
use ff_core::engine_error::EngineError;
use ff_core::lane::Lane;
use ff_core::partition::{PartitionConfig, lane_partition};
use ff_core::query::DescribeLane;
use ff_core::types::LaneId;
use ff_script::lane::{
    CountedLanes, ff_allot_lane, ff_configure_lane, ff_copy_lane, ff_count_lanes, ff_list_queue, ff_recount_lane,
    ff_register_classes, ff_settle_lane, lane_of_index,
};
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::sync::{mpsc, oneshot};

use crate::ValkeyBackend;
use crate::backend::functions;
use crate::calls::Calls;
use crate::directory::Entry;

/// Lanes times partitions that are counted for one page.
const COUNTS: usize = 64 * 1024;

/// Lanes one call counts before it lets others in, and how many at least: those that have nothing may come first.
const LANES_AT_ONCE: usize = 64;
const FEW_LANES: usize = 16;

impl Handle<DescribeLane, LaneInfo> for ValkeyBackend {
    async fn handle(&self, DescribeLane { ref namespace, ref lane }: DescribeLane) -> Answer<LaneInfo> {
        self.lane_info(lane.within(namespace)).await
    }
}

impl Handle<ListLanesArgs, LanesPage> for ValkeyBackend {
    async fn handle(&self, args: ListLanesArgs) -> Answer<LanesPage> {
        let known = self.calls.directory.lanes(&self.calls).await?;
        let wanted = |key: &LaneId| {
            args.meets(key) == ListingStep::Listed && args.after.as_ref().is_none_or(|after| key > after)
        };
        let mut known: Vec<_> = known.iter().filter_map(|lane| lane_of_index(lane)).filter(wanted).collect();
        known.sort_unstable();
        let partitions = usize::from(self.partitions.num_flow_partitions).max(1);
        let mut fill = LanesFill::looking_at(&args, (COUNTS / partitions).max(FEW_LANES));
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
        // The directory first, so that no configured lane is missing from listings.
        let lane = Entry::Lane(args.lane.within(&args.namespace));
        self.calls.directory.note(&self.calls, &[lane]).await?;
        Ok(ff_configure_lane(&*self.calls, &self.partitions, args).await?)
    }
}

impl Handle<RegisterClassesArgs, Lane> for ValkeyBackend {
    async fn handle(&self, args: RegisterClassesArgs) -> Answer<Lane> {
        let lane = Entry::Lane(args.lane.within(&args.namespace));
        self.calls.directory.note(&self.calls, &[lane]).await?;
        Ok(ff_register_classes(&*self.calls, &self.partitions, args).await?)
    }
}

functions! {
    CopyLaneArgs => LaneCount: |store, args| ff_copy_lane(&*store.calls, &args);
    ListQueueArgs => Vec<QueuedExecution>: |store, args| ff_list_queue(&*store.calls, &args);
    AllotArgs => Allotment: |store, args| ff_allot_lane(&*store.calls, &store.partitions, &args);
    RecountLaneArgs => LaneCount: |store, args| ff_recount_lane(&*store.calls, &args);
    SettleLaneArgs => LaneSettled: |store, args| ff_settle_lane(&*store.calls, &store.partitions, &args);
}

impl ValkeyBackend {
    async fn lane_info(&self, key: LaneId) -> Answer<LaneInfo> {
        let counted = self.lane_counter.count(std::slice::from_ref(&key), true).await?.pop();
        let (namespace, lane_id) = key.apart();
        let nothing = || LaneInfo { namespace, lane_id, settings: Default::default(), depths: Default::default() };
        Ok(counted.map_or_else(nothing, |(info, _)| info))
    }
}

/// Partitions asked at the same time. Other callers wait for so many calls at most.
const AT_ONCE: usize = 4;

/// Callers whose questions are looked through for the same one.
const CALLERS: usize = 64;

/// How a lane stands on all partitions together, and whether it is configured.
pub(crate) type LaneTotal = (LaneInfo, bool);

/// Asks for counts.
pub(crate) struct LaneCounter(mpsc::UnboundedSender<Request>);

/// Lanes, named as indexes name them, and whether to count what has finished.
type Question = (Vec<LaneId>, bool);

struct Request {
    question: Question,
    caller: oneshot::Sender<Answer<Vec<LaneTotal>>>,
}

impl LaneCounter {
    /// Starts the task that counts, until the handle is dropped.
    pub(crate) fn start(calls: Arc<Calls>, partitions: PartitionConfig) -> Self {
        let (requests, mut asked) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut some = Vec::with_capacity(CALLERS);
            while asked.recv_many(&mut some, CALLERS).await > 0 {
                let mut callers = HashMap::<Question, Vec<_>>::new();
                for Request { question, caller } in some.drain(..) {
                    callers.entry(question).or_default().push(caller);
                }
                for ((lanes, finished), callers) in callers {
                    let answer = count(&calls, &partitions, &lanes, finished).await;
                    // Fails when the caller has gone.
                    callers.into_iter().for_each(|caller| drop(caller.send(answer.clone())));
                }
            }
        });
        Self(requests)
    }

    /// How lanes stand, in the order they are named in.
    pub(crate) async fn count(&self, lanes: &[LaneId], finished: bool) -> Answer<Vec<LaneTotal>> {
        let (caller, answered) = oneshot::channel();
        let stopped = || EngineError::Unavailable("lanes are not counted any more: the program is stopping".into());
        self.0.send(Request { question: (lanes.to_vec(), finished), caller }).map_err(|_| stopped())?;
        answered.await.map_err(|_| stopped())?
    }
}

/// Adds up what the partitions say. The home of a lane knows its newest settings.
async fn count(
    calls: &Calls,
    partitions: &PartitionConfig,
    lanes: &[LaneId],
    finished: bool,
) -> Answer<Vec<LaneTotal>> {
    let mut all: Vec<_> = lanes.iter().map(|lane| (nothing_of(lane), false)).collect();
    let count = |partition| async move {
        let at_home = |lane: &&LaneId| lane_partition(lane, partitions) == partition;
        let homed: Vec<_> = lanes.iter().filter(at_home).cloned().collect();
        Answer::Ok(ff_count_lanes(calls, partition, lanes, &homed, finished).await?)
    };
    let mut counted = stream::iter(0..partitions.num_flow_partitions).map(count).buffered(AT_ONCE);
    while let Some(CountedLanes { depths, configured }) = counted.try_next().await? {
        for ((info, _), depths) in all.iter_mut().zip(depths) {
            for (standing, depth) in depths {
                let known = info.depths.entry(standing).or_insert(Depth::default());
                *known = known.with(depth);
            }
        }
        for lane in configured {
            let at = lanes.iter().position(|key| *key == lane.key());
            if let Some((info, is_configured)) = at.and_then(|at| all.get_mut(at)) {
                (info.settings, *is_configured) = (lane.settings, true);
            }
        }
    }
    Ok(all)
}

fn nothing_of(lane: &LaneId) -> LaneInfo {
    let (namespace, lane_id) = lane.apart();
    LaneInfo { namespace, lane_id, settings: Default::default(), depths: Default::default() }
}
