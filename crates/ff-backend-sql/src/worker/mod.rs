//! The room of workers: their rows, and what is read of them.

mod read;
mod row;
mod store;

pub(crate) use read::ReadGoneWorkers;
pub(crate) use row::worker_of;
