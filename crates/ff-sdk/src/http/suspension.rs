//! The room of suspensions, over HTTP.
//!
//! What is wrong is found in the order a store finds it: the id first, then the rest.

use async_trait::async_trait;
use ff_core::backend::{Answer, SuspensionRoom};
use ff_core::contracts::{
    CloseWaitpointArgs, ClosedWaitpoint, CreateWaitpointArgs, GrantedWaitpoint, PartitionKids, ResumeArgs, Resumed,
    RotateSecretArgs, RotationReport, SuspendArgs, Suspended, WaitpointInfo,
};
use ff_core::suspension::OperatorDecision;
use ff_core::token::WaitpointToken;
use ff_core::types::{ExecutionId, WaitpointId};

use super::HttpBackend;
use super::execution::unwritable;

#[async_trait]
impl SuspensionRoom for HttpBackend {
    async fn suspend(&self, args: SuspendArgs) -> Answer<Suspended> {
        self.named(&args.execution_id)?;
        args.check()?;
        let id = args.execution_id;
        let suspend = ff_api::Suspend::of(args).map_err(|error| unwritable(&error))?;
        self.ask(id, "suspend", suspend).await
    }

    async fn create_waitpoint(&self, args: CreateWaitpointArgs) -> Answer<GrantedWaitpoint> {
        self.named(&args.execution_id)?;
        args.check()?;
        self.ask(args.execution_id, "waitpoints", ff_api::CreateWaitpoint::of(args)).await
    }

    async fn close_waitpoint(&self, args: CloseWaitpointArgs) -> Answer<ClosedWaitpoint> {
        let (id, waitpoint) = (self.named(&args.execution_id)?, args.waitpoint_id.to_string());
        args.check()?;
        let path = ["executions", &id, "waitpoints", &waitpoint, "close"];
        self.post(&path, &ff_api::CloseWaitpoint::of(args), 0).await
    }

    async fn resume(&self, args: ResumeArgs) -> Answer<Resumed> {
        self.named(&args.execution_id)?;
        args.check()?;
        let verb = match args.decision {
            OperatorDecision::Resume => "resume",
            OperatorDecision::Approve => "approve",
            OperatorDecision::Reject => "reject",
        };
        self.ask(args.execution_id, verb, ff_api::Decide::of(args)).await
    }

    async fn waitpoints(&self, id: &ExecutionId) -> Answer<Vec<WaitpointInfo>> {
        let found: ff_api::Waitpoints = self.get(&["executions", &self.named(id)?, "waitpoints"], &[], 0).await?;
        Ok(found.waitpoints)
    }

    async fn waitpoint_token(&self, id: &ExecutionId, waitpoint: &WaitpointId) -> Answer<WaitpointToken> {
        let (id, waitpoint) = (self.named(id)?, waitpoint.to_string());
        let path = ["executions", &id, "waitpoints", &waitpoint, "token"];
        let found: ff_api::TokenOf = self.get(&path, &[], 0).await?;
        Ok(found.waitpoint_token)
    }

    async fn rotate_secret(&self, args: RotateSecretArgs) -> Answer<RotationReport> {
        args.check()?;
        let report: ff_api::RotationReport =
            self.post(&["secrets", "rotate"], &ff_api::RotateSecret::of(&args), 0).await?;
        Ok(report.into())
    }

    async fn kids(&self) -> Answer<Vec<PartitionKids>> {
        let secrets: ff_api::Secrets = self.get(&["secrets"], &[], 0).await?;
        Ok(secrets.partitions)
    }
}
