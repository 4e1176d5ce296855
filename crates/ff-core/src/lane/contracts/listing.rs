//! Listing lanes, with how much of each waits, runs and is over.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal};
use crate::index::Index;
use crate::lane::LaneSettings;
use crate::limits;
use crate::state::words;
use crate::types::{LaneId, Namespace, TimestampMs};

/// Which lanes to list: by their keys, a page at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListLanesArgs {
    /// One tenant's; everybody's when not said.
    pub namespace: Option<Namespace>,
    /// The key of the last lane of the page before.
    pub after: Option<LaneId>,
    pub limit: usize,
    /// Whether to count what has finished, which takes a while where much has. Without it, a lane nobody configured that has
    /// nothing else is left out.
    pub finished: bool,
}

impl ListLanesArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        match self.limit {
            0 => Err(Refusal::invalid("limit", "must be at least 1")),
            1..=limits::PAGE => Ok(()),
            sent => Err(Refusal::over_limit(Code::LimitExceeded, "limit", limits::PAGE, sent)),
        }
    }
}

/// A lane as callers see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneInfo {
    pub namespace: Namespace,
    pub lane_id: LaneId,
    pub settings: LaneSettings,
    /// Only where there is something.
    pub depths: Depths,
}

/// How much of a lane is where.
pub type Depths = BTreeMap<LaneStanding, Depth>;

/// How many, and the first of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Depth {
    pub count: u64,
    /// Since when the oldest has been there: of what waits for a worker or for upstreams since it was created, of what is
    /// held or suspended since it has been. Of what is delayed: when the first is due. What has finished has no age.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_at: Option<TimestampMs>,
}

words! {
    /// Where the executions of a lane are.
    LaneStanding {
        Waiting "waiting",
        Delayed "delayed",
        Active "active",
        Suspended "suspended",
        WaitingChildren "waiting_children",
        Finished "finished",
    }
}

impl LaneStanding {
    /// The index that has them.
    pub fn index(self, lane: LaneId) -> Index {
        match self {
            Self::Waiting => Index::LaneEligible(lane),
            Self::Delayed => Index::LaneDelayed(lane),
            Self::Active => Index::LaneActive(lane),
            Self::Suspended => Index::LaneSuspended(lane),
            Self::WaitingChildren => Index::LaneBlockedDependencies(lane),
            Self::Finished => Index::LaneTerminal(lane),
        }
    }
}

impl Depth {
    /// What two partitions have together.
    pub fn with(self, other: Depth) -> Self {
        let first_at = self.first_at.into_iter().chain(other.first_at).min();
        Self { count: self.count + other.count, first_at }
    }
}

/// One page of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LanesPage {
    pub lanes: Vec<LaneInfo>,
    /// Where the next page starts; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<LaneId>,
}
