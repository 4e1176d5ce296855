//! Conformance tests for the feed of events.

pub(crate) mod following;
pub(crate) mod telling;

use crate::prelude::*;

/// Returns the arguments that read the events after a cursor.
pub(crate) fn since(after: &EventCursor) -> EventsArgs {
    EventsArgs { after: Some(after.clone()), namespace: None, execution: None, limit: 100 }
}

/// Starts to follow the feed, and returns the first cursor.
pub(crate) async fn follow(world: &World) -> EventCursor {
    let args = EventsArgs { after: None, namespace: None, execution: None, limit: 100 };
    let page = world.backend.events(args).await.unwrap();
    assert!(page.events.is_empty() && !page.missed);
    page.next
}

/// Returns the events after a cursor.
pub(crate) async fn read(world: &World, after: &EventCursor) -> EventsPage {
    world.backend.events(since(after)).await.unwrap()
}
