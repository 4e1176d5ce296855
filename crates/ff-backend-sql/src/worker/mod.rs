//! The room of workers: their rows, and what is read of them.

mod read;
mod row;

pub(crate) use read::CheckRoom;
pub(crate) use row::worker_of;
