//! What an engine asks, on Postgres.

use std::time::Duration;

use async_trait::async_trait;
use ff_backend_sql::{
    FindKey, NamespaceOf, NamespaceOfFlow, Question, Read, ReadGoneWorkers, ReadKeyRing, Sweep, TakeSnapshot, Value,
};
use ff_core::backend::{Answer, EngineBackend, Swept, Upkeep};
use ff_core::contracts::{PumpArgs, SweepWorkerArgs};
use ff_core::due::Pumped;
use ff_core::engine_error::EngineError;
use ff_core::hint::Hints;
use ff_core::key::ApiKey;
use ff_core::limits;
use ff_core::operation::Operation;
use ff_core::snapshot::Snapshot;
use ff_core::token::KeyRing;
use ff_core::types::{ExecutionId, FlowId, KeyId, Namespace, TimestampMs, WorkerInstanceId};

use crate::PostgresBackend;
use crate::meta::LATEST;

#[async_trait]
impl Upkeep for PostgresBackend {
    async fn now(&self) -> Answer<TimestampMs> {
        let clock = self.clock.as_ref().map(|clock| clock.now());
        self.readers.read(AskTheTime { clock }).await
    }

    async fn pump(&self, partition: u16) -> Answer<Pumped> {
        self.writers.asker.ask(PumpArgs { partition }).await
    }

    async fn sweep(&self, partition: u16) -> Answer<Swept> {
        self.check(partition)?;
        self.readers.read(Sweep { partition }).await
    }

    async fn sweep_workers(&self) -> Answer<Vec<WorkerInstanceId>> {
        let gone = self.readers.read(ReadGoneWorkers { now: self.now().await? }).await?;
        let mut swept = Vec::new();
        for worker_instance_id in gone {
            let args = SweepWorkerArgs { worker_instance_id: worker_instance_id.clone() };
            if self.writers.asker.ask(args).await?.gone {
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
        Some(Duration::from_millis(limits::SWEEP_MS))
    }

    fn hints(&self) -> Hints {
        self.announcer.listen()
    }

    async fn snapshot(&self, partition: u16) -> Answer<Snapshot> {
        self.check(partition)?;
        self.readers.read(TakeSnapshot { partition }).await
    }
}

impl PostgresBackend {
    /// Refuses a partition this store does not have, as a pump of it would be.
    fn check(&self, partition: u16) -> Answer<()> {
        Ok(Operation::Pump(PumpArgs { partition }).check(&self.partitions())?)
    }
}

/// What time it is for the store: never before anything that was written.
struct AskTheTime {
    /// The server's time is asked for when not said.
    clock: Option<TimestampMs>,
}

#[async_trait]
impl Question for AskTheTime {
    type Answer = TimestampMs;

    async fn ask(self, reader: &mut dyn Read) -> Answer<TimestampMs> {
        let rows = reader.query(LATEST, &[vec![]]).await?;
        match rows.iter().flatten().next().map(ff_backend_sql::Row::values) {
            Some([Value::Int(time), Value::Int(latest)]) => {
                Ok(self.clock.unwrap_or(TimestampMs(*time)).max(TimestampMs(*latest)))
            }
            _ => Err(EngineError::Corrupt("the store has lost its clock".into())),
        }
    }
}
