//! The domain of executions, over HTTP.

use ff_api::{Encoding, ExecutionsQuery, Limit, NoQuery, PayloadQuery, ResultQuery, WaitMs};
use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{
    Attempts, ExecutionEnd, ExecutionInfo, Filter, ListArgs, Page, SubmitArgs, SubmittedExecution, UsageInfo,
};
use ff_core::operation::query::{Describe, ReadAttempts, ReadPayload, ReadResult, ReadUsage};
use ff_core::payload::Payload;
use ff_core::types::ExecutionId;

use super::HttpConnection;
use super::coalesce::CoalescedCall;
use super::error::{unreadable, unwritable};

/// The encoding that keeps payloads as exact bytes.
pub(super) const EXACT: Option<Encoding> = Some(Encoding::Base64);

impl Handle<SubmitArgs, SubmittedExecution> for HttpConnection {
    async fn handle(&self, mut args: SubmitArgs) -> Answer<SubmittedExecution> {
        args.namespace = self.effective_namespace(&args.namespace);
        self.submissions.call(self, args).await
    }
}

impl CoalescedCall for SubmitArgs {
    type Reply = SubmittedExecution;

    fn bytes(&self) -> usize {
        self.payload.bytes.len()
    }

    async fn send_one(self, server: &HttpConnection) -> Answer<SubmittedExecution> {
        let submit = ff_api::Submit::of(self).map_err(unwritable)?;
        server.post(&["executions"], &submit, 0).await
    }

    async fn send_many(calls: Vec<Self>, server: &HttpConnection) -> Answer<Vec<Answer<SubmittedExecution>>> {
        server.submit_many(calls).await
    }
}

impl Handle<Describe, ExecutionInfo> for HttpConnection {
    async fn handle(&self, Describe { execution_id: ref id }: Describe) -> Answer<ExecutionInfo> {
        self.get(&["executions", &id.to_string()], NoQuery {}, 0).await
    }
}

impl Handle<ListArgs, Page> for HttpConnection {
    async fn handle(&self, args: ListArgs) -> Answer<Page> {
        let Filter { namespace, lane, state, blocking_reason, kind, tags, created_from, created_until } = args.filter;
        let query = ExecutionsQuery {
            namespace: Some(namespace),
            lane,
            state,
            blocking_reason,
            kind,
            tags,
            created_from,
            created_until,
            cursor: args.after.map(|cursor| cursor.to_string()),
            limit: Some(Limit(args.limit)),
        };
        let page: ff_api::Page = self.get(&["executions"], query, 0).await?;
        page.into_page().map_err(unreadable)
    }
}

impl Handle<ReadPayload, Payload> for HttpConnection {
    async fn handle(&self, ReadPayload { execution_id: ref id }: ReadPayload) -> Answer<Payload> {
        let path = ["executions", &id.to_string(), "payload"];
        let view: ff_api::PayloadView = self.get(&path, PayloadQuery { encoding: EXACT }, 0).await?;
        view.into_payload().map_err(unreadable)
    }
}

impl Handle<ReadResult, ExecutionEnd> for HttpConnection {
    async fn handle(&self, ReadResult { execution_id: ref id }: ReadResult) -> Answer<ExecutionEnd> {
        self.result_within(id, 0).await
    }
}

impl Handle<ReadAttempts, Attempts> for HttpConnection {
    async fn handle(&self, ReadAttempts { execution_id: ref id }: ReadAttempts) -> Answer<Attempts> {
        self.get(&["executions", &id.to_string(), "attempts"], NoQuery {}, 0).await
    }
}

impl Handle<ReadUsage, UsageInfo> for HttpConnection {
    async fn handle(&self, ReadUsage { execution_id: ref id }: ReadUsage) -> Answer<UsageInfo> {
        self.get(&["executions", &id.to_string(), "usage"], NoQuery {}, 0).await
    }
}

impl HttpConnection {
    /// Returns the end of an execution with the exact bytes of its result, and waits for it up to `wait_ms`.
    pub(super) async fn result_within(&self, id: &ExecutionId, wait_ms: u64) -> Answer<ExecutionEnd> {
        let query = ResultQuery { wait_ms: Some(WaitMs(wait_ms)), encoding: EXACT };
        let ended: ff_api::ExecutionEnd = self.get(&["executions", &id.to_string(), "result"], query, wait_ms).await?;
        ended.into_ended().map_err(unreadable)
    }
}
