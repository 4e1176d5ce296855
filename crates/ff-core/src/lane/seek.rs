//! Seeking a grant, over what a store does to one partition after the other.

use super::contracts::{AllotArgs, Grant, RecountLaneArgs, SettleLaneArgs};
use crate::backend::{Answer, LaneSteps};

/// Asks the lane's home for a grant; when it has none to give, counts what may have ended and asks once more.
///
/// Whoever uses the grant settles with the count it gets back.
pub async fn seek_grant<S: LaneSteps + ?Sized>(steps: &S, args: &AllotArgs) -> Answer<Option<Grant>> {
    let first = steps.allot(args.clone()).await?;
    if first.grant.is_some() || first.uncounted.is_empty() {
        return Ok(first.grant);
    }
    let (namespace, lane) = (&args.namespace, &args.lane);
    let mut counts = Vec::new();
    for (partition, seq) in first.uncounted {
        let recount = RecountLaneArgs { partition, namespace: namespace.clone(), lane: lane.clone(), seq };
        counts.push(steps.recount(recount).await?);
    }
    steps.settle(SettleLaneArgs { namespace: namespace.clone(), lane: lane.clone(), counts }).await?;
    Ok(steps.allot(args.clone()).await?.grant)
}
