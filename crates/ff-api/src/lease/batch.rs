//! Many calls of a worker in one request.

use ff_core::types::ExecutionId;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::object::{answers, requests};

requests! {
    /// Up to 1000 calls about leases. Each is checked separately: an invalid one does not affect the others.
    pub struct WorkerBatch {
        pub calls: Vec<Box<RawValue>>,
    }
}

/// One call of a batch. Its body is that of `POST /v1/executions/{id}/{call}`.
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
    /// Returns the call of a route, if it may be part of a batch.
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

answers! {
    /// Results, in request order.
    pub struct WorkerBatchReply {
        pub results: Vec<WorkerCallResult>,
    }

    /// Status and body of the response that a single call would get.
    pub struct WorkerCallResult {
        pub status: u16,
        pub body: Box<RawValue>,
    }
}
