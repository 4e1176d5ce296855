//! What an engine asks, over the model.

use std::time::Duration;

use async_trait::async_trait;
use ff_core::backend::{Answer, Swept, Upkeep};
use ff_core::clock::Clock;
use ff_core::contracts::{PumpArgs, SweepWorkerArgs};
use ff_core::due::Pumped;
use ff_core::engine_error::Code;
use ff_core::hint::Hints;
use ff_core::key::ApiKey;
use ff_core::operation::Operation;
use ff_core::outage::OutageLog;
use ff_core::snapshot::Snapshot;
use ff_core::token::{KeyRing, PresentedToken};
use ff_core::types::{ExecutionId, FlowId, KeyId, Namespace, TimestampMs, WaitpointId, WorkerInstanceId};
use ff_core::view::View;

use crate::MemoryBackend;

#[async_trait]
impl Upkeep for MemoryBackend {
    async fn now(&self) -> Answer<TimestampMs> {
        Ok(self.clock.now())
    }

    async fn pump(&self, partition: u16) -> Answer<Pumped> {
        self.ask(PumpArgs { partition })
    }

    async fn sweep(&self, partition: u16) -> Answer<Swept> {
        self.check(partition)?;
        let model = self.model()?;
        Ok(Swept { ready: model.ready(partition), next_due: model.next_due(partition) })
    }

    async fn sweep_workers(&self) -> Answer<Vec<WorkerInstanceId>> {
        let (mut model, now) = (self.model()?, self.clock.now());
        let gone = model.workers().filter(|worker| worker.is_gone(now));
        let gone: Vec<_> = gone.map(|worker| worker.worker_instance_id.clone()).collect();
        for worker_instance_id in gone.iter().cloned() {
            self.perform(&mut model, SweepWorkerArgs { worker_instance_id })?;
        }
        Ok(gone)
    }

    async fn find_key(&self, id: &KeyId) -> Answer<Option<ApiKey>> {
        Ok(self.model()?.api_keys().get(id).cloned())
    }

    async fn key_ring(&self) -> Answer<KeyRing> {
        Ok(self.model()?.key_ring(0))
    }

    async fn judge_token(&self, id: &ExecutionId, waitpoint: &WaitpointId, shown: &PresentedToken) -> Answer<()> {
        let (model, now) = (self.model()?, self.clock.now());
        let found = model.waitpoints(id).find(|known| known.id == *waitpoint).ok_or(Code::InvalidToken)?;
        Ok(found.verify(model.ring(id.partition()).ok().flatten(), shown, now)?)
    }

    async fn namespace_of(&self, id: &ExecutionId) -> Answer<Option<Namespace>> {
        Ok(self.model()?.find(id).map(|execution| execution.namespace.clone()))
    }

    async fn namespace_of_flow(&self, id: &FlowId) -> Answer<Option<Namespace>> {
        Ok(self.model()?.find_flow(id).map(|flow| flow.namespace.clone()))
    }

    fn sweep_every(&self) -> Option<Duration> {
        None
    }

    fn hints(&self) -> Hints {
        self.announcer.listen()
    }

    fn outages(&self) -> &OutageLog {
        &self.outages
    }

    async fn snapshot(&self, partition: u16) -> Answer<Snapshot> {
        self.check(partition)?;
        Ok(self.model()?.snapshot(partition))
    }
}

impl MemoryBackend {
    /// Refuses a partition this store does not have, as a pump of it would be.
    fn check(&self, partition: u16) -> Answer<()> {
        Ok(Operation::Pump(PumpArgs { partition }).check(&self.partitions)?)
    }
}

#[cfg(test)]
mod tests {
    use ff_core::backend::ExecutionRoom;
    use ff_core::contracts::SubmitArgs;
    use ff_core::engine_error::Code;
    use ff_core::payload::Payload;
    use ff_core::types::Kind;

    use super::*;

    #[tokio::test]
    async fn a_sweep_finds_what_hints_told() {
        let store = MemoryBackend::default();
        let work = SubmitArgs::new(Kind::parse("resize").unwrap(), Payload::json("1"));
        let partition = store.submit(work).await.unwrap().execution_id.partition();
        let swept = store.sweep(partition).await.unwrap();
        assert_eq!(swept.ready.iter().map(|ready| ready.kind.as_str()).collect::<Vec<_>>(), ["resize"]);
        assert_eq!(swept.next_due, None);
    }

    #[tokio::test]
    async fn a_partition_that_is_not_there_is_refused() {
        let store = MemoryBackend::default();
        assert_eq!(store.pump(256).await.unwrap_err().code(), Code::InvalidInput);
        assert_eq!(store.sweep(256).await.unwrap_err().code(), Code::InvalidInput);
        assert_eq!(store.snapshot(256).await.unwrap_err().code(), Code::InvalidInput);
    }
}
