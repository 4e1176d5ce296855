//! The functions of signals.

mod deliver;
mod read;

pub(crate) use deliver::delivery;
pub use deliver::{VerifiedToken, WaitpointLookup, ff_deliver_signal, ff_open_waitpoint};
pub(crate) use read::signals;
pub use read::{KeptSignals, ff_feed_end, ff_read_deliveries, ff_read_signal, ff_read_signals};
