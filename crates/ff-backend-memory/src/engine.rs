//! The part of the store that an engine uses, over the model.

use std::future::ready;
use std::time::Duration;

use ff_core::backend::clock::Clock;
use ff_core::backend::hint::{Hint, Hints};
use ff_core::backend::outage::OutageLog;
use ff_core::backend::snapshot::Snapshot;
use ff_core::backend::{Answer, BoxedAnswer, EngineStore, Handle, PartitionStatus};
use ff_core::contracts::{ListQueueArgs, QueuedExecution};
use ff_core::operation::query::{Now, Sweep, TakeSnapshot};
use ff_core::types::TimestampMs;
use futures_util::future::BoxFuture;

use crate::{MemoryBackend, reads};

impl EngineStore for MemoryBackend {
    fn sweep_every(&self) -> Option<Duration> {
        None
    }

    fn claims_at_once(&self) -> usize {
        1
    }

    fn hints(&self) -> Hints {
        self.announcer.listen()
    }

    fn announce(&self, hints: Vec<Hint>) -> BoxedAnswer<'_, ()> {
        self.announcer.announce(hints);
        Box::pin(async { Ok(()) })
    }

    fn flush_hints(&self) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }

    fn outages(&self) -> &OutageLog {
        &self.outages
    }
}

impl Handle<Now, TimestampMs> for MemoryBackend {
    async fn handle(&self, _: Now) -> Answer<TimestampMs> {
        Ok(self.clock.now())
    }
}

impl Handle<Sweep, PartitionStatus> for MemoryBackend {
    async fn handle(&self, Sweep { partition }: Sweep) -> Answer<PartitionStatus> {
        let model = self.model()?;
        let (ready, unroutable) = (model.ready(partition), model.unroutable(partition));
        Ok(PartitionStatus { ready, unroutable, next_due: model.next_due(partition) })
    }
}

reads! {
    ListQueueArgs => Vec<QueuedExecution>: |store, query| store.model()?.queue(&query);
    TakeSnapshot => Snapshot: |store, query| store.model()?.snapshot(query.partition);
}

#[cfg(test)]
mod tests {
    use ff_core::backend::Perform;
    use ff_core::contracts::SubmitArgs;
    use ff_core::engine_error::Code;
    use ff_core::payload::Payload;
    use ff_core::types::Kind;

    use super::*;

    #[tokio::test]
    async fn a_sweep_finds_work_that_hints_announced() {
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
