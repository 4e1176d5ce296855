//! The room of workers, over HTTP.

use async_trait::async_trait;
use ff_core::backend::{Answer, WorkerRoom};
use ff_core::contracts::{
    HeartbeatArgs, LeaveArgs, LeftWorker, ListWorkersArgs, RegisterWorkerArgs, RegisteredWorker, SeenWorker,
    WorkersPage,
};
use ff_core::types::WorkerInstanceId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::HttpBackend;

#[async_trait]
impl WorkerRoom for HttpBackend {
    async fn register_worker(&self, mut args: RegisterWorkerArgs) -> Answer<RegisteredWorker> {
        args.check()?;
        args.namespace = self.whose(&args.namespace);
        let instance = args.worker_instance_id.clone();
        self.tell(&instance, "register", ff_api::RegisterWorker::of(args)).await
    }

    async fn heartbeat(&self, mut args: HeartbeatArgs) -> Answer<SeenWorker> {
        args.namespace = self.whose(&args.namespace);
        let instance = args.worker_instance_id.clone();
        self.tell(&instance, "heartbeat", ff_api::Heartbeat::of(args)).await
    }

    async fn leave(&self, mut args: LeaveArgs) -> Answer<LeftWorker> {
        args.namespace = self.whose(&args.namespace);
        let instance = args.worker_instance_id.clone();
        self.tell(&instance, "leave", ff_api::Leave::of(args)).await
    }

    async fn list_workers(&self, args: ListWorkersArgs) -> Answer<WorkersPage> {
        args.check()?;
        let mut query = vec![("limit", args.limit.to_string())];
        query.extend(args.namespace.map(|namespace| ("namespace", self.whose(&namespace).to_string())));
        query.extend(args.after.map(|after| ("after", after.to_string())));
        self.get(&["workers"], &query, 0).await
    }
}

impl HttpBackend {
    /// Tells something of one worker instance.
    async fn tell<T: DeserializeOwned>(
        &self,
        instance: &WorkerInstanceId,
        verb: &str,
        body: impl Serialize + Send + Sync,
    ) -> Answer<T> {
        self.post(&["workers", instance.as_str(), verb], &body, 0).await
    }
}
