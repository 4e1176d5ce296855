//! Arguments and replies about leases, of workers and operators.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal};
use crate::flow::contracts::Input;
use crate::lease::{Fence, Holder, LeaseEnding};
use crate::limits;
use crate::payload::Payload;
use crate::signal::contracts::ReceivedSignal;
use crate::step::contracts::StepsPage;
use crate::types::{Capability, ExecutionId, Kind, LaneId, Namespace, WorkerInstanceId};
use crate::worker::contracts::check_capabilities;

pub use super::admission::AdmissionRequest;
pub use super::assign::{AssignArgs, GrantInfo, GrantIssued, GrantRevoked, UnassignArgs};
pub use super::claim::{ClaimArgs, ClaimDecision, Head, Task, check_claim};
pub use super::claim_admitted::{AdmittedClaim, AdmittedClaimArgs, AdmittedClaims};
pub use super::claim_granted::{GrantedClaim, GrantedClaimArgs, GrantedClaims};
pub use super::renew::{RenewArgs, RenewedLease};
pub use super::revoke::{RevokeArgs, RevokedLease};

/// The reply to a claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    pub claimed: Vec<ClaimedExecution>,
    pub next: Option<Head>,
    /// Something waits, but the lane's limit is reached. A hint announces when one of the lane's executions ends.
    pub limited: bool,
    /// Executions that quota policies have to admit before they are taken, and that still wait.
    pub admissions: Vec<AdmissionRequest>,
}

/// One execution handed to a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedExecution {
    pub task: Task,
    pub payload: Payload,
    /// The signals of the task's resumption, in its order.
    pub signals: Vec<ReceivedSignal>,
    /// Results of upstreams, passed on by name.
    pub inputs: Vec<Input>,
    /// The recorded steps, from the first on, as many as come with a claim.
    pub steps: StepsPage,
}

/// A worker asks for work wherever there is some, and waits for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextArgs {
    pub namespace: Namespace,
    /// In the order they are preferred.
    pub lanes: Vec<LaneId>,
    pub kinds: Vec<Kind>,
    /// The worker's capabilities: it is handed work that requires nothing else.
    pub capabilities: BTreeSet<Capability>,
    pub max: usize,
    pub holder: Holder,
    pub lease_ttl_ms: u64,
    pub wait_ms: u64,
}

impl NextArgs {
    /// One execution of any kind from the lane `default` of the namespace `default`, if one is there now.
    pub fn new(holder: Holder) -> Self {
        Self {
            namespace: Namespace::default_name(),
            lanes: vec![LaneId::default_name()],
            kinds: vec![],
            capabilities: BTreeSet::new(),
            max: 1,
            holder,
            lease_ttl_ms: limits::LEASE_TTL_MS,
            wait_ms: 0,
        }
    }

    pub fn check(&self) -> Result<(), Refusal> {
        if self.lanes.is_empty() {
            return Err(Refusal::invalid("lanes", "must name at least one lane"));
        }
        if self.lanes.len() > limits::CLAIM_LANES {
            return Err(Refusal::over_limit(Code::LimitExceeded, "lanes", limits::CLAIM_LANES, self.lanes.len()));
        }
        check_wait(self.wait_ms)?;
        check_capabilities(&self.capabilities)?;
        check_claim(self.max, &self.kinds, self.lease_ttl_ms)
    }
}

/// Refuses to wait longer than a long poll may.
pub fn check_wait(wait_ms: u64) -> Result<(), Refusal> {
    if wait_ms <= limits::LONG_POLL_MS {
        return Ok(());
    }
    Err(Refusal::over_limit(Code::LimitExceeded, "wait_ms", limits::LONG_POLL_MS, wait_ms))
}

/// A worker instance asks which of its leases it lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlArgs {
    pub worker_instance_id: WorkerInstanceId,
    /// Where the last answer ended; from now on when absent.
    pub after: Option<String>,
    pub wait_ms: u64,
}

/// Leases lost since the cursor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Control {
    pub lost: Vec<LeaseLost>,
    /// Cursor of the next request.
    pub next: String,
    /// True when entries may be missing; the worker should renew its leases to find out.
    pub missed: bool,
}

/// A lease that was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeaseLost {
    pub execution_id: ExecutionId,
    #[serde(flatten)]
    pub fence: Fence,
    #[serde(flatten)]
    pub ended: LeaseEnding,
}
