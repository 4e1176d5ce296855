//! Errors of opening a store.

use ff_core::partition::PartitionConfig;

/// Error of opening a store.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The URL or one of its parameters is not allowed. The URL itself is not repeated, as it may hold a password.
    #[error("{why}")]
    BadUrl {
        /// The wrong part and the allowed values.
        why: String,
    },
    /// No server answers, or the answer is not a database's.
    #[error("cannot reach {address}: {why}")]
    Unreachable {
        /// The expected address of the server.
        address: String,
        /// The failure.
        why: String,
    },
    /// The password is missing or wrong, or the user lacks a permission.
    #[error("{address} refuses the connection: {why}")]
    NotAllowed {
        /// The server.
        address: String,
        /// Its message.
        why: String,
    },
    /// The pooler before the server lacks a needed feature.
    #[error("{address} is a pooler that {why}")]
    Pooler {
        /// The pooler.
        address: String,
        /// The missing feature, and a remedy.
        why: &'static str,
    },
    /// The server is older than the oldest supported version.
    #[error("{address} is Postgres {found}, which is too old: 15 is the least")]
    TooOld {
        /// The server.
        address: String,
        /// Its version.
        found: String,
    },
    /// The schema has no store, and the options do not allow making one.
    #[error("the schema {schema} holds no store: `ff migrate` makes one")]
    NoStore {
        /// The schema.
        schema: String,
    },
    /// The schema has tables of another program.
    #[error("the schema {schema} has tables, and they are not a store's")]
    NotAStore {
        /// The schema.
        schema: String,
    },
    /// The store was written by an unreleased program, with other tables.
    #[error("the store has schema version {found}, which was never released: make a new store")]
    Unreleased {
        /// The version of the store.
        found: i64,
    },
    /// The store was written by a newer program.
    #[error("the store has schema version {found}, and this program knows versions up to {known}: use a newer program")]
    TooNew {
        /// The version of the store.
        found: i64,
        /// The newest version this program knows.
        known: i64,
    },
    /// The store was made with other partition counts. Ids carry their partition, so the counts can never change.
    #[error("partitions: the store was made with {stored}, must be these or left out, not {requested}")]
    Partitions {
        /// The counts in the store.
        stored: PartitionConfig,
        /// The counts in the options.
        requested: PartitionConfig,
    },
    /// A partition count in the options is zero.
    #[error("partitions: must be at least 1 of each family, not {requested}")]
    NoPartitions {
        /// The counts in the options.
        requested: PartitionConfig,
    },
    /// The server's settings may lose acknowledged work, and the options demand a durable server.
    #[error("{address} may lose acknowledged work: {why}")]
    NotDurable {
        /// The server.
        address: String,
        /// The settings, and the safe values.
        why: String,
    },
    /// A statement needed to open the store failed, or the thread of a writer did not start.
    #[error("{address}: {why}")]
    Server {
        /// The server.
        address: String,
        /// Its message.
        why: String,
    },
}
