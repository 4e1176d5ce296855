//! Many calls of a worker in one request.

use ff_core::types::ExecutionId;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Up to a thousand calls about leases. Each is read on its own, so that one that is wrong does not hold back the others.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkerBatch {
    pub calls: Vec<Box<RawValue>>,
}

/// One of them, as it would be sent to `POST /v1/executions/{id}/{call}`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerCall {
    pub call: LeaseCall,
    pub execution_id: ExecutionId,
    pub body: Box<RawValue>,
}

/// The calls a holder may make in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseCall {
    Renew,
    Progress,
    Complete,
    Fail,
    Delay,
    Steps,
    Usage,
}

impl LeaseCall {
    /// The call a route of an execution is, if it may be part of a batch.
    pub fn of_path(path: &str) -> Option<Self> {
        Some(match path.strip_prefix("/v1/executions/{id}/")? {
            "renew" => Self::Renew,
            "progress" => Self::Progress,
            "complete" => Self::Complete,
            "fail" => Self::Fail,
            "delay" => Self::Delay,
            "steps" => Self::Steps,
            "usage" => Self::Usage,
            _ => return None,
        })
    }
}

/// What became of each, in the order they were sent.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkerBatchReply {
    pub results: Vec<WorkerCallResult>,
}

/// What would have been answered to the call on its own: its status, and the reply or the problem.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkerCallResult {
    pub status: u16,
    pub body: Box<RawValue>,
}
