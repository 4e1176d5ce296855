//! The room of signals: signals and the feeds that tell of them as rows, and what is read of them.

mod deliveries;
mod read;
mod row;

pub(crate) use deliveries::{tell, unread};

pub(crate) use row::{key_of_signal, key_of_signal_key, read_signal, read_signal_key, signal_key_of, signal_of};
