//! Holding a lane to its limit: what a partition asks of the lane's home, and what home asks of partitions.

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal};
use crate::lease::contracts::{ClaimArgs, Claims, Taken};
use crate::limits;
use crate::types::{LaneId, Namespace};

/// A partition wants to hand out work of a lane with a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllotArgs {
    pub partition: u16,
    pub namespace: Namespace,
    pub lane: LaneId,
    /// How many at most.
    pub want: u32,
}

/// What the lane's home says to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allotted {
    /// Absent when there is nothing to give.
    pub grant: Option<Grant>,
    /// What the settings were when it was said.
    pub revision: u64,
    /// Partitions to count before asking again, each with its last grant.
    pub uncounted: Vec<(u16, u64)>,
}

/// Leave to hand out so many, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub n: u32,
    pub seq: u64,
    pub revision: u64,
}

/// A claim with the leave it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantedClaimArgs {
    pub claim: ClaimArgs,
    pub grant: Grant,
}

/// What such a claim took, and how many of the lane are held on its partition now.
#[derive(Clone, Debug, PartialEq)]
pub struct GrantedClaim {
    pub taken: Taken,
    pub count: LaneCount,
}

/// What such a claim answers a worker with, and how many of the lane are held on its partition now.
#[derive(Clone, Debug, PartialEq)]
pub struct GrantedClaims {
    pub claims: Claims,
    pub count: LaneCount,
}

/// A partition is to count what it holds of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecountLaneArgs {
    pub partition: u16,
    pub namespace: Namespace,
    pub lane: LaneId,
    /// The last grant it was given: if it was not used by now, it is not going to be.
    pub seq: u64,
}

/// How many of a lane are held on a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneCount {
    pub partition: u16,
    pub held: u32,
    /// The last grant that counts no more.
    pub seq: u64,
    /// What the settings were when it was counted.
    pub revision: u64,
}

/// A lane's home is told what was counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettleLaneArgs {
    pub namespace: Namespace,
    pub lane: LaneId,
    pub counts: Vec<LaneCount>,
}

impl SettleLaneArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        let most = usize::from(u16::MAX);
        match self.counts.len() {
            sent if sent > most => Err(Refusal::over_limit(Code::LimitExceeded, "counts", most, sent)),
            _ => Ok(()),
        }
    }
}

/// How many of the counts said something new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneSettled {
    pub taken: u32,
}

impl AllotArgs {
    /// What a claim wants when it is told that its lane has a limit.
    pub fn of(claim: &ClaimArgs) -> Self {
        Self {
            partition: claim.partition,
            namespace: claim.namespace.clone(),
            lane: claim.lane.clone(),
            want: u32::try_from(claim.max.min(limits::CLAIM_AT_ONCE)).unwrap_or(u32::MAX),
        }
    }
}
