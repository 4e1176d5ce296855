//! Bringing a lane's settings to every partition, over what a store does to one after the other.

use super::Lane;
use super::contracts::{ConfigureLaneArgs, CopyLaneArgs, SettleLaneArgs};
use crate::backend::{Answer, LaneSteps};

/// Configures a lane everywhere. Once this is answered no partition goes by what was before; one that did not answer makes
/// it an error, and asking again goes on.
pub async fn spread<S: LaneSteps + ?Sized>(steps: &S, args: ConfigureLaneArgs, partitions: u16) -> Answer<Lane> {
    args.check()?;
    let (namespace, name) = (args.namespace.clone(), args.lane.clone());
    let lane = steps.configure(args).await?;
    let mut counts = Vec::new();
    for partition in 0..partitions {
        counts.push(steps.copy(CopyLaneArgs { partition, lane: lane.clone() }).await?);
    }
    if lane.settings.concurrency.is_some() {
        steps.settle(SettleLaneArgs { namespace, lane: name, counts }).await?;
    }
    Ok(lane)
}
