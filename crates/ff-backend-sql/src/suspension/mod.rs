//! The room of suspensions: waitpoints, remembered answers and secrets as rows, and what is read of them.

mod read;
mod ring;
mod row;

pub use ring::missing_rings;
pub(crate) use ring::{read_ring, ring_of};
pub(crate) use row::{key_of_waitpoint, read_suspend_key, suspend_key_of, waitpoint_of};
