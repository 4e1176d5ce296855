//! The room of suspensions, on Postgres.

use async_trait::async_trait;
use ff_backend_sql::{ReadKids, ReadWaitpointToken, ReadWaitpoints};
use ff_core::backend::{Answer, EngineBackend, SuspensionRoom, Upkeep};
use ff_core::contracts::{
    CloseWaitpointArgs, ClosedWaitpoint, CreateWaitpointArgs, GrantedWaitpoint, PartitionKids, ResumeArgs, Resumed,
    RotateSecretArgs, RotationReport, SuspendArgs, Suspended, WaitpointInfo,
};
use ff_core::token::WaitpointToken;
use ff_core::types::{ExecutionId, WaitpointId};

use crate::PostgresBackend;

#[async_trait]
impl SuspensionRoom for PostgresBackend {
    async fn suspend(&self, args: SuspendArgs) -> Answer<Suspended> {
        self.writers.asker.ask(args).await
    }

    async fn create_waitpoint(&self, args: CreateWaitpointArgs) -> Answer<GrantedWaitpoint> {
        self.writers.asker.ask(args).await
    }

    async fn close_waitpoint(&self, args: CloseWaitpointArgs) -> Answer<ClosedWaitpoint> {
        self.writers.asker.ask(args).await
    }

    async fn resume(&self, args: ResumeArgs) -> Answer<Resumed> {
        self.writers.asker.ask(args).await
    }

    async fn waitpoints(&self, id: &ExecutionId) -> Answer<Vec<WaitpointInfo>> {
        let now = self.now().await?;
        self.look(id, ReadWaitpoints { execution_id: *id, now }).await
    }

    async fn waitpoint_token(&self, id: &ExecutionId, waitpoint: &WaitpointId) -> Answer<WaitpointToken> {
        self.look(id, ReadWaitpointToken { execution_id: *id, waitpoint_id: *waitpoint }).await
    }

    async fn rotate_secret(&self, args: RotateSecretArgs) -> Answer<RotationReport> {
        self.writers.asker.rotate_secret(args, &self.partitions()).await
    }

    async fn kids(&self) -> Answer<Vec<PartitionKids>> {
        let now = self.now().await?;
        self.readers.read(ReadKids { partitions: self.partitions(), now }).await
    }
}
