//! The questions of a claim to quotas, and the answers.

use serde::{Deserialize, Serialize};

use crate::execution::Execution;
use crate::quota::{QuotaSet, QuotaSlot};
use crate::types::{ExecutionId, LaneId, LeaseEpoch, Namespace};

/// An execution that is taken once its quota policies have admitted it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdmissionRequest {
    pub execution_id: ExecutionId,
    /// Of the lease that is to come.
    pub epoch: LeaseEpoch,
    /// Its slot of each policy.
    pub slots: Vec<QuotaSlot>,
}

/// How quota policies bear on a claim.
#[derive(Clone, Copy)]
pub(super) enum Admission<'a> {
    /// No policy was asked yet: an execution that one applies to is listed and not taken.
    Unasked(Option<&'a QuotaSet>),
    /// Exactly these are taken.
    Given(Option<&'a QuotaSet>, &'a [AdmissionRequest]),
}

/// The result for one execution.
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

    /// The result for an execution in a claim of this lane; none when it changed since it was admitted.
    pub(super) fn of(&self, lane: (&Namespace, &LaneId), execution: &Execution) -> Option<Admittance> {
        let needed = |set: &Option<&'a QuotaSet>| set.map_or_else(Vec::new, |set| set.slots_for(execution));
        let epoch = execution.epoch().next();
        match self {
            Self::Unasked(set) => Some(match needed(set) {
                none if none.is_empty() => Admittance::Taken(none),
                slots => Admittance::Listed(AdmissionRequest { execution_id: execution.id, epoch, slots }),
            }),
            Self::Given(set, admitted) => {
                let here = execution.queue_class().is_some() && (&execution.namespace, &execution.lane) == lane;
                let given = admitted.iter().find(|one| one.execution_id == execution.id && one.epoch == epoch);
                let given = given.filter(|one| here && one.slots == needed(set));
                given.map(|one| Admittance::Taken(one.slots.clone()))
            }
        }
    }
}
