//! What an engine asks, on SQLite.

use std::time::Duration;

use async_trait::async_trait;
use ff_backend_sql::{FindKey, NamespaceOf, NamespaceOfFlow, ReadGoneWorkers, ReadKeyRing, Sweep, TakeSnapshot};
use ff_core::backend::{Answer, EngineBackend, Swept, Upkeep};
use ff_core::clock::Clock;
use ff_core::contracts::{PumpArgs, SweepWorkerArgs};
use ff_core::due::Pumped;
use ff_core::hint::Hints;
use ff_core::key::ApiKey;
use ff_core::operation::Operation;
use ff_core::snapshot::Snapshot;
use ff_core::token::KeyRing;
use ff_core::types::{ExecutionId, FlowId, KeyId, Namespace, TimestampMs, WorkerInstanceId};

use crate::SqliteBackend;

#[async_trait]
impl Upkeep for SqliteBackend {
    async fn now(&self) -> Answer<TimestampMs> {
        Ok(self.clock.now())
    }

    async fn pump(&self, partition: u16) -> Answer<Pumped> {
        self.writer.asker.ask(PumpArgs { partition }).await
    }

    async fn sweep(&self, partition: u16) -> Answer<Swept> {
        self.check(partition)?;
        self.readers.read(Sweep { partition }).await
    }

    async fn sweep_workers(&self) -> Answer<Vec<WorkerInstanceId>> {
        let gone = self.readers.read(ReadGoneWorkers { now: self.clock.now() }).await?;
        let mut swept = Vec::new();
        for worker_instance_id in gone {
            let args = SweepWorkerArgs { worker_instance_id: worker_instance_id.clone() };
            if self.writer.asker.ask(args).await?.gone {
                swept.push(worker_instance_id);
            }
        }
        Ok(swept)
    }

    async fn find_key(&self, id: &KeyId) -> Answer<Option<ApiKey>> {
        self.readers.read(FindKey(id.clone())).await
    }

    async fn key_ring(&self) -> Answer<KeyRing> {
        self.readers.read(ReadKeyRing).await
    }

    async fn namespace_of(&self, id: &ExecutionId) -> Answer<Option<Namespace>> {
        self.readers.read(NamespaceOf(*id)).await
    }

    async fn namespace_of_flow(&self, id: &FlowId) -> Answer<Option<Namespace>> {
        self.readers.read(NamespaceOfFlow { flow_id: *id, partitions: self.partitions() }).await
    }

    fn sweep_every(&self) -> Option<Duration> {
        None
    }

    fn hints(&self) -> Hints {
        self.announcer.listen()
    }

    async fn snapshot(&self, partition: u16) -> Answer<Snapshot> {
        self.check(partition)?;
        self.readers.read(TakeSnapshot { partition }).await
    }
}

impl SqliteBackend {
    /// Refuses a partition this store does not have, as a pump of it would be.
    fn check(&self, partition: u16) -> Answer<()> {
        Ok(Operation::Pump(PumpArgs { partition }).check(&self.partitions())?)
    }
}
