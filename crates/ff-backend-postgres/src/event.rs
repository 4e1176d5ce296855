//! The room of events, on Postgres.

use async_trait::async_trait;
use ff_backend_sql::{ReadEvents, ReadFeeds};
use ff_core::backend::{Answer, EngineBackend, EventRoom, Upkeep};
use ff_core::contracts::{EventsArgs, EventsPage};

use crate::PostgresBackend;

#[async_trait]
impl EventRoom for PostgresBackend {
    async fn events(&self, args: EventsArgs) -> Answer<EventsPage> {
        args.check_for_store()?;
        let partitions = self.partitions();
        let asked = args.partitions(&partitions)?;
        let feeds = self.readers.read(ReadFeeds { partitions }).await?;
        self.writers.asker.follow(&feeds, asked, self.now().await?).await?;
        self.readers.read(ReadEvents { args, partitions, now: self.now().await? }).await
    }
}
