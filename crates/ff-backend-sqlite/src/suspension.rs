//! The room of suspensions, on SQLite.

use async_trait::async_trait;
use ff_backend_sql::{ReadKids, ReadWaitpointToken, ReadWaitpoints};
use ff_core::backend::{Answer, EngineBackend, SuspensionRoom};
use ff_core::clock::Clock;
use ff_core::contracts::{
    CloseWaitpointArgs, ClosedWaitpoint, CreateWaitpointArgs, GrantedWaitpoint, PartitionKids, ResumeArgs, Resumed,
    RotateSecretArgs, RotationReport, SuspendArgs, Suspended, WaitpointInfo,
};
use ff_core::token::WaitpointToken;
use ff_core::types::{ExecutionId, WaitpointId};

use crate::SqliteBackend;

#[async_trait]
impl SuspensionRoom for SqliteBackend {
    async fn suspend(&self, args: SuspendArgs) -> Answer<Suspended> {
        self.writer.asker.ask(args).await
    }

    async fn create_waitpoint(&self, args: CreateWaitpointArgs) -> Answer<GrantedWaitpoint> {
        self.writer.asker.ask(args).await
    }

    async fn close_waitpoint(&self, args: CloseWaitpointArgs) -> Answer<ClosedWaitpoint> {
        self.writer.asker.ask(args).await
    }

    async fn resume(&self, args: ResumeArgs) -> Answer<Resumed> {
        self.writer.asker.ask(args).await
    }

    async fn waitpoints(&self, id: &ExecutionId) -> Answer<Vec<WaitpointInfo>> {
        self.look(id, ReadWaitpoints { execution_id: *id, now: self.clock.now() }).await
    }

    async fn waitpoint_token(&self, id: &ExecutionId, waitpoint: &WaitpointId) -> Answer<WaitpointToken> {
        self.look(id, ReadWaitpointToken { execution_id: *id, waitpoint_id: *waitpoint }).await
    }

    async fn rotate_secret(&self, args: RotateSecretArgs) -> Answer<RotationReport> {
        self.writer.asker.rotate_secret(args, &self.partitions()).await
    }

    async fn kids(&self) -> Answer<Vec<PartitionKids>> {
        self.readers.read(ReadKids { partitions: self.partitions(), now: self.clock.now() }).await
    }
}
