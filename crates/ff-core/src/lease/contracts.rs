//! What workers and operators ask of a lease, and what they are told.

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal};
use crate::execution::contracts::check_message;
use crate::execution::{Origin, Tags};
use crate::flow::contracts::{Input, TaskFlow};
use crate::lease::{Fence, Holder, LeaseEnding};
use crate::limits;
use crate::payload::Payload;
use crate::policy::Policy;
use crate::signal::contracts::ReceivedSignal;
use crate::suspension::contracts::Resumption;
use crate::trace::TraceContext;
use crate::types::{
    AttemptIndex, ExecutionId, Kind, LaneId, LeaseEpoch, LeaseId, Namespace, Priority, TimestampMs, WorkerInstanceId,
};

/// A worker asks one partition for work of one lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimArgs {
    pub partition: u16,
    pub namespace: Namespace,
    pub lane: LaneId,
    /// Which kinds; any when none is named.
    pub kinds: Vec<Kind>,
    pub max: usize,
    pub holder: Holder,
    pub lease_ttl_ms: u64,
}

impl ClaimArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        check_claim(self.max, &self.kinds, self.lease_ttl_ms)
    }
}

/// Refuses a claim of nothing, of too much, or for too long.
pub fn check_claim(max: usize, kinds: &[Kind], lease_ttl_ms: u64) -> Result<(), Refusal> {
    if max == 0 {
        return Err(Refusal::invalid("max", "must be at least 1"));
    }
    if max > limits::CLAIM {
        return Err(Refusal::over_limit(Code::LimitExceeded, "max", limits::CLAIM, max));
    }
    if kinds.len() > limits::CLAIM_KINDS {
        return Err(Refusal::over_limit(Code::LimitExceeded, "kinds", limits::CLAIM_KINDS, kinds.len()));
    }
    check_ttl(lease_ttl_ms)
}

fn check_ttl(ttl_ms: u64) -> Result<(), Refusal> {
    let (low, high) = (limits::LEASE_TTL_MIN_MS, limits::LEASE_TTL_MAX_MS);
    if (low..=high).contains(&ttl_ms) {
        return Ok(());
    }
    let mut refusal = Refusal::new(Code::LimitExceeded).at("lease_ttl_ms");
    refusal.limit = Some((if ttl_ms < low { low } else { high }, ttl_ms));
    Err(refusal.because(format!("must be from {low} to {high}, got {ttl_ms}")))
}

/// One execution handed to a worker, with everything it needs but the payload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub execution_id: ExecutionId,
    pub namespace: Namespace,
    pub lane_id: LaneId,
    pub kind: Kind,
    pub priority: Priority,
    #[serde(default, skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    pub policy: Policy,
    pub fence: Fence,
    pub attempt_index: AttemptIndex,
    pub attempt: Origin,
    /// True when the attempt was started before and goes on now.
    pub resumed: bool,
    pub lease_ttl_ms: u64,
    pub lease_expires_at: TimestampMs,
    pub created_at: TimestampMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<TimestampMs>,
    /// How its last suspension ended, with the signals it was ended by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumption: Option<Resumption>,
    /// Its place in a flow, when it is in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<TaskFlow>,
    /// The trace it was submitted in, whichever attempt this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<TraceContext>>,
}

/// What a claim decided: the executions taken, and where the lane stands now.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    pub tasks: Vec<Task>,
    /// The best execution of these kinds still waiting on this partition.
    pub next: Option<Head>,
    /// Something waits, but the lane has a limit: it is taken only with a grant of the lane's home.
    pub limited: bool,
}

/// What a worker receives.
#[derive(Clone, Debug, PartialEq)]
pub struct Claims {
    pub claimed: Vec<Claimed>,
    pub next: Option<Head>,
    /// Something waits, but as much of the lane is held as its limit allows. When one of them ends, it is told by a hint.
    pub limited: bool,
}

/// One execution handed to a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Claimed {
    pub task: Task,
    pub payload: Payload,
    /// The signals of the task's resumption, in its order.
    pub signals: Vec<ReceivedSignal>,
    /// The results of upstreams that were passed on to it by name.
    pub inputs: Vec<Input>,
}

/// What decides between two waiting executions: the smaller goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Head {
    /// The highest priority is the smallest number here.
    pub behind: u16,
    pub created_at: TimestampMs,
}

impl Head {
    pub fn new(priority: Priority, created_at: TimestampMs) -> Self {
        Self { behind: limits::PRIORITY_MAX - priority.get(), created_at }
    }
}

/// A holder wants to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenewArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
    /// How long from now; as long as before when not said.
    pub lease_ttl_ms: Option<u64>,
}

impl RenewArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        self.lease_ttl_ms.map_or(Ok(()), check_ttl)
    }
}

/// The lease goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Renewed {
    pub lease_expires_at: TimestampMs,
}

/// An operator takes a lease away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevokeArgs {
    pub execution_id: ExecutionId,
    /// Only this lease, when given: the holder may have changed meanwhile.
    pub lease_id: Option<LeaseId>,
    pub reason: Option<String>,
}

impl RevokeArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        check_message("reason", self.reason.as_deref())
    }
}

/// The lease is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Revoked {
    pub lease_epoch: LeaseEpoch,
    /// True when it had been revoked before.
    pub already: bool,
}

/// A worker asks for work wherever there is some, and waits for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextArgs {
    pub namespace: Namespace,
    /// In the order they are preferred.
    pub lanes: Vec<LaneId>,
    pub kinds: Vec<Kind>,
    pub max: usize,
    pub holder: Holder,
    pub lease_ttl_ms: u64,
    pub wait_ms: u64,
}

impl NextArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        if self.lanes.is_empty() {
            return Err(Refusal::invalid("lanes", "must name at least one lane"));
        }
        if self.lanes.len() > limits::CLAIM_LANES {
            return Err(Refusal::over_limit(Code::LimitExceeded, "lanes", limits::CLAIM_LANES, self.lanes.len()));
        }
        check_wait(self.wait_ms)?;
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

/// The leases lost since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Control {
    pub lost: Vec<LeaseLost>,
    /// Where to go on.
    pub next: String,
    /// True when something may have been missed, so that the worker should renew what it holds to find out.
    pub missed: bool,
}

/// One lease that was taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeaseLost {
    pub execution_id: ExecutionId,
    #[serde(flatten)]
    pub fence: Fence,
    #[serde(flatten)]
    pub ended: LeaseEnding,
}
