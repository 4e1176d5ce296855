//! What an engine asks, over the model.

use std::time::Duration;

use async_trait::async_trait;
use ff_core::backend::{Answer, Swept, Upkeep};
use ff_core::clock::Clock;
use ff_core::contracts::PumpArgs;
use ff_core::due::Pumped;
use ff_core::hint::Hints;
use ff_core::operation::Operation;
use ff_core::snapshot::Snapshot;
use ff_core::types::TimestampMs;

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

    fn sweep_every(&self) -> Option<Duration> {
        None
    }

    fn hints(&self) -> Hints {
        self.announcer.listen()
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
