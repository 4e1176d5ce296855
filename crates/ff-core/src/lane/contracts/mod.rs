//! What callers ask of a lane, what its partitions ask of each other, and what they are told.

mod listing;

pub use super::allot::{AllotArgs, Allotted, Grant};
pub use super::configure::{ConfigureLaneArgs, Setting};
pub use super::copy::CopyLaneArgs;
pub use super::recount::{LaneCount, RecountLaneArgs};
pub use super::settle::{LaneSettled, SettleLaneArgs};
pub use crate::lease::contracts::{GrantedClaim, GrantedClaimArgs, GrantedClaims};
pub use listing::{Depth, Depths, LaneInfo, LaneStanding, LanesFill, LanesPage, ListLanesArgs, ListingStep};
