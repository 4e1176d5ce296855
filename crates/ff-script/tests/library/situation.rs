//! States of an execution before a call.

use bytes::Bytes;
use ff_core::backend::entropy::{Entropy, SystemEntropy};
use ff_core::contracts::{ClaimArgs, CompleteArgs, RevokeArgs, SubmitArgs, Task};
use ff_core::engine_error::Code;
use ff_core::lease::{Fence, Holder};
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::types::{ExecutionId, Kind, LeaseEpoch};
use ff_script::execution::{ff_complete_execution, ff_create_execution};
use ff_script::lease::{ff_claim_execution, ff_revoke_lease};
use ff_script::signature::CreateExecution;

use crate::wire::Wire;

pub(crate) const ONE_PARTITION: PartitionConfig =
    PartitionConfig { num_flow_partitions: 1, num_budget_partitions: 1, num_quota_partitions: 1 };

pub(crate) const LEASE_TTL_MS: u64 = 30_000;

/// The state of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Situation {
    /// The execution does not exist.
    Absent,
    /// It waits and was never held.
    Waiting,
    Held,
    /// The caller's lease was revoked, and another worker holds it now.
    HeldByAnother,
    /// The caller's lease has expired, and no pump has run yet.
    RanOut,
    /// The caller's lease was revoked, and it waits.
    Revoked,
    Completed,
    /// It has ended, and its policy does not allow a replay.
    CompletedForGood,
}

/// An execution, and the caller's fence.
pub(crate) struct Subject {
    pub(crate) submitted: SubmitArgs,
    pub(crate) id: ExecutionId,
    pub(crate) fence: Fence,
}

impl Situation {
    /// Returns the situation in which a holder's call is refused with a code. If the code does not concern the lease,
    /// returns `Held`.
    pub(crate) fn that_refuses_holders(code: Code) -> Self {
        match code {
            Code::ExecutionNotFound => Self::Absent,
            Code::ExecutionNotActive => Self::Completed,
            Code::StaleLease => Self::HeldByAnother,
            Code::LeaseExpired => Self::RanOut,
            Code::LeaseRevoked => Self::Revoked,
            _ => Self::Held,
        }
    }

    pub(crate) const ALL: [Self; 8] = [
        Self::Absent,
        Self::Waiting,
        Self::Held,
        Self::HeldByAnother,
        Self::RanOut,
        Self::Revoked,
        Self::Completed,
        Self::CompletedForGood,
    ];

    /// Creates an execution in this situation.
    pub(crate) async fn arrange(self, wire: &Wire) -> Subject {
        let mut submitted = SubmitArgs::new(Kind::parse("resize").unwrap(), Payload::json("1"));
        if self == Self::CompletedForGood {
            submitted.policy.max_replay_count = 0;
        }
        let id = submitted.execution_id(&ONE_PARTITION);
        let mut subject = Subject { submitted, id, fence: made_up() };
        if self == Self::Absent {
            return subject;
        }
        ff_create_execution(wire, &ONE_PARTITION, subject.submitted.clone()).await.unwrap();
        if self == Self::Waiting {
            return subject;
        }
        subject.fence = claim(wire).await.fence;
        match self {
            Self::HeldByAnother => {
                subject.revoke(wire).await;
                claim(wire).await;
            }
            Self::RanOut => wire.advance(LEASE_TTL_MS).await,
            Self::Revoked => subject.revoke(wire).await,
            Self::Completed | Self::CompletedForGood => {
                let done = CompleteArgs { execution_id: id, fence: subject.fence, result: None };
                ff_complete_execution(wire, done).await.unwrap();
            }
            Self::Absent | Self::Waiting | Self::Held => {}
        }
        subject
    }
}

impl Subject {
    async fn revoke(&self, wire: &Wire) {
        ff_revoke_lease(wire, RevokeArgs { execution_id: self.id, lease_id: None, reason: None }).await.unwrap();
    }
}

/// Returns the call that creates an execution, with nothing that may be left out.
pub(crate) fn create_call(core: String) -> CreateExecution {
    CreateExecution {
        core,
        namespace: "default".into(),
        lane_id: "default".into(),
        kind: "resize".into(),
        payload: Bytes::from_static(b"1"),
        digest: Bytes::from_static(&[7; 16]),
        content_type: None,
        priority: 0,
        idempotency_key: None,
        dedup_window_ms: 0,
        start_in_ms: None,
        start_at: None,
        deadline_in_ms: None,
        attempt_timeout_ms: None,
        policy_json: None,
        traceparent: None,
        tracestate: None,
        tags: vec![],
    }
}

/// Claims the one execution that waits.
pub(crate) async fn claim(wire: &Wire) -> Task {
    let args = ClaimArgs::new(0, Holder::parse("w", "w-1").unwrap());
    let mut claims = ff_claim_execution(wire, args, &SystemEntropy.nonce()).await.unwrap();
    claims.claimed.remove(0).task
}

/// Returns a fence that was never issued.
fn made_up() -> Fence {
    let (lease_id, attempt_id) = SystemEntropy.nonce().lease(0);
    Fence { lease_id, lease_epoch: LeaseEpoch(1), attempt_id }
}
