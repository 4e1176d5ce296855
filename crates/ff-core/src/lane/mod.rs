//! Lanes: named queues of a namespace, and the rules by which work enters and leaves them.

mod admit;
mod allot;
mod configure;
pub mod contracts;
mod copy;
#[cfg(test)]
pub(crate) mod fixture;
mod record;
mod recount;
mod register_class;
mod requirements;
mod settle;

pub(crate) use admit::{LaneTerms, admit};
pub use record::{Lane, LaneSettings, LaneState, Share};
pub(crate) use register_class::check_class;
pub use register_class::is_unknown_class;
pub(crate) use requirements::REQUIRED;
pub use requirements::RoutingRequirements;
