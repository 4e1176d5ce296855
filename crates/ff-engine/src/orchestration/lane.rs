//! Lanes over several partitions: settings are copied to each partition. The lane's home keeps the limit: it grants claims and
//! receives the counts.

use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::{
    AllotArgs, ConfigureLaneArgs, CopyLaneArgs, Grant, LaneInfo, RecountLaneArgs, SettleLaneArgs,
};
use ff_core::types::{LaneId, Namespace};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::AT_ONCE;

pub(super) async fn configure<S: EngineStore + ?Sized>(store: &S, args: ConfigureLaneArgs) -> Answer<LaneInfo> {
    args.check()?;
    let (namespace, name) = (args.namespace.clone(), args.lane.clone());
    let lane = store.configure_lane_home(args).await?;
    let copy = |partition| store.copy_lane(CopyLaneArgs { partition, lane: lane.clone() });
    let copies = stream::iter(0..store.partitions().num_flow_partitions).map(copy).buffered(AT_ONCE);
    let counts: Vec<_> = copies.try_collect().await?;
    if lane.settings.concurrency.is_some() {
        store.settle_lane(SettleLaneArgs { namespace: namespace.clone(), lane: name.clone(), counts }).await?;
    }
    store.describe_lane(&namespace, &name).await
}

/// Asks the lane's home for a grant. If it has none to give, counts the active executions and asks once more.
///
/// The caller that uses the grant settles with the count that its claim returns.
pub(super) async fn seek_grant<S: EngineStore + ?Sized>(store: &S, args: &AllotArgs) -> Answer<Option<Grant>> {
    let first = store.allot_lane(args.clone()).await?;
    if first.grant.is_some() || first.uncounted.is_empty() {
        return Ok(first.grant);
    }
    settle(store, (args.namespace.clone(), args.lane.clone()), first.uncounted).await?;
    Ok(store.allot_lane(args.clone()).await?.grant)
}

pub(super) async fn recount_and_settle<S: EngineStore + ?Sized>(
    store: &S,
    lane: &LaneId,
    partitions: Vec<u16>,
) -> Answer<()> {
    // Sequence 0 gives up no grant: a grant under way is about to be used, and its own count reports it.
    settle(store, lane.apart(), partitions.into_iter().map(|partition| (partition, 0)).collect()).await
}

/// Counts partitions, and reports to the lane's home. An unused grant up to the partition's sequence becomes void.
async fn settle<S: EngineStore + ?Sized>(
    store: &S,
    (namespace, lane): (Namespace, LaneId),
    partitions: Vec<(u16, u64)>,
) -> Answer<()> {
    let mut counts = Vec::with_capacity(partitions.len());
    for (partition, seq) in partitions {
        let args = RecountLaneArgs { partition, namespace: namespace.clone(), lane: lane.clone(), seq };
        counts.push(store.recount_lane(args).await?);
    }
    store.settle_lane(SettleLaneArgs { namespace, lane, counts }).await.map(drop)
}
