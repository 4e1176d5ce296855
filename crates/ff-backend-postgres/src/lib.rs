//! The Postgres store. Several writers commit batches, each in one transaction under the locks of its partitions. Readers have
//! connections of their own.

mod backend;
mod connect;
pub mod dispatch;
mod hints;
mod inbox;
mod meta;
mod migrate;
mod options;
mod outbox;
mod readers;
mod session;
mod statement;
mod writers;

pub use backend::{Postgres, PostgresBackend, connect};
pub use connect::ConnectError;
pub use connect::url::StoreLocation;
pub use inbox::{Inbox, InboxError};
pub use migrate::{MigrationReport, migrate};
pub use options::PostgresOptions;
