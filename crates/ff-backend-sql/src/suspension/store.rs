//! The room of suspensions, on every SQL store.

use async_trait::async_trait;
use ff_core::backend::{Answer, SuspensionRoom};
use ff_core::contracts::{
    CloseWaitpointArgs, ClosedWaitpoint, CreateWaitpointArgs, GrantedWaitpoint, PartitionKids, ResumeArgs, Resumed,
    RotateSecretArgs, RotationReport, SuspendArgs, Suspended, WaitpointInfo,
};
use ff_core::token::WaitpointToken;
use ff_core::types::{ExecutionId, WaitpointId};

use super::read::{ReadWaitpointToken, ReadWaitpoints};
use super::ring::ReadKids;
use crate::store::{Driver, SqlStore};

#[async_trait]
impl<D: Driver> SuspensionRoom for SqlStore<D> {
    async fn suspend(&self, args: SuspendArgs) -> Answer<Suspended> {
        self.writer().ask(args).await
    }

    async fn create_waitpoint(&self, args: CreateWaitpointArgs) -> Answer<GrantedWaitpoint> {
        self.writer().ask(args).await
    }

    async fn close_waitpoint(&self, args: CloseWaitpointArgs) -> Answer<ClosedWaitpoint> {
        self.writer().ask(args).await
    }

    async fn resume(&self, args: ResumeArgs) -> Answer<Resumed> {
        self.writer().ask(args).await
    }

    async fn waitpoints(&self, id: &ExecutionId) -> Answer<Vec<WaitpointInfo>> {
        self.look(id, ReadWaitpoints { execution_id: *id, now: self.driver().now().await? }).await
    }

    async fn waitpoint_token(&self, id: &ExecutionId, waitpoint: &WaitpointId) -> Answer<WaitpointToken> {
        self.look(id, ReadWaitpointToken { execution_id: *id, waitpoint_id: *waitpoint }).await
    }

    async fn rotate_secret(&self, args: RotateSecretArgs) -> Answer<RotationReport> {
        self.writer().rotate_secret(args, &self.driver().partitions()).await
    }

    async fn kids(&self) -> Answer<Vec<PartitionKids>> {
        self.read(ReadKids { partitions: self.driver().partitions(), now: self.driver().now().await? }).await
    }
}
