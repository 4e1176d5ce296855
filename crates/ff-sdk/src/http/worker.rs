//! The room of workers, over HTTP.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{
    HeartbeatArgs, LeaveArgs, LeftWorker, ListWorkersArgs, RegisterWorkerArgs, RegisteredWorker, SeenWorker,
    WorkersPage,
};
use ff_core::types::WorkerInstanceId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::HttpBackend;

impl Handle<RegisterWorkerArgs, RegisteredWorker> for HttpBackend {
    async fn handle(&self, mut args: RegisterWorkerArgs) -> Answer<RegisteredWorker> {
        args.namespace = self.whose(&args.namespace);
        let instance = args.worker_instance_id.clone();
        self.tell(&instance, "register", ff_api::RegisterWorker::of(args)).await
    }
}

impl Handle<HeartbeatArgs, SeenWorker> for HttpBackend {
    async fn handle(&self, mut args: HeartbeatArgs) -> Answer<SeenWorker> {
        args.namespace = self.whose(&args.namespace);
        let instance = args.worker_instance_id.clone();
        self.tell(&instance, "heartbeat", ff_api::Heartbeat::of(args)).await
    }
}

impl Handle<LeaveArgs, LeftWorker> for HttpBackend {
    async fn handle(&self, mut args: LeaveArgs) -> Answer<LeftWorker> {
        args.namespace = self.whose(&args.namespace);
        let instance = args.worker_instance_id.clone();
        self.tell(&instance, "leave", ff_api::Leave::of(args)).await
    }
}

impl Handle<ListWorkersArgs, WorkersPage> for HttpBackend {
    async fn handle(&self, args: ListWorkersArgs) -> Answer<WorkersPage> {
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
