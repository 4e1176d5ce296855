//! Signals: what outsiders tell a waiting execution, each counted once and only where somebody waits.

pub mod contracts;
mod deliver;
mod feed;
mod open;
mod record;

pub use feed::{Delivery, FeedCursor, FeedPart, Position};
pub use record::{Effect, RecordedSignal, Signal, SignalKeyEntry, Source};
