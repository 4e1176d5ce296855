//! Claiming what quota policies limit: a claim lists it, the policies admit it, and then it is taken.

use serde::{Deserialize, Serialize};

use super::claim::{ClaimArgs, ClaimDecision, hand_out};
use super::claim_granted::{GrantedClaim, hand_out_granted};
use crate::engine_error::{Code, Refusal};
use crate::execution::{Execution, Phase};
use crate::lane::contracts::{Grant, LaneCount};
use crate::lease::contracts::Claims;
use crate::limits;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, check_partition};
use crate::quota::{QuotaSet, QuotaSlot};
use crate::types::{ExecutionId, LeaseEpoch, TimestampMs};
use crate::view::{Stop, View, require_all};

/// An execution that is taken once its quota policies have admitted it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdmissionRequest {
    pub execution_id: ExecutionId,
    /// Of the lease that is to come.
    pub epoch: LeaseEpoch,
    /// What it needs of each policy.
    pub slots: Vec<QuotaSlot>,
}

/// Takes executions that every policy has admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmittedClaimArgs {
    pub claim: ClaimArgs,
    pub admitted: Vec<AdmissionRequest>,
    /// When the first policy admitted them. What it reserved may be given to others a while later.
    pub admitted_at: TimestampMs,
    /// The leave of the lane's home, where the lane has a limit.
    pub grant: Option<Grant>,
}

/// What such a claim took, and how many of the lane are held on its partition now, where a grant was used.
#[derive(Clone, Debug, PartialEq)]
pub struct AdmittedClaim {
    pub taken: ClaimDecision,
    pub count: Option<LaneCount>,
    /// Of those that were not taken, those that run under the epoch they were admitted for: another claim has taken them, and their
    /// slots are in use.
    pub running: Vec<ExecutionId>,
}

/// What such a claim answers a worker with.
#[derive(Clone, Debug, PartialEq)]
pub struct AdmittedClaims {
    pub claims: Claims,
    pub count: Option<LaneCount>,
    /// Of those that were not taken, those that run under the epoch they were admitted for.
    pub running: Vec<ExecutionId>,
}

/// How quota policies bear on a claim.
#[derive(Clone, Copy)]
pub(super) enum Admission<'a> {
    /// No policy was asked yet: an execution that one applies to is listed and not taken.
    Unasked(Option<&'a QuotaSet>),
    /// Exactly these are taken.
    Given(Option<&'a QuotaSet>, &'a [AdmissionRequest]),
}

/// What becomes of one execution.
pub(super) enum Admittance {
    /// It is taken, with these slots.
    Taken(Vec<QuotaSlot>),
    Listed(AdmissionRequest),
}

impl<'a> Admission<'a> {
    /// The executions to be taken, where they are chosen.
    pub(super) fn chosen(&self) -> Option<Vec<ExecutionId>> {
        match self {
            Self::Unasked(_) => None,
            Self::Given(_, admitted) => Some(admitted.iter().map(|one| one.execution_id).collect()),
        }
    }

    /// What becomes of an execution; nothing when it does not wait any longer as it did when it was admitted.
    pub(super) fn of(&self, args: &ClaimArgs, execution: &Execution) -> Option<Admittance> {
        let needed = |set: &Option<&'a QuotaSet>| set.map_or_else(Vec::new, |set| set.slots_for(execution));
        let epoch = execution.epoch().next();
        match self {
            Self::Unasked(set) => Some(match needed(set) {
                none if none.is_empty() => Admittance::Taken(none),
                slots => Admittance::Listed(AdmissionRequest { execution_id: execution.id, epoch, slots }),
            }),
            Self::Given(set, admitted) => {
                let here = execution.queue_class().is_some()
                    && (&execution.namespace, &execution.lane) == (&args.namespace, &args.lane);
                let given = admitted.iter().find(|one| one.execution_id == execution.id && one.epoch == epoch);
                let given = given.filter(|one| here && one.slots == needed(set));
                given.map(|one| Admittance::Taken(one.slots.clone()))
            }
        }
    }
}

impl Command for AdmittedClaimArgs {
    type Reply = AdmittedClaim;

    fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        let (most, sent) = (limits::CLAIM_AT_ONCE, self.admitted.len());
        if sent > most {
            return Err(Refusal::over_limit(Code::LimitExceeded, "admitted", most, sent));
        }
        if let Some(elsewhere) = self.admitted.iter().find(|one| one.execution_id.partition() != self.claim.partition) {
            let why = format!("{} is not on the partition of the claim", elsewhere.execution_id);
            return Err(Refusal::invalid("admitted", why));
        }
        check_partition(self.claim.partition, partitions).and(self.claim.check())
    }

    fn partition(&self, _: &PartitionConfig) -> u16 {
        self.claim.partition
    }

    /// Takes those that still wait under the epoch they were admitted for, and to which the same policies apply. Nothing is
    /// taken once the admission is too old, and of a lane with a limit nothing without a grant.
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
            let answer = |GrantedClaim { taken, count }| AdmittedClaim { taken, count: Some(count), running };
            return Ok(granted.map(answer));
        }
        let limited = known.is_some_and(|lane| lane.settings.concurrency.is_some());
        if limited || known.is_some_and(|lane| !lane.hands_out()) {
            let taken = ClaimDecision { limited, ..ClaimDecision::default() };
            return Ok(Decision::of(AdmittedClaim { taken, count: None, running }, None));
        }
        let (taken, changes, turns) = hand_out(view, claim, known, admission, &at.nonce, at.now)?;
        Ok(Decision { turns, ..Decision::of(AdmittedClaim { taken, count: None, running }, changes) })
    }
}

impl AdmittedClaimArgs {
    /// Those that run under the epoch they were admitted for before anything is taken.
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
