//! Signals: messages from outside to a suspended execution, each counted once and only where a suspension waits for it.

pub mod contracts;
mod deliver;
mod feed;
mod open;
mod record;

pub use feed::{Delivery, FeedCursor, FeedPart, Position};
pub use record::{Effect, RecordedSignal, Signal, SignalKeyEntry, Source};
