//! The functions of signals.

mod deliver;
mod deliveries;
mod open;
mod read;

pub use deliver::{ff_buffer_signal_for_pending_waitpoint, ff_deliver_signal};
pub use deliveries::{ff_feed_end, ff_read_deliveries};
pub use open::{Opened, VerifiedToken, ff_open_waitpoint};
pub(crate) use read::signals;
pub use read::{KeptSignals, ff_read_signal, ff_read_signals};
