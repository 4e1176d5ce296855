//! Arguments and replies about lanes, from callers and between partitions.

mod listing;
mod queue;

pub use super::allot::{AllotArgs, Allotment, Grant};
pub use super::configure::{ConfigureLaneArgs, Setting};
pub use super::copy::CopyLaneArgs;
pub use super::recount::{LaneCount, RecountLaneArgs};
pub use super::register_class::RegisterClassesArgs;
pub use super::settle::{LaneSettled, SettleLaneArgs};
pub use crate::lease::contracts::{GrantedClaim, GrantedClaimArgs, GrantedClaims};
pub use listing::{Depth, Depths, LaneInfo, LanePlace, LanesPage, LanesPageBuilder, ListLanesArgs, ListingStep};
pub use queue::{ListQueueArgs, QueueState, QueuedExecution, WorkQueue};
