//! The room of workers, on Postgres.

use async_trait::async_trait;
use ff_backend_sql::{CheckRoom, ListWorkers};
use ff_core::backend::{Answer, Upkeep, WorkerRoom};
use ff_core::contracts::{
    HeartbeatArgs, LeaveArgs, LeftWorker, ListWorkersArgs, RegisterWorkerArgs, RegisteredWorker, SeenWorker,
    WorkersPage,
};

use crate::PostgresBackend;

#[async_trait]
impl WorkerRoom for PostgresBackend {
    async fn register_worker(&self, args: RegisterWorkerArgs) -> Answer<RegisteredWorker> {
        args.check()?;
        self.readers.read(CheckRoom { args: args.clone(), now: self.now().await? }).await?;
        self.writers.asker.ask(args).await
    }

    async fn heartbeat(&self, args: HeartbeatArgs) -> Answer<SeenWorker> {
        self.writers.asker.ask(args).await
    }

    async fn leave(&self, args: LeaveArgs) -> Answer<LeftWorker> {
        self.writers.asker.ask(args).await
    }

    async fn list_workers(&self, args: ListWorkersArgs) -> Answer<WorkersPage> {
        args.check()?;
        self.readers.read(ListWorkers { args, now: self.now().await? }).await
    }
}
