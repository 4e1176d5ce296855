//! Reads that explain an execution or a lane: their number is bounded, and they write nothing.

use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::{ExecutionInfo, FlowEdgesArgs, ListWorkersArgs, QuotaSlotsArgs};
use ff_core::execution::BlockDetail;
use ff_core::explain::{
    Explanation, Facts, HOLDERS_MAX, LaneExplanation, QueueArgs, QueueFacts, SlotHolder, Upstream, explain,
    explain_lane,
};
use ff_core::flow::EdgeState;
use ff_core::limits;
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, FlowId, LaneId, Namespace, QuotaPolicyId};
use ff_core::worker::Worker;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::if_there;

/// Maximum number of pages of a flow's edges that are searched for the edges into one member.
const EDGE_PAGES: usize = 5;

/// Maximum number of pages of a quota's slots that are searched for the slots of one key.
const SLOT_PAGES: usize = 4;

/// Explains why an execution does not run.
pub(super) async fn execution<S: EngineStore + ?Sized>(store: &S, id: ExecutionId) -> Answer<Explanation> {
    let info = store.describe(&id).await?;
    let now = store.now().await?;
    let lives = !info.public_state.is_terminal() && info.public_state != PublicState::Active;
    let (mut queue, mut workers, mut more_workers) = (QueueFacts::default(), Vec::new(), false);
    if lives {
        queue = store.queue_facts(QueueArgs::of(&info)).await?;
        (workers, more_workers) = workers_of(store, &info.namespace).await?;
    }
    let upstreams = match (info.public_state, &info.flow_id) {
        (PublicState::WaitingChildren, Some(flow_id)) => upstreams(store, *flow_id, &info).await?,
        _ => Vec::new(),
    };
    let mut holders: Vec<_> = holder(&info).into_iter().collect();
    if queue.settings.concurrency.is_some_and(|limit| queue.active >= u64::from(limit)) {
        holders.extend(described(store, queue.running.clone()).await?.iter().filter_map(holder));
    }
    if let Some(BlockDetail::Quota { policy_id, key, retry_at: None, .. }) = info.blocking_detail.as_deref() {
        let held = slots_of(store, *policy_id, key).await?;
        holders.extend(described(store, held).await?.iter().filter_map(holder));
        holders.truncate(HOLDERS_MAX);
    }
    Ok(explain(&Facts { info, queue, workers, more_workers, upstreams, holders }, now))
}

/// Explains why the work of a lane does not run.
pub(super) async fn lane<S: EngineStore + ?Sized>(
    store: &S,
    namespace: &Namespace,
    lane: &LaneId,
) -> Answer<LaneExplanation> {
    let info = store.describe_live_lane(namespace, lane).await?;
    let (workers, _) = workers_of(store, namespace).await?;
    Ok(explain_lane(info, &workers))
}

async fn workers_of<S: EngineStore + ?Sized>(store: &S, namespace: &Namespace) -> Answer<(Vec<Worker>, bool)> {
    let args = ListWorkersArgs { namespace: Some(namespace.clone()), after: None, limit: limits::PAGE };
    let page = store.list_workers(args).await?;
    Ok((page.workers, page.next.is_some()))
}

/// Returns executions that hold slots of a quota under a key, as far as they are on the first pages.
async fn slots_of<S: EngineStore + ?Sized>(store: &S, policy_id: QuotaPolicyId, key: &str) -> Answer<Vec<ExecutionId>> {
    let (mut after, mut held) = (None, Vec::new());
    for _ in 0..SLOT_PAGES {
        let page = store.quota_slots(QuotaSlotsArgs { policy_id, after, limit: limits::PAGE }).await?;
        held.extend(page.slots.into_iter().filter(|slot| slot.key == key).map(|slot| slot.execution_id));
        after = page.next;
        if after.is_none() || held.len() >= HOLDERS_MAX {
            break;
        }
    }
    held.truncate(HOLDERS_MAX);
    Ok(held)
}

/// Returns the lease of a running execution.
fn holder(info: &ExecutionInfo) -> Option<SlotHolder> {
    let lease = info.lease.as_ref()?;
    Some(SlotHolder {
        execution_id: info.execution_id,
        worker_instance_id: lease.worker_instance_id.clone(),
        since: lease.acquired_at,
        until: lease.expires_at,
    })
}

/// Returns up to [`HOLDERS_MAX`] upstreams that a member still waits for.
async fn upstreams<S: EngineStore + ?Sized>(store: &S, flow_id: FlowId, info: &ExecutionInfo) -> Answer<Vec<Upstream>> {
    let (mut after, mut awaited) = (None, Vec::new());
    for _ in 0..EDGE_PAGES {
        let page = store.flow_edges(FlowEdgesArgs { flow_id, after, limit: limits::PAGE }).await?;
        let into = page.edges.iter().filter(|edge| edge.downstream_execution_id == info.execution_id);
        awaited.extend(into.filter(|edge| edge.state == EdgeState::Pending).map(|edge| edge.upstream_execution_id));
        after = page.next;
        if after.is_none() || awaited.len() >= HOLDERS_MAX {
            break;
        }
    }
    awaited.truncate(HOLDERS_MAX);
    let upstream = |info: ExecutionInfo| Upstream {
        node: info.node,
        execution_id: info.execution_id,
        public_state: info.public_state,
    };
    Ok(described(store, awaited).await?.into_iter().map(upstream).collect())
}

/// Returns executions as callers see them, without those that no longer exist.
async fn described<S: EngineStore + ?Sized>(store: &S, ids: Vec<ExecutionId>) -> Answer<Vec<ExecutionInfo>> {
    let read = |id: ExecutionId| async move { if_there(store.describe(&id).await) };
    let all: Vec<_> = stream::iter(ids).map(read).buffered(HOLDERS_MAX).try_collect().await?;
    Ok(all.into_iter().flatten().collect())
}
