//! The queries of an engine, on Valkey.

use std::collections::HashSet;
use std::slice;
use std::time::Duration;

use ff_core::api_key::ApiKey;
use ff_core::backend::hint::{Hint, Hints};
use ff_core::backend::outage::OutageLog;
use ff_core::backend::snapshot::Snapshot;
use ff_core::backend::{Answer, BoxedAnswer, EngineStore, Handle, PartitionStatus};
use ff_core::contracts::{ExecutionEnd, FlowEnd, PumpArgs, WaitpointRef};
use ff_core::engine_error::EngineError;
use ff_core::keys::{ExecKeyContext, FlowKeyContext, HINTS_CHANNEL};
use ff_core::limits;
use ff_core::operation::query::{
    EndOf, EndOfFlow, FindKey, NamespaceOf, NamespaceOfFlow, Now, ReadKeyRing, Sweep, TakeSnapshot, VerifyToken,
};
use ff_core::partition::{Partition, PartitionFamily, flow_partition};
use ff_core::rule::due::PumpedPartition;
use ff_core::token::KeyRing;
use ff_core::types::{Namespace, TimestampMs};
use ff_script::StoredExecution;
use ff_script::engine::{ff_now, ff_pump, ff_sweep};
use ff_script::execution::ExtraReads;
use ff_script::flow::FlowQuery;
use ff_script::suspension::ff_read_waitpoint_hmac_secrets;
use futures_util::StreamExt;
use futures_util::future::{BoxFuture, join_all};
use futures_util::stream::FuturesUnordered;
use redis::{FromRedisValue, cmd};
use tokio::time::timeout;
use uuid::Uuid;

use crate::ValkeyBackend;
use crate::backend::functions;

/// Wait for the clock of one primary before another one is asked as well.
const CLOCK_PATIENCE: Duration = Duration::from_millis(200);

/// Maximum wait for the markers of a flush.
const FLUSH_PATIENCE: Duration = Duration::from_millis(500);

impl EngineStore for ValkeyBackend {
    fn sweep_every(&self) -> Option<Duration> {
        Some(Duration::from_millis(limits::SWEEP_MS))
    }

    /// A server performs one function at a time, and a large claim costs it less than two small ones.
    fn claims_at_once(&self) -> usize {
        1
    }

    fn hints(&self) -> Hints {
        self.announcer.listen()
    }

    fn announce(&self, hints: Vec<Hint>) -> BoxedAnswer<'_, ()> {
        Box::pin(async move { self.publish(0, &hints).await })
    }

    fn flush_hints(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            // A server that does not answer delays no caller any longer. Its hints count as lost.
            timeout(FLUSH_PATIENCE, self.flush()).await.ok();
        })
    }

    fn outages(&self) -> &OutageLog {
        &self.outages
    }
}

functions! {
    FindKey => Option<ApiKey>: |store, FindKey { key_id: ref id }| store.api_key(id);
    NamespaceOf => Option<Namespace>: |store, NamespaceOf { execution_id: ref id }|
        store.namespace_in(&ExecKeyContext::new(&Partition::of(id), id).core());
    NamespaceOfFlow => Option<Namespace>: |store, NamespaceOfFlow { flow_id: ref id }|
        store.namespace_in(&FlowKeyContext::new(&flow_partition(id, &store.partitions), id).core());
    TakeSnapshot => Snapshot: |store, TakeSnapshot { partition }| store.take_snapshot(partition);
}

impl Handle<Now, TimestampMs> for ValkeyBackend {
    /// In a cluster each server has a clock. The first partition's clock stands for all, and a partition whose clock is
    /// behind fires a little later. While its primary does not answer, another one is asked.
    async fn handle(&self, _: Now) -> Answer<TimestampMs> {
        self.time_of_any().await
    }
}

impl Handle<PumpArgs, PumpedPartition> for ValkeyBackend {
    async fn handle(&self, PumpArgs { partition }: PumpArgs) -> Answer<PumpedPartition> {
        self.unless_silent(partition, async { Ok(ff_pump(&*self.calls, partition, &self.entropy.nonce()).await?) })
            .await
    }
}

impl Handle<Sweep, PartitionStatus> for ValkeyBackend {
    async fn handle(&self, Sweep { partition }: Sweep) -> Answer<PartitionStatus> {
        let sweep = async {
            self.reconcile(partition).await;
            Ok(ff_sweep(&*self.calls, partition).await?)
        };
        self.unless_silent(partition, sweep).await
    }
}

impl Handle<ReadKeyRing, KeyRing> for ValkeyBackend {
    async fn handle(&self, ReadKeyRing { partition }: ReadKeyRing) -> Answer<KeyRing> {
        let signing = ff_read_waitpoint_hmac_secrets(&*self.calls, partition).await?;
        Ok(signing.map(|signing| signing.ring).unwrap_or_default())
    }
}

