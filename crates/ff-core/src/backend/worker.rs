//! The room of workers.

use async_trait::async_trait;

use super::Answer;
use crate::worker::contracts::{
    HeartbeatArgs, LeaveArgs, LeftWorker, ListWorkersArgs, RegisterWorkerArgs, RegisteredWorker, SeenWorker,
    WorkersPage,
};

/// What workers say of themselves, and what callers may ask about them. Nobody has to register in order to claim.
#[async_trait]
pub trait WorkerRoom: Send + Sync {
    async fn register_worker(&self, args: RegisterWorkerArgs) -> Answer<RegisteredWorker>;

    /// Says that a worker instance is there; refused as `not_found` when it counts as gone, so that it registers again.
    async fn heartbeat(&self, args: HeartbeatArgs) -> Answer<SeenWorker>;

    async fn leave(&self, args: LeaveArgs) -> Answer<LeftWorker>;

    /// The worker instances that are there.
    async fn list_workers(&self, args: ListWorkersArgs) -> Answer<WorkersPage>;
}
