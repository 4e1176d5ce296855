//! A holder that waits for the members it added.

use serde::{Deserialize, Serialize};

use crate::flow::GroupState;
use crate::lease::Fence;
use crate::types::ExecutionId;

/// A holder lets go until the children it added have ended as its join asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitForChildrenArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
}

/// Whether it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitedForChildren {
    /// Pending when it waits now and the lease is over; otherwise how the join was decided, and the lease is kept.
    pub state: GroupState,
}
