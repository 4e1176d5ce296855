//! The room of workers, on every SQL store.

use async_trait::async_trait;
use ff_core::backend::{Answer, WorkerRoom};
use ff_core::contracts::{
    HeartbeatArgs, LeaveArgs, LeftWorker, ListWorkersArgs, RegisterWorkerArgs, RegisteredWorker, SeenWorker,
    WorkersPage,
};

use super::read::{CheckRoom, ListWorkers};
use crate::store::{Driver, SqlStore};

#[async_trait]
impl<D: Driver> WorkerRoom for SqlStore<D> {
    async fn register_worker(&self, args: RegisterWorkerArgs) -> Answer<RegisteredWorker> {
        args.check()?;
        self.read(CheckRoom { args: args.clone(), now: self.driver().now().await? }).await?;
        self.writer().ask(args).await
    }

    async fn heartbeat(&self, args: HeartbeatArgs) -> Answer<SeenWorker> {
        self.writer().ask(args).await
    }

    async fn leave(&self, args: LeaveArgs) -> Answer<LeftWorker> {
        self.writer().ask(args).await
    }

    async fn list_workers(&self, args: ListWorkersArgs) -> Answer<WorkersPage> {
        args.check()?;
        self.read(ListWorkers { args, now: self.driver().now().await? }).await
    }
}
