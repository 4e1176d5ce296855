//! Counting lanes over all partitions. Callers that ask the same question at the same time share the answer.

use std::collections::HashMap;
use std::sync::Arc;

use ff_core::backend::Answer;
use ff_core::contracts::{Depth, LaneInfo};
use ff_core::engine_error::EngineError;
use ff_core::partition::{PartitionConfig, lane_partition};
use ff_core::types::LaneId;
use ff_script::lane::{CountedLanes, ff_count_lanes};
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::sync::{mpsc, oneshot};

use crate::call::Calls;

/// Maximum number of partitions counted at the same time. Other callers wait for at most so many calls.
const AT_ONCE: usize = 4;

/// Maximum number of callers whose questions are compared, to answer equal ones together.
const CALLERS: usize = 64;

/// The settings and depths of a lane over all partitions, and whether it is configured.
pub(crate) type LaneTotal = (LaneInfo, bool);

/// The handle of the task that counts.
pub(crate) struct LaneCounter(mpsc::UnboundedSender<Request>);

/// Lanes, by their names in indexes, and whether to count finished executions.
type Question = (Vec<LaneId>, bool);

struct Request {
    question: Question,
    caller: oneshot::Sender<Answer<Vec<LaneTotal>>>,
}

impl LaneCounter {
    /// Starts the task that counts, until the handle is dropped.
    pub(crate) fn start(calls: Arc<Calls>, partitions: PartitionConfig) -> Self {
        let (requests, mut queue) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut some = Vec::with_capacity(CALLERS);
            while queue.recv_many(&mut some, CALLERS).await > 0 {
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

    /// Returns the counts of lanes, in the order of the request.
    pub(crate) async fn count(&self, lanes: &[LaneId], finished: bool) -> Answer<Vec<LaneTotal>> {
        let (caller, answered) = oneshot::channel();
        let stopped = || EngineError::Unavailable("lanes are not counted any more: the program is stopping".into());
        self.0.send(Request { question: (lanes.to_vec(), finished), caller }).map_err(|_| stopped())?;
        answered.await.map_err(|_| stopped())?
    }
}

/// Adds up the counts of all partitions. The home of a lane has its newest settings.
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
            for (place, depth) in depths {
                let known = info.depths.entry(place).or_insert(Depth::default());
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

/// Returns a lane without settings or executions.
pub(super) fn nothing_of(lane: &LaneId) -> LaneInfo {
    let (namespace, lane_id) = lane.apart();
    LaneInfo { namespace, lane_id, settings: Default::default(), depths: Default::default() }
}
