//! What is promised about the feed of what happens.

pub(crate) mod following;
pub(crate) mod telling;

/// What is promised here, by theme.
#[doc(hidden)]
#[macro_export]
macro_rules! event_promises {
    ($for:ident => $($make:tt)+) => { $($make)+! { $for:
        event {
            following,
            telling,
        }
    } };
}

use ff_core::contracts::{EventsArgs, EventsPage};
use ff_core::event::EventCursor;

use crate::World;

/// What a reader asks with.
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

/// What happened since.
pub(crate) async fn read(world: &World, after: &EventCursor) -> EventsPage {
    world.backend.events(since(after)).await.unwrap()
}
