//! The row of a partition's feed, and what is told on it.

use ff_core::event::{Feed, Told};

use crate::desk::Telling;
use crate::error::SqlError;
use crate::session::{Put, Session};
use crate::tape::EVENTS;

/// The row of how long a partition tells what happens on it.
pub(crate) fn feed_of(partition: u16, feed: &Feed) -> Put {
    Put::whole(vec![partition.into(), feed.since.into(), feed.until.into()])
}

/// Tells what happened, in order, on feeds that begin anew where they lapsed. Says whether anything is told.
pub(crate) async fn tell_events(session: &mut dyn Session, telling: &Telling) -> Result<bool, SqlError> {
    EVENTS.wipe(session, telling.anew.iter().copied()).await?;
    let told = telling.told.iter();
    let entries: Vec<_> = told.map(|told| (told.execution_id.partition(), told.position.at, told)).collect();
    EVENTS.tell(session, &entries, |told, position| Told { position, ..told.clone() }).await?;
    Ok(!entries.is_empty())
}
