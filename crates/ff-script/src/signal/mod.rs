//! The functions of signals.

mod deliver;
mod read;

pub use deliver::{VerifiedToken, WaitpointLookup, ff_deliver_signal, ff_open_waitpoint};
pub(crate) use deliver::{delivered, delivery};
pub(crate) use read::signals;
pub use read::{KeptSignals, ff_feed_end, ff_read_deliveries, ff_read_signal, ff_read_signals};
