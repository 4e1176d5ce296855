//! The domain of suspensions, over HTTP.

use ff_api::NoQuery;
use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{
    CloseWaitpointArgs, ClosedWaitpoint, PartitionKids, ResumeArgs, ResumedExecution, SuspendArgs, SuspendedExecution,
    WaitpointInfo,
};
use ff_core::operation::query::{ListKids, ListWaitpoints, MintToken};
use ff_core::suspension::OperatorDecision;
use ff_core::token::WaitpointToken;

use super::HttpConnection;
use super::error::unwritable;

impl Handle<SuspendArgs, SuspendedExecution> for HttpConnection {
    async fn handle(&self, args: SuspendArgs) -> Answer<SuspendedExecution> {
        let id = args.execution_id.to_string();
        let suspend = ff_api::Suspend::of(args).map_err(unwritable)?;
        self.post(&["executions", &id, "suspend"], &suspend, 0).await
    }
}

impl Handle<CloseWaitpointArgs, ClosedWaitpoint> for HttpConnection {
    async fn handle(&self, args: CloseWaitpointArgs) -> Answer<ClosedWaitpoint> {
        let (id, waitpoint) = (args.execution_id.to_string(), args.waitpoint_id.to_string());
        let path = ["executions", &id, "waitpoints", &waitpoint, "close"];
        self.post(&path, &ff_api::CloseWaitpoint::of(args), 0).await
    }
}

impl Handle<ResumeArgs, ResumedExecution> for HttpConnection {
    async fn handle(&self, args: ResumeArgs) -> Answer<ResumedExecution> {
        let verb = match args.decision {
            OperatorDecision::Resume => "resume",
            OperatorDecision::Approve => "approve",
            OperatorDecision::Reject => "reject",
        };
        let id = args.execution_id.to_string();
        self.post(&["executions", &id, verb], &ff_api::Decide::of(args), 0).await
    }
}

impl Handle<ListWaitpoints, Vec<WaitpointInfo>> for HttpConnection {
    async fn handle(&self, ListWaitpoints { execution_id: ref id }: ListWaitpoints) -> Answer<Vec<WaitpointInfo>> {
        let found: ff_api::Waitpoints = self.get(&["executions", &id.to_string(), "waitpoints"], NoQuery {}, 0).await?;
        Ok(found.waitpoints)
    }
}

impl Handle<MintToken, WaitpointToken> for HttpConnection {
    async fn handle(
        &self,
        MintToken { execution_id: ref id, waitpoint_id: ref waitpoint }: MintToken,
    ) -> Answer<WaitpointToken> {
        let (id, waitpoint) = (id.to_string(), waitpoint.to_string());
        let path = ["executions", &id, "waitpoints", &waitpoint, "token"];
        let found: ff_api::WaitpointTokenReply = self.get(&path, NoQuery {}, 0).await?;
        Ok(found.waitpoint_token)
    }
}

impl Handle<ListKids, Vec<PartitionKids>> for HttpConnection {
    async fn handle(&self, _: ListKids) -> Answer<Vec<PartitionKids>> {
        let secrets: ff_api::Secrets = self.get(&["secrets"], NoQuery {}, 0).await?;
        Ok(secrets.partitions)
    }
}
