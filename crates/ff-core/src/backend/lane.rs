//! The room of lanes.

use async_trait::async_trait;

use super::Answer;
use crate::lane::Lane;
use crate::lane::contracts::{
    AllotArgs, Allotted, ConfigureLaneArgs, CopyLaneArgs, LaneCount, LaneInfo, LaneSettled, LanesPage, ListLanesArgs,
    RecountLaneArgs, SettleLaneArgs,
};
use crate::types::{LaneId, Namespace};

/// What callers may ask about lanes. A lane need not be made: one that nobody configured takes and hands out work.
#[async_trait]
pub trait LaneRoom: Send + Sync {
    /// Pauses, drains or opens a lane again, and says how it is to treat its work. Once this is answered, it is so on every
    /// partition; what is held goes on. Safe to repeat, and to be repeated when it was not answered.
    async fn configure_lane(&self, args: ConfigureLaneArgs) -> Answer<LaneInfo>;

    /// How a lane is configured, and how much of it is where.
    async fn describe_lane(&self, namespace: &Namespace, lane: &LaneId) -> Answer<LaneInfo>;

    /// The lanes somebody configured and those that have something.
    async fn list_lanes(&self, args: ListLanesArgs) -> Answer<LanesPage>;
}

/// What a store does to a lane on one partition. Configuring a lane and holding it to its limit take several of these, which
/// [`crate::lane::spread`] and [`crate::lane::seek_grant`] put together.
#[async_trait]
pub trait LaneSteps: Send + Sync {
    async fn configure(&self, args: ConfigureLaneArgs) -> Answer<Lane>;

    async fn copy(&self, args: CopyLaneArgs) -> Answer<LaneCount>;

    async fn allot(&self, args: AllotArgs) -> Answer<Allotted>;

    async fn recount(&self, args: RecountLaneArgs) -> Answer<LaneCount>;

    async fn settle(&self, args: SettleLaneArgs) -> Answer<LaneSettled>;
}
