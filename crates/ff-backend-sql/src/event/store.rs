//! The room of events, on every SQL store.

use async_trait::async_trait;
use ff_core::backend::{Answer, EventRoom};
use ff_core::contracts::{EventsArgs, EventsPage};

use super::read::{ReadEvents, ReadFeeds};
use crate::store::{Driver, SqlStore};

#[async_trait]
impl<D: Driver> EventRoom for SqlStore<D> {
    async fn events(&self, args: EventsArgs) -> Answer<EventsPage> {
        args.check_for_store()?;
        let partitions = self.driver().partitions();
        let asked = args.partitions(&partitions)?;
        let feeds = self.read(ReadFeeds { partitions }).await?;
        self.writer().follow(&feeds, asked, self.driver().now().await?).await?;
        self.read(ReadEvents { args, partitions, now: self.driver().now().await? }).await
    }
}
