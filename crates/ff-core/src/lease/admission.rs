//! The admission of claimed executions by quota policies.

use serde::{Deserialize, Serialize};

use crate::execution::Execution;
use crate::quota::{QuotaSet, QuotaSlot};
use crate::types::{ExecutionId, LaneId, LeaseEpoch, Namespace};

/// An execution that can be claimed once its quota policies have admitted it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdmissionRequest {
    pub execution_id: ExecutionId,
    /// Epoch of the lease that the claim creates.
    pub epoch: LeaseEpoch,
    /// The slots that it needs, one for each policy.
    pub slots: Vec<QuotaSlot>,
}

/// The state of admission in a claim.
#[derive(Clone, Copy)]
pub(super) enum Admission<'a> {
    /// No policy was asked yet. Executions to which a policy applies are listed and not taken.
    Unasked(Option<&'a QuotaSet>),
    /// Only these executions are taken.
    Given(Option<&'a QuotaSet>, &'a [AdmissionRequest]),
}

/// The result for one execution.
pub(super) enum AdmissionOutcome {
    /// The execution is taken, with these slots.
    Taken(Vec<QuotaSlot>),
    Listed(AdmissionRequest),
}

impl<'a> Admission<'a> {
    /// Returns the admitted executions, if the claim takes only those.
    pub(super) fn chosen(&self) -> Option<Vec<ExecutionId>> {
        match self {
            Self::Unasked(_) => None,
            Self::Given(_, admitted) => Some(admitted.iter().map(|one| one.execution_id).collect()),
        }
    }

    /// Returns the result for an execution in a claim of this lane, or nothing if the execution changed since it was
    /// admitted.
    pub(super) fn of(&self, lane: (&Namespace, &LaneId), execution: &Execution) -> Option<AdmissionOutcome> {
        let needed = |set: &Option<&'a QuotaSet>| set.map_or_else(Vec::new, |set| set.slots_for(execution));
        let epoch = execution.epoch().next();
        match self {
            Self::Unasked(set) => Some(match needed(set) {
                none if none.is_empty() => AdmissionOutcome::Taken(none),
                slots => AdmissionOutcome::Listed(AdmissionRequest { execution_id: execution.id, epoch, slots }),
            }),
            Self::Given(set, admitted) => {
                let here = execution.queue_class().is_some() && (&execution.namespace, &execution.lane) == lane;
                let given = admitted.iter().find(|one| one.execution_id == execution.id && one.epoch == epoch);
                let given = given.filter(|one| here && one.slots == needed(set));
                given.map(|one| AdmissionOutcome::Taken(one.slots.clone()))
            }
        }
    }
}
