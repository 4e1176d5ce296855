//! The domain of events, over the model.

use ff_core::backend::{Answer, Handle};
use ff_core::clock::Clock;
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
        Ok(EventsPage::merge(after, parts, |told| args.wants(told), args.limit))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ff_core::backend::Perform;
    use ff_core::clock::ManualClock;
    use ff_core::contracts::{CancelArgs, SubmitArgs};
    use ff_core::entropy::SeededEntropy;
    use ff_core::event::EventKind;
    use ff_core::limits;
    use ff_core::partition::PartitionConfig;
    use ff_core::payload::Payload;
    use ff_core::types::{Kind, TimestampMs};

    use super::*;

    fn work() -> SubmitArgs {
        SubmitArgs::new(Kind::parse("resize").unwrap(), Payload::json("1"))
    }

    fn reading(after: Option<EventCursor>) -> EventsArgs {
        EventsArgs { after, namespace: None, execution: None, limit: 10 }
    }

    #[tokio::test]
    async fn whoever_follows_learns_what_happens_and_goes_on_where_it_was() {
        let clock = Arc::new(ManualClock::at(TimestampMs(1_000)));
        let store = MemoryBackend::new(PartitionConfig::default(), clock.clone(), Arc::new(SeededEntropy::new(1)));
        store.submit(work()).await.unwrap();
        let tail = store.events(reading(None)).await.unwrap();
        assert_eq!((tail.events.len(), tail.missed), (0, false));
        let id = store.submit(work()).await.unwrap().execution_id;
        let first = store.events(EventsArgs { limit: 1, ..reading(Some(tail.next)) }).await.unwrap();
        clock.advance(5);
        store.cancel(CancelArgs { execution_id: id, reason: None, requested_by: None }).await.unwrap();
        let kept = first.next.to_string();
        let second = store.events(reading(Some(kept.parse().unwrap()))).await.unwrap();
        let told: Vec<_> =
            first.events.iter().chain(&second.events).map(|told| (told.execution_id, told.what)).collect();
        let ended = EventKind::Finished { outcome: ff_core::execution::Outcome::Cancelled };
        assert_eq!(told, [(id, EventKind::Submitted), (id, ended)]);
        assert!(!first.missed && !second.missed);

        clock.advance(limits::FOLLOWED_MS);
        store.submit(work()).await.unwrap();
        let late = store.events(reading(Some(second.next))).await.unwrap();
        assert_eq!((late.events.len(), late.missed), (0, true), "nobody followed, so nothing was told");
    }
}
