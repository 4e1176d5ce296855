//! The domain of events, over the model.

use ff_core::backend::clock::Clock;
use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{EventsArgs, EventsPage, FollowArgs};
use ff_core::event::EventCursor;
use ff_core::operation::Ask;

use crate::MemoryBackend;

impl Handle<EventsArgs, EventsPage> for MemoryBackend {
    async fn handle(&self, args: EventsArgs) -> Answer<EventsPage> {
        args.check_for_store()?;
        let partitions = args.partitions(&self.partitions)?;
        for partition in partitions.clone() {
            self.execute(&FollowArgs { partition }.into_operation())?;
        }
        let model = self.model()?;
        let Some(after) = args.after.clone() else {
            let next = EventCursor { from: self.clock.now(), ..EventCursor::default() };
            return Ok(EventsPage { events: vec![], next, missed: false });
        };
        let part = |partition| Some((partition, model.events(partition, &after, args.limit)?));
        let parts: Vec<_> = partitions.filter_map(part).collect();
        Ok(EventsPage::merge(after, parts, |record| args.wants(record), args.limit))
    }
}
