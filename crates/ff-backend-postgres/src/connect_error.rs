//! Why a store cannot be used.

use ff_core::partition::PartitionConfig;

/// Why a store cannot be used. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The URL or one of its parameters is not allowed. The URL itself is not repeated, as it may hold a password.
    #[error("{why}")]
    BadUrl {
        /// Which part is wrong, and what is allowed.
        why: String,
    },
    /// Nothing answers, or not as a database.
    #[error("cannot reach {address}: {why}")]
    Unreachable {
        /// Where a server was expected.
        address: String,
        /// The failure.
        why: String,
    },
    /// The password is missing or wrong, or the user lacks a permission.
    #[error("{address} does not let us in: {why}")]
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
    /// It is older than the oldest server that is promised to work.
    #[error("{address} is Postgres {found}, which is too old: 15 is the least")]
    TooOld {
        /// The server.
        address: String,
        /// Its version.
        found: String,
    },
    /// There is no store, and none was to be made.
    #[error("the schema {schema} holds no store: `ff migrate` makes one")]
    NoStore {
        /// Where one was looked for.
        schema: String,
    },
    /// The schema is something else's.
    #[error("the schema {schema} has tables, and they are not a store's")]
    NotAStore {
        /// Where a store was looked for.
        schema: String,
    },
    /// A program that was never released has written it, with other tables.
    #[error("the store has schema version {found}, which was never released: make a new store")]
    Unreleased {
        /// The version of the store.
        found: i64,
    },
    /// A newer program has written it.
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
    /// The options ask for no partitions at all.
    #[error("partitions: must be at least 1 of each family, not {requested}")]
    NoPartitions {
        /// The counts in the options.
        requested: PartitionConfig,
    },
    /// The server's settings may lose acknowledged work, and that was to be refused.
    #[error("{address} may lose acknowledged work: {why}")]
    NotDurable {
        /// The server.
        address: String,
        /// The settings, and the safe values.
        why: String,
    },
    /// The server did not do what is needed to make the store or to look at it.
    #[error("{address}: {why}")]
    Server {
        /// The server.
        address: String,
        /// Its message.
        why: String,
    },
}
