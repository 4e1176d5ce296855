//! The SQLite store, in one file: one writer thread, short reads beside it, one owner process.

mod backend;
#[cfg(test)]
mod batches;
mod connection;
mod dialect;
mod meta;
mod migrate;
mod open_error;
mod options;
mod owner;
mod readers;
mod session;
mod writer;

pub use backend::{Sqlite, SqliteBackend, open};
pub use open_error::OpenError;
pub use options::{Durability, SqliteOptions};
