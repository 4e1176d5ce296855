//! Promises about the feed of events.

pub(crate) mod following;
pub(crate) mod telling;

use crate::prelude::*;

/// The arguments of a reader.
pub(crate) fn since(after: &EventCursor) -> EventsArgs {
    EventsArgs { after: Some(after.clone()), namespace: None, execution: None, limit: 100 }
}

/// Begins to follow.
pub(crate) async fn follow(world: &World) -> EventCursor {
    let args = EventsArgs { after: None, namespace: None, execution: None, limit: 100 };
    let page = world.backend.events(args).await.unwrap();
    assert!(page.events.is_empty() && !page.missed);
    page.next
}

/// The events since a cursor.
pub(crate) async fn read(world: &World, after: &EventCursor) -> EventsPage {
    world.backend.events(since(after)).await.unwrap()
}
