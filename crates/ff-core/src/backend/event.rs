//! The room of events.

use async_trait::async_trait;

use super::Answer;
use crate::event::contracts::{EventsArgs, EventsPage};

/// What callers may ask about what happens.
#[async_trait]
pub trait EventRoom: Send + Sync {
    /// What happened on any partition since a cursor. Answers at once, with what there is. Whoever asks follows: from then on,
    /// and for [`crate::limits::FOLLOWED_MS`] after the last time, everything that happens is told.
    async fn events(&self, args: EventsArgs) -> Answer<EventsPage>;
}
