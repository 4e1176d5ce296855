//! Making room, over what a store does to one partition after the other.

use super::contracts::{RecountLaneArgs, SettleLaneArgs};
use crate::backend::{Answer, LaneSteps};
use crate::types::LaneId;

/// Counts what partitions hold of a lane with a limit, now that something there has ended, and tells the lane's home, which
/// can grant what is free at once. The lane is named as indexes name it.
pub async fn make_room<S: LaneSteps + ?Sized>(
    steps: &S,
    lane: &LaneId,
    partitions: impl IntoIterator<Item = u16> + Send,
) -> Answer<()> {
    let (namespace, lane) = lane.apart();
    let partitions: Vec<_> = partitions.into_iter().collect();
    let mut counts = Vec::new();
    for partition in partitions {
        // No grant is given up: one that is under way is about to be used, and its own count tells.
        let args = RecountLaneArgs { partition, namespace: namespace.clone(), lane: lane.clone(), seq: 0 };
        counts.push(steps.recount(args).await?);
    }
    steps.settle(SettleLaneArgs { namespace, lane, counts }).await.map(drop)
}
