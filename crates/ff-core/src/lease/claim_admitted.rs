//! Claiming under quota policies: a claim lists the executions, the policies admit them, and then they are taken.

use super::admission::{Admission, AdmissionRequest};
use super::claim::{ClaimArgs, ClaimDecision, hand_out};
use super::claim_granted::{GrantedClaim, hand_out_granted};
use crate::engine_error::{Code, Refusal, check_limit};
use crate::execution::Phase;
use crate::lane::contracts::{Grant, LaneCount};
use crate::lease::contracts::Claims;
use crate::limits;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, check_partition};
use crate::rule::view::{Stop, View, require_all};
use crate::types::{ExecutionId, TimestampMs};

/// A claim of executions that every quota policy has admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmittedClaimArgs {
    pub claim: ClaimArgs,
    pub admitted: Vec<AdmissionRequest>,
    /// Time of the first admission. [`limits::QUOTA_RESERVED_MS`] later, the policy may give the reservation to others.
    pub admitted_at: TimestampMs,
    /// The grant of the lane's home, if the lane has a limit.
    pub grant: Option<Grant>,
}

/// The result of a claim of admitted executions. With a grant, also the lane's held count on the partition afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct AdmittedClaim {
    pub decision: ClaimDecision,
    pub count: Option<LaneCount>,
    /// Admitted executions that were running under the epoch of their admission before this claim: another claim has
    /// taken them, and their slots are in use.
    pub running: Vec<ExecutionId>,
}

/// The reply to a worker's claim of admitted executions.
#[derive(Clone, Debug, PartialEq)]
pub struct AdmittedClaims {
    pub claims: Claims,
    pub count: Option<LaneCount>,
    /// Admitted executions that were running under the epoch of their admission before this claim.
    pub running: Vec<ExecutionId>,
}

impl Command for AdmittedClaimArgs {
    type Reply = AdmittedClaim;

    fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        check_limit(Code::LimitExceeded, "admitted", limits::CLAIM_AT_ONCE, self.admitted.len())?;
        if let Some(elsewhere) = self.admitted.iter().find(|one| one.execution_id.partition() != self.claim.partition) {
            let why = format!("{} is not on the partition of the claim", elsewhere.execution_id);
            return Err(Refusal::invalid("admitted", why));
        }
        check_partition(self.claim.partition, partitions).and(self.claim.check())
    }

    fn partition(&self, _: &PartitionConfig) -> u16 {
        self.claim.partition
    }

    /// Takes the executions that still wait under the epoch of their admission and to which the same policies apply.
    /// Nothing is taken if the admission is too old, or if the lane has a limit and there is no grant.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<AdmittedClaim>, Stop> {
        let (claim, partition) = (&self.claim, self.claim.partition);
        let lane = claim.lane.within(&claim.namespace);
        let executions = self.admitted.iter().map(|one| view.execution(&one.execution_id).map(drop));
        let records = [view.lane(partition, &lane).map(drop), view.quotas(partition, &claim.namespace).map(drop)];
        require_all(executions.chain(records))?;
        let (known, set) = (view.lane(partition, &lane)?, view.quotas(partition, &claim.namespace)?);
        let running = self.running(view)?;
        let is_over = at.now >= self.admitted_at + limits::QUOTA_RESERVED_MS;
        let admission = Admission::Given(set, if is_over { &[] } else { &self.admitted });
        if let Some(grant) = &self.grant {
            let granted = hand_out_granted(view, claim, grant, admission, at)?;
            let answer = |GrantedClaim { decision, count }| AdmittedClaim { decision, count: Some(count), running };
            return Ok(granted.map(answer));
        }
        let limited = known.is_some_and(|lane| lane.settings.concurrency.is_some());
        if limited || known.is_some_and(|lane| !lane.hands_out()) {
            let decision = ClaimDecision { limited, ..ClaimDecision::default() };
            return Ok(Decision::of(AdmittedClaim { decision, count: None, running }, None));
        }
        let (decision, changes, turns) = hand_out(view, claim, known, admission, &at.nonce, at.now)?;
        Ok(Decision { turns, ..Decision::of(AdmittedClaim { decision, count: None, running }, changes) })
    }
}

impl AdmittedClaimArgs {
    /// Returns the admitted executions that run under the epoch of their admission before this claim takes any.
    fn running(&self, view: &dyn View) -> Result<Vec<ExecutionId>, Stop> {
        let mut running = Vec::new();
        for AdmissionRequest { execution_id, epoch, .. } in &self.admitted {
            let phase = view.execution(execution_id)?.map(|execution| &execution.phase);
            if matches!(phase, Some(Phase::Running { lease }) if lease.fence.lease_epoch == *epoch) {
                running.push(*execution_id);
            }
        }
        Ok(running)
    }
}
