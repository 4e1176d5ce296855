//! What callers ask of a lane, what its partitions ask of each other, and what they are told.

mod configuring;
mod limiting;
mod listing;

pub use configuring::{ConfigureLaneArgs, CopyLaneArgs, Setting};
pub use limiting::{
    AllotArgs, Allotted, Grant, GrantedClaim, GrantedClaimArgs, GrantedClaims, LaneCount, LaneSettled, RecountLaneArgs,
    SettleLaneArgs,
};
pub use listing::{Depth, Depths, LaneInfo, LaneStanding, LanesFill, LanesPage, ListLanesArgs, Meets};
