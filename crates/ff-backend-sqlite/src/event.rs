//! The room of events, on SQLite.

use async_trait::async_trait;
use ff_backend_sql::{ReadEvents, ReadFeeds};
use ff_core::backend::{Answer, EngineBackend, EventRoom};
use ff_core::clock::Clock;
use ff_core::contracts::{EventsArgs, EventsPage};

use crate::SqliteBackend;

#[async_trait]
impl EventRoom for SqliteBackend {
    async fn events(&self, args: EventsArgs) -> Answer<EventsPage> {
        args.check_for_store()?;
        let partitions = self.partitions();
        let asked = args.partitions(&partitions)?;
        let feeds = self.readers.read(ReadFeeds { partitions }).await?;
        self.writer.asker.follow(&feeds, asked, self.clock.now()).await?;
        self.readers.read(ReadEvents { args, partitions, now: self.clock.now() }).await
    }
}
