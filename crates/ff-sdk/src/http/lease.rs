//! A holder's calls about its leases, over HTTP. Concurrent calls share one request.

use ff_api::{LeaseCall, Problem, WorkerBatch, WorkerBatchReply, WorkerCall};
use ff_core::backend::Answer;
use ff_core::engine_error::EngineError;
use ff_core::types::ExecutionId;
use serde_json::value::{RawValue, to_raw_value};

use super::HttpConnection;
use super::coalesce::CoalescedCall;
use super::error::{unreadable, unwritable};

/// A holder's call about an execution, which may share a request with others.
pub(super) struct HolderCall {
    /// The last segment of the path of the call.
    pub(super) verb: &'static str,
    pub(super) call: LeaseCall,
    pub(super) execution_id: ExecutionId,
    pub(super) body: Box<RawValue>,
}

impl CoalescedCall for HolderCall {
    type Reply = Box<RawValue>;

    fn bytes(&self) -> usize {
        self.body.get().len()
    }

    async fn send_one(self, server: &HttpConnection) -> Answer<Box<RawValue>> {
        server.post(&["executions", &self.execution_id.to_string(), self.verb], &self.body, 0).await
    }

    async fn send_many(calls: Vec<Self>, server: &HttpConnection) -> Answer<Vec<Answer<Box<RawValue>>>> {
        let count = calls.len();
        let written = calls.into_iter().map(|HolderCall { call, execution_id, body, .. }| {
            to_raw_value(&WorkerCall { call, execution_id, body }).map_err(unwritable)
        });
        let batch = WorkerBatch { calls: written.collect::<Answer<_>>()? };
        let reply: WorkerBatchReply = server.post(&["worker", "batch"], &batch, 0).await?;
        if reply.results.len() != count {
            return Err(EngineError::Unknown("the server answered for another number of calls".into()));
        }
        let answer = |status: u16, body: Box<RawValue>| match status {
            200 => Ok(body),
            _ => match serde_json::from_str::<Problem>(body.get()) {
                Ok(problem) => Err(problem.into_error()),
                Err(error) => Err(unreadable(&error)),
            },
        };
        Ok(reply.results.into_iter().map(|result| answer(result.status, result.body)).collect())
    }
}
