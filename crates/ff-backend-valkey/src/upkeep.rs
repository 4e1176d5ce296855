//! What an engine asks, on Valkey.

use std::collections::HashSet;
use std::time::Duration;

use async_trait::async_trait;
use ff_core::backend::{Answer, Swept, Upkeep};
use ff_core::contracts::{Ended, FlowEnd, PumpArgs, WaitpointRef};
use ff_core::due::Pumped;
use ff_core::engine_error::EngineError;
use ff_core::hint::Hints;
use ff_core::key::ApiKey;
use ff_core::keys::{ExecKeyContext, FlowKeyContext};
use ff_core::limits;
use ff_core::outage::OutageLog;
use ff_core::partition::{Partition, PartitionFamily, flow_partition};
use ff_core::snapshot::Snapshot;
use ff_core::token::{KeyRing, PresentedToken};
use ff_core::types::{ExecutionId, FlowId, KeyId, Namespace, TimestampMs, WaitpointId, WorkerInstanceId};
use ff_script::Kept;
use ff_script::execution::Beside;
use ff_script::flow::FlowLook;
use ff_script::suspension::ff_read_waitpoint_hmac_secrets;
use ff_script::upkeep::{ff_now, ff_pump, ff_sweep};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use redis::{FromRedisValue, cmd};
use tokio::time::timeout;

use crate::ValkeyBackend;

/// How long the clock of one primary is waited for before another is asked as well.
const CLOCK_PATIENCE: Duration = Duration::from_millis(200);

#[async_trait]
impl Upkeep for ValkeyBackend {
    /// In a cluster each server has a clock; the first partition's stands for all, and a partition whose clock is behind
    /// fires a little later. While its primary does not answer, another one is asked.
    async fn now(&self) -> Answer<TimestampMs> {
        self.time_of_any().await
    }

    async fn pump(&self, partition: u16) -> Answer<Pumped> {
        let PumpArgs { partition } = self.checked(PumpArgs { partition })?;
        self.unless_silent(partition, async { Ok(ff_pump(&*self.calls, partition, &self.dice.nonce()).await?) }).await
    }

    async fn sweep(&self, partition: u16) -> Answer<Swept> {
        let PumpArgs { partition } = self.checked(PumpArgs { partition })?;
        let sweep = async {
            self.reconcile(partition).await;
            Ok(ff_sweep(&*self.calls, partition).await?)
        };
        self.unless_silent(partition, sweep).await
    }

    async fn sweep_workers(&self) -> Answer<Vec<WorkerInstanceId>> {
        self.sweep_gone_workers().await
    }

    async fn find_key(&self, id: &KeyId) -> Answer<Option<ApiKey>> {
        self.api_key(id).await
    }

    async fn key_ring(&self) -> Answer<KeyRing> {
        let signing = ff_read_waitpoint_hmac_secrets(&*self.calls, 0).await?;
        Ok(signing.map(|signing| signing.ring).unwrap_or_default())
    }

    async fn judge_token(&self, id: &ExecutionId, waitpoint: &WaitpointId, shown: &PresentedToken) -> Answer<()> {
        self.verify_token(id, &WaitpointRef::Id(*waitpoint), shown).await.map(drop)
    }

    async fn namespace_of(&self, id: &ExecutionId) -> Answer<Option<Namespace>> {
        self.namespace_in(&ExecKeyContext::new(&Partition::of(id), id).core()).await
    }

    async fn namespace_of_flow(&self, id: &FlowId) -> Answer<Option<Namespace>> {
        self.namespace_in(&FlowKeyContext::new(&flow_partition(id, &self.partitions), id).core()).await
    }

    fn sweep_every(&self) -> Option<Duration> {
        Some(Duration::from_millis(limits::SWEEP_MS))
    }

    fn hints(&self) -> Hints {
        self.announcer.listen()
    }

    fn outages(&self) -> &OutageLog {
        &self.outages
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

impl ValkeyBackend {
    /// Asks a partition what an engine asks of one after the other. While its primary answers nothing, it is not waited for:
    /// an engine has others to look after, and asks again.
    async fn unless_silent<T>(&self, partition: u16, asked: impl Future<Output = Answer<T>>) -> Answer<T> {
        let Some(mut silence) = self.calls.link.silence_of(&tag(partition)) else { return asked.await };
        tokio::select! {
            biased;
            _ = silence.wait_for(|silent| *silent) => {
                Err(EngineError::Unknown("the primary of the partition answers nothing".into()))
            }
            answer = asked => answer,
        }
    }

    /// Refuses what need not be sent to a primary that answers nothing: there is work elsewhere.
    pub(crate) fn check_answers(&self, partition: u16) -> Answer<()> {
        match self.calls.link.silence_of(&tag(partition)) {
            Some(silence) if *silence.borrow() => {
                Err(EngineError::Unavailable("the primary of the partition answers nothing".into()))
            }
            _ => Ok(()),
        }
    }

    /// What time it is on the first partition or, while its primary does not answer, on the first of another primary.
    async fn time_of_any(&self) -> Answer<TimestampMs> {
        let mut primaries = HashSet::new();
        let mut partitions = (0..self.partitions.num_flow_partitions)
            .filter(|partition| primaries.insert(self.calls.link.address_of(&tag(*partition))));
        let mut asked = FuturesUnordered::new();
        let mut failure = EngineError::Unavailable("the store has no partitions".into());
        loop {
            asked.extend(partitions.next().map(|partition| ff_now(&*self.calls, partition)));
            match timeout(CLOCK_PATIENCE, asked.next()).await {
                Ok(Some(Ok(now))) => return Ok(now),
                Ok(Some(Err(error))) => failure = error.into(),
                Ok(None) => return Err(failure),
                Err(_) => {}
            }
        }
    }
}

impl ValkeyBackend {
    /// The namespace in a record. The default one is not written, so another field says whether there is a record.
    async fn namespace_in(&self, key: &str) -> Answer<Option<Namespace>> {
        let fields = self.calls.plain(key, cmd("HMGET").arg(key).arg("namespace").arg("created_at").clone()).await?;
        let unreadable = |why: &dyn std::fmt::Display| {
            EngineError::Corrupt(format!("{key} has a namespace that cannot be read: {why}"))
        };
        let (namespace, created_at): (Option<String>, Option<String>) =
            FromRedisValue::from_redis_value(fields).map_err(|error| unreadable(&error))?;
        if created_at.is_none() {
            return Ok(None);
        }
        let namespace =
            namespace.map(|name| Namespace::parse(&name)).transpose().map_err(|error| unreadable(&error))?;
        Ok(Some(namespace.unwrap_or_else(Namespace::default_name)))
    }
}

fn tag(partition: u16) -> String {
    Partition::new(PartitionFamily::Execution, partition).hash_tag()
}