impl Handle<VerifyToken, ()> for ValkeyBackend {
    async fn handle(
        &self,
        VerifyToken { execution_id: ref id, waitpoint_id: ref waitpoint, ref token }: VerifyToken,
    ) -> Answer<()> {
        self.verify_token(id, &WaitpointRef::Id(*waitpoint), token).await.map(drop)
    }
}

impl Handle<EndOf, Option<ExecutionEnd>> for ValkeyBackend {
    async fn handle(&self, EndOf { execution_id: ref id }: EndOf) -> Answer<Option<ExecutionEnd>> {
        let beside = ExtraReads { result: true, end: true, ..ExtraReads::default() };
        let StoredExecution { execution, result, .. } = self.stored_execution(id, beside).await?;
        Ok(execution.ended(result))
    }
}

impl Handle<EndOfFlow, Option<FlowEnd>> for ValkeyBackend {
    async fn handle(&self, EndOfFlow { flow_id: ref id }: EndOfFlow) -> Answer<Option<FlowEnd>> {
        let look = FlowQuery { awaited: true, ..FlowQuery::default() };
        Ok(self.flow(id, look).await?.info().end())
    }
}

impl ValkeyBackend {
    /// Makes an engine's call to a partition, which is one of a sequence over partitions. Fails at once while the
    /// primary answers nothing, because the engine has other partitions to look after, and repeats the call later.
    async fn unless_silent<T>(&self, partition: u16, call: impl Future<Output = Answer<T>>) -> Answer<T> {
        let Some(mut silence) = self.calls.link.silence_of(&tag(partition)) else { return call.await };
        tokio::select! {
            biased;
            _ = silence.wait_for(|silent| *silent) => {
                Err(EngineError::Unknown("the primary of the partition answers nothing".into()))
            }
            answer = call => answer,
        }
    }

    /// Refuses a call to a primary that answers nothing, if the caller can do other work instead.
    pub(crate) fn check_answers(&self, partition: u16) -> Answer<()> {
        match self.calls.link.silence_of(&tag(partition)) {
            Some(silence) if *silence.borrow() => {
                Err(EngineError::Unavailable("the primary of the partition answers nothing".into()))
            }
            _ => Ok(()),
        }
    }

    /// Publishes a marker at every primary that answers, and waits until all of them have come back, or hints were lost.
    /// Hints from one server arrive in the order they were sent.
    async fn flush(&self) {
        let mut arrived = self.announcer.listen();
        let publish = self.partition_of_each_primary().filter(|partition| self.check_answers(*partition).is_ok()).map(
            |partition| async move {
                let marker = Hint::FlushMarker { nonce: Uuid::new_v4() };
                // A primary that cannot be reached has sent no reply either.
                self.publish(partition, slice::from_ref(&marker)).await.ok().map(|()| marker)
            },
        );
        let mut markers: Vec<_> = join_all(publish).await.into_iter().flatten().collect();
        while !markers.is_empty() {
            match arrived.next().await {
                Some(Hint::Missed) | None => return,
                Some(hint) => markers.retain(|marker| *marker != hint),
            }
        }
    }

    /// Publishes hints at the primary of a partition.
    async fn publish(&self, partition: u16, hints: &[Hint]) -> Answer<()> {
        let publish = cmd("PUBLISH").arg(HINTS_CHANNEL).arg(ff_script::message(hints)).clone();
        self.calls.plain(&tag(partition), &publish).await.map(drop)
    }

    /// Returns one partition of every primary.
    fn partition_of_each_primary(&self) -> impl Iterator<Item = u16> + '_ {
        let mut primaries = HashSet::new();
        (0..self.partitions.num_flow_partitions)
            .filter(move |partition| primaries.insert(self.calls.link.address_of(&tag(*partition))))
    }

    /// Returns the time of the first partition or, while its primary does not answer, of the first partition of another
    /// primary.
    async fn time_of_any(&self) -> Answer<TimestampMs> {
        let mut partitions = self.partition_of_each_primary();
        let mut calls = FuturesUnordered::new();
        let mut failure = EngineError::Unavailable("the store has no partitions".into());
        loop {
            calls.extend(partitions.next().map(|partition| ff_now(&*self.calls, partition)));
            match timeout(CLOCK_PATIENCE, calls.next()).await {
                Ok(Some(Ok(now))) => return Ok(now),
                Ok(Some(Err(error))) => failure = error.into(),
                Ok(None) => return Err(failure),
                Err(_) => {}
            }
        }
    }
}

impl ValkeyBackend {
    /// Returns the namespace of a record. The default namespace is not stored, so another field shows whether the
    /// record exists.
    async fn namespace_in(&self, key: &str) -> Answer<Option<Namespace>> {
        let fields = self.calls.plain(key, cmd("HMGET").arg(key).arg("namespace").arg("created_at")).await?;
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
