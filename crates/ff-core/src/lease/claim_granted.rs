//! Claiming from a lane with a limit, with a grant of the lane's home.

use super::admission::Admission;
use super::claim::{ClaimArgs, ClaimDecision, hand_out};
use crate::engine_error::Refusal;
use crate::execution::Phase;
use crate::lane::Lane;
use crate::lane::contracts::{Grant, LaneCount};
use crate::lease::contracts::Claims;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, check_partition};
use crate::rule::view::{Stop, View, require_all};

/// A claim with the grant that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantedClaimArgs {
    pub claim: ClaimArgs,
    pub grant: Grant,
}

/// The result of a claim with a grant, and the lane's held count on the partition afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct GrantedClaim {
    pub decision: ClaimDecision,
    pub count: LaneCount,
}

/// The reply to a worker's claim with a grant, and the lane's held count on the partition afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct GrantedClaims {
    pub claims: Claims,
    pub count: LaneCount,
}

impl Command for GrantedClaimArgs {
    type Reply = GrantedClaim;

    fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        check_partition(self.claim.partition, partitions).and(self.claim.check())
    }

    fn partition(&self, _: &PartitionConfig) -> u16 {
        self.claim.partition
    }

    /// Takes at most as many executions as the grant allows. A grant that is used or void, or of other settings, takes
    /// nothing. Also returns how many executions of the lane the partition holds afterwards.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<GrantedClaim>, Stop> {
        let quotas = view.quotas(self.claim.partition, &self.claim.namespace);
        let key = self.claim.lane.within(&self.claim.namespace);
        let partition = self.claim.partition;
        let lane = [view.lane(partition, &key).map(drop), view.active(partition, &key).map(drop)];
        require_all(lane.into_iter().chain([quotas.as_ref().map(drop).map_err(Clone::clone)]))?;
        hand_out_granted(view, &self.claim, &self.grant, Admission::Unasked(quotas?), at)
    }
}

/// Claims with a grant: waiting executions, or admitted ones.
pub(super) fn hand_out_granted(
    view: &dyn View,
    claim: &ClaimArgs,
    grant: &Grant,
    admission: Admission<'_>,
    at: &Conditions,
) -> Result<Decision<GrantedClaim>, Stop> {
    let partition = claim.partition;
    let key = claim.lane.within(&claim.namespace);
    let held = view.active(partition, &key)?;
    let nothing = ClaimDecision::default();
    let count = LaneCount { partition, held, seq: 0, revision: 0, counted_at: at.now };
    let Some(lane) = view.lane(partition, &key)? else {
        return Ok(Decision::of(GrantedClaim { decision: nothing, count }, None));
    };
    let count = LaneCount { seq: lane.grants, revision: lane.revision, ..count };
    if grant.revision != lane.revision || grant.seq <= lane.grants || !lane.hands_out() {
        return Ok(Decision::of(GrantedClaim { decision: nothing, count }, None));
    }
    let most = usize::try_from(grant.n).unwrap_or(usize::MAX);
    let claim = ClaimArgs { max: claim.max.min(most), ..claim.clone() };
    let (decision, mut changes, turns) = hand_out(view, &claim, Some(lane), admission, &at.nonce, at.now)?;
    for change in &mut changes {
        if let Phase::Running { lease } = &mut change.after.phase {
            lease.limited = true;
        }
    }
    let held = held + u32::try_from(decision.tasks.len()).unwrap_or(u32::MAX);
    let count = LaneCount { held, seq: grant.seq, ..count };
    let after = Lane { grants: grant.seq, ..lane.clone() };
    Ok(Decision { changes, turns, ..Decision::about_lane(GrantedClaim { decision, count }, partition, Some(after)) })
}
