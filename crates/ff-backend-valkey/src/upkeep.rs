//! What an engine asks, on Valkey.

use std::time::Duration;

use async_trait::async_trait;
use ff_core::backend::{Answer, Swept, Upkeep};
use ff_core::contracts::{Ended, FlowEnd, PumpArgs};
use ff_core::due::Pumped;
use ff_core::hint::Hints;
use ff_core::key::ApiKey;
use ff_core::limits;
use ff_core::snapshot::Snapshot;
use ff_core::types::{ExecutionId, FlowId, KeyId, TimestampMs, WorkerInstanceId};
use ff_script::Kept;
use ff_script::execution::Beside;
use ff_script::flow::FlowLook;
use ff_script::upkeep::{ff_now, ff_pump, ff_sweep};

use crate::ValkeyBackend;

#[async_trait]
impl Upkeep for ValkeyBackend {
    /// In a cluster each server has a clock; the first partition's stands for all, and a partition whose clock is behind
    /// fires a little later.
    async fn now(&self) -> Answer<TimestampMs> {
        Ok(ff_now(&*self.calls, 0).await?)
    }

    async fn pump(&self, partition: u16) -> Answer<Pumped> {
        let PumpArgs { partition } = self.checked(PumpArgs { partition })?;
        Ok(ff_pump(&*self.calls, partition, &self.dice.nonce()).await?)
    }

    async fn sweep(&self, partition: u16) -> Answer<Swept> {
        let PumpArgs { partition } = self.checked(PumpArgs { partition })?;
        self.reconcile(partition).await;
        Ok(ff_sweep(&*self.calls, partition).await?)
    }

    async fn sweep_workers(&self) -> Answer<Vec<WorkerInstanceId>> {
        self.sweep_gone_workers().await
    }

    async fn find_key(&self, id: &KeyId) -> Answer<Option<ApiKey>> {
        self.api_key(id).await
    }

    fn sweep_every(&self) -> Option<Duration> {
        Some(Duration::from_millis(limits::SWEEP_MS))
    }

    fn hints(&self) -> Hints {
        self.announcer.listen()
    }

    async fn end_of(&self, id: &ExecutionId) -> Answer<Option<Ended>> {
        let beside = Beside { result: true, end: true, ..Beside::default() };
        let Kept { execution, result, .. } = self.kept(id, beside).await?;
        Ok(execution.ended(result))
    }

    async fn end_of_flow(&self, id: &FlowId) -> Answer<Option<FlowEnd>> {
        let look = FlowLook { awaited: true, ..FlowLook::default() };
        Ok(self.flow(id, look).await?.info().end())
    }

    async fn snapshot(&self, partition: u16) -> Answer<Snapshot> {
        let PumpArgs { partition } = self.checked(PumpArgs { partition })?;
        self.take_snapshot(partition).await
    }
}
