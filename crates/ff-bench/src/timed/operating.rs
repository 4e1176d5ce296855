//! What a bench does not measure of a store: lanes, workers, keys and events are passed on.

use async_trait::async_trait;
use ff_core::backend::{Answer, EventRoom, KeyRoom, LaneRoom, LaneSteps, WorkerRoom};
use ff_core::contracts::{
    AllotArgs, Allotted, ConfigureLaneArgs, CopyLaneArgs, CreateKeyArgs, CreatedKey, EventsArgs, EventsPage,
    HeartbeatArgs, KeysPage, LaneCount, LaneInfo, LaneSettled, LanesPage, LeaveArgs, LeftWorker, ListKeysArgs,
    ListLanesArgs, ListWorkersArgs, RecountLaneArgs, RegisterWorkerArgs, RegisteredWorker, RevokeKeyArgs, RevokedKey,
    SeenWorker, SettleLaneArgs, WorkersPage,
};
use ff_core::lane::Lane;
use ff_core::types::{LaneId, Namespace};

use super::Timed;

#[async_trait]
impl LaneRoom for Timed {
    async fn configure_lane(&self, args: ConfigureLaneArgs) -> Answer<LaneInfo> {
        self.store.configure_lane(args).await
    }

    async fn describe_lane(&self, namespace: &Namespace, lane: &LaneId) -> Answer<LaneInfo> {
        self.store.describe_lane(namespace, lane).await
    }

    async fn list_lanes(&self, args: ListLanesArgs) -> Answer<LanesPage> {
        self.store.list_lanes(args).await
    }
}

#[async_trait]
impl LaneSteps for Timed {
    async fn configure(&self, args: ConfigureLaneArgs) -> Answer<Lane> {
        self.store.configure(args).await
    }

    async fn copy(&self, args: CopyLaneArgs) -> Answer<LaneCount> {
        self.store.copy(args).await
    }

    async fn allot(&self, args: AllotArgs) -> Answer<Allotted> {
        self.store.allot(args).await
    }

    async fn recount(&self, args: RecountLaneArgs) -> Answer<LaneCount> {
        self.store.recount(args).await
    }

    async fn settle(&self, args: SettleLaneArgs) -> Answer<LaneSettled> {
        self.store.settle(args).await
    }
}

#[async_trait]
impl WorkerRoom for Timed {
    async fn register_worker(&self, args: RegisterWorkerArgs) -> Answer<RegisteredWorker> {
        self.store.register_worker(args).await
    }

    async fn heartbeat(&self, args: HeartbeatArgs) -> Answer<SeenWorker> {
        self.store.heartbeat(args).await
    }

    async fn leave(&self, args: LeaveArgs) -> Answer<LeftWorker> {
        self.store.leave(args).await
    }

    async fn list_workers(&self, args: ListWorkersArgs) -> Answer<WorkersPage> {
        self.store.list_workers(args).await
    }
}

#[async_trait]
impl KeyRoom for Timed {
    async fn create_key(&self, args: CreateKeyArgs) -> Answer<CreatedKey> {
        self.store.create_key(args).await
    }

    async fn revoke_key(&self, args: RevokeKeyArgs) -> Answer<RevokedKey> {
        self.store.revoke_key(args).await
    }

    async fn list_keys(&self, args: ListKeysArgs) -> Answer<KeysPage> {
        self.store.list_keys(args).await
    }
}

#[async_trait]
impl EventRoom for Timed {
    async fn events(&self, args: EventsArgs) -> Answer<EventsPage> {
        self.store.events(args).await
    }
}
