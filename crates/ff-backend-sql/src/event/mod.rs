//! The room of events: who follows what happens, and the feeds that tell of it.

mod feed;
mod read;

pub(crate) use feed::{feed_of, tell_events};
pub(crate) use read::read_told;
