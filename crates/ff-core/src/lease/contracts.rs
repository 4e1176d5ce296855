//! Arguments and replies about leases, for workers and operators.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal, check_limit};
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
    /// True if work waits, but the lane's limit is reached. A hint announces the end of one of the lane's executions.
    pub limited: bool,
    /// Executions that quota policies have to admit before they are taken, and that still wait.
    pub admissions: Vec<AdmissionRequest>,
}

/// One execution handed to a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedExecution {
    pub task: Task,
    pub payload: Payload,
    /// The signals of the task's resumption, in the same order.
    pub signals: Vec<ReceivedSignal>,
    /// Results of upstreams, passed on by name.
    pub inputs: Vec<Input>,
    /// The recorded steps, from the first one up to the size that is sent with a claim.
    pub steps: StepsPage,
}

/// A request of a worker for executions on any partition, with the time to wait for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextArgs {
    pub namespace: Namespace,
    /// Lanes, in the order of preference.
    pub lanes: Vec<LaneId>,
    pub kinds: Vec<Kind>,
    /// Capabilities of the worker. It receives only work that requires no others.
    pub capabilities: BTreeSet<Capability>,
    pub max: usize,
    pub holder: Holder,
    pub lease_ttl_ms: u64,
    pub wait_ms: u64,
}

impl NextArgs {
    /// Returns a request for one execution of any kind from the lane `default` of the namespace `default`, without waiting.
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
        check_limit(Code::LimitExceeded, "lanes", limits::CLAIM_LANES, self.lanes.len())?;
        check_wait(self.wait_ms)?;
        check_capabilities(&self.capabilities)?;
        check_claim(self.max, &self.kinds, self.lease_ttl_ms)
    }
}

/// Refuses to wait longer than a long poll may.
pub fn check_wait(wait_ms: u64) -> Result<(), Refusal> {
    check_limit(Code::LimitExceeded, "wait_ms", limits::LONG_POLL_MS, wait_ms)
}

/// A request of a worker instance for the leases that it lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlArgs {
    pub worker_instance_id: WorkerInstanceId,
    /// Cursor of the last reply. When absent, only later losses are returned.
    pub after: Option<String>,
    pub wait_ms: u64,
}

/// Leases lost since the cursor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Control {
    pub lost: Vec<LeaseLost>,
    /// Cursor of the next request.
    pub next: String,
    /// True when entries may be missing; the worker should renew its leases to find out.
    pub missed: bool,
}

/// A lease that was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LeaseLost {
    pub execution_id: ExecutionId,
    #[serde(flatten)]
    pub fence: Fence,
    #[serde(flatten)]
    pub ended: LeaseEnding,
}
