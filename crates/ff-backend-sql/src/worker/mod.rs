//! The room of workers: their rows, and what is read of them.

mod read;
mod row;

pub use read::{CheckRoom, ListWorkers, ReadGoneWorkers};
pub(crate) use row::worker_of;
