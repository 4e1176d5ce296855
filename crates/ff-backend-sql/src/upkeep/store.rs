//! What an engine asks, on every SQL store.

use std::time::Duration;

use async_trait::async_trait;
use ff_core::backend::{Answer, Swept, Upkeep};
use ff_core::contracts::{PumpArgs, SweepWorkerArgs};
use ff_core::due::Pumped;
use ff_core::hint::Hints;
use ff_core::key::ApiKey;
use ff_core::operation::Operation;
use ff_core::outage::OutageLog;
use ff_core::snapshot::Snapshot;
use ff_core::token::{KeyRing, PresentedToken};
use ff_core::types::{ExecutionId, FlowId, KeyId, Namespace, TimestampMs, WaitpointId, WorkerInstanceId};

use super::snapshot::TakeSnapshot;
use super::sweep::Sweep;
use crate::execution::NamespaceOf;
use crate::flow::NamespaceOfFlow;
use crate::key::FindKey;
use crate::store::{Driver, SqlStore};
use crate::suspension::{JudgeToken, ReadKeyRing};
use crate::worker::ReadGoneWorkers;

#[async_trait]
impl<D: Driver> Upkeep for SqlStore<D> {
    async fn now(&self) -> Answer<TimestampMs> {
        self.driver().now().await
    }

    async fn pump(&self, partition: u16) -> Answer<Pumped> {
        self.writer().ask(PumpArgs { partition }).await
    }

    async fn sweep(&self, partition: u16) -> Answer<Swept> {
        self.check(partition)?;
        self.read(Sweep { partition }).await
    }

    async fn sweep_workers(&self) -> Answer<Vec<WorkerInstanceId>> {
        let gone = self.read(ReadGoneWorkers { now: self.driver().now().await? }).await?;
        let mut swept = Vec::new();
        for worker_instance_id in gone {
            let args = SweepWorkerArgs { worker_instance_id: worker_instance_id.clone() };
            if self.writer().ask(args).await?.gone {
                swept.push(worker_instance_id);
            }
        }
        Ok(swept)
    }

    async fn find_key(&self, id: &KeyId) -> Answer<Option<ApiKey>> {
        self.read(FindKey(id.clone())).await
    }

    async fn key_ring(&self) -> Answer<KeyRing> {
        self.read(ReadKeyRing).await
    }

    async fn judge_token(&self, id: &ExecutionId, waitpoint: &WaitpointId, shown: &PresentedToken) -> Answer<()> {
        let (shown, now) = (shown.clone(), self.driver().now().await?);
        self.read(JudgeToken { execution_id: *id, waitpoint_id: *waitpoint, shown, now }).await
    }

    async fn namespace_of(&self, id: &ExecutionId) -> Answer<Option<Namespace>> {
        self.read(NamespaceOf(*id)).await
    }

    async fn namespace_of_flow(&self, id: &FlowId) -> Answer<Option<Namespace>> {
        self.read(NamespaceOfFlow { flow_id: *id, partitions: self.driver().partitions() }).await
    }

    fn sweep_every(&self) -> Option<Duration> {
        self.driver().sweep_every()
    }

    fn hints(&self) -> Hints {
        self.driver().hints()
    }

    fn outages(&self) -> &OutageLog {
        self.driver().outages()
    }

    async fn snapshot(&self, partition: u16) -> Answer<Snapshot> {
        self.check(partition)?;
        self.read(TakeSnapshot { partition }).await
    }
}

impl<D: Driver> SqlStore<D> {
    /// Refuses a partition this store does not have, as a pump of it would be.
    fn check(&self, partition: u16) -> Answer<()> {
        Ok(Operation::Pump(PumpArgs { partition }).check(&self.driver().partitions())?)
    }
}
