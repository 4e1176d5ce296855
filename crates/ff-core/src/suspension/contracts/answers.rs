//! The reply to a suspension. It is also stored, under the idempotency key.

use serde::{Deserialize, Serialize};

use crate::token::WaitpointToken;
use crate::types::{ExecutionId, IdempotencyKey, SignalId, SuspensionId, TimestampMs, WaitpointId, WaitpointKey};

/// The result of a request to suspend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SuspendedExecution {
    pub suspension_id: SuspensionId,
    /// In the order of the request, each with its token. Afterwards only an operator can read the tokens.
    pub waitpoints: Vec<GrantedWaitpoint>,
    #[serde(flatten)]
    pub outcome: SuspendOutcome,
}

/// Whether the holder is to wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum SuspendOutcome {
    /// The lease is given up, and the execution waits.
    Suspended,
    /// The condition was already met. The lease is kept, and these are the signals.
    AlreadySatisfied { signals: Vec<SignalId> },
}

/// The first reply to a suspension under an idempotency key, and the time until which it is returned again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuspendKeyEntry {
    pub execution_id: ExecutionId,
    pub key: IdempotencyKey,
    pub until: TimestampMs,
    pub answer: SuspendedExecution,
}

/// A waitpoint and its token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GrantedWaitpoint {
    pub waitpoint_id: WaitpointId,
    pub waitpoint_key: WaitpointKey,
    pub waitpoint_token: WaitpointToken,
}
