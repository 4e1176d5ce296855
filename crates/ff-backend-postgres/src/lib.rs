//! The Postgres store. Several writers commit batches, each in one transaction under the locks of its partitions. Readers have
//! connections of their own.

mod backend;
mod connect_error;
mod connection;
mod connector;
mod dialect;
pub mod dispatch;
mod driver_error;
mod hints;
mod inbox;
mod meta;
mod migrate;
mod options;
mod outbox;
mod pooler;
mod readers;
mod request;
mod session;
mod tls;
mod url;
mod value;
mod writers;

pub use backend::{Postgres, PostgresBackend, connect};
pub use connect_error::ConnectError;
pub use inbox::{Inbox, InboxError};
pub use migrate::{MigrationReport, migrate};
pub use options::PostgresOptions;
pub use url::StoreLocation;
