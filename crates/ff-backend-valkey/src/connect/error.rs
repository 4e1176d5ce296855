//! The reasons why a store cannot be used.

use ff_core::engine_error::EngineError;
use ff_core::partition::PartitionConfig;
use ff_script::LoadError;

/// The reason why a store cannot be used. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The URL or one of its parameters is not allowed. The URL itself is not repeated, as it may hold a password.
    #[error("{why}")]
    BadUrl {
        /// The wrong part, and what is allowed.
        why: String,
    },
    /// The server does not answer.
    #[error("cannot reach {address}: {why}")]
    Unreachable {
        /// The address of the server.
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
    /// The server is older than the oldest version with functions.
    #[error("{address} is {found}, which is too old: Valkey 7.2 or Redis 7.0 is the least")]
    TooOld {
        /// The server.
        address: String,
        /// Its version.
        found: String,
    },
    /// The server does not accept functions.
    #[error("{address} has no functions: {why}")]
    NoFunctions {
        /// The server.
        address: String,
        /// Its message.
        why: String,
    },
    /// The URL is for a cluster, but the server is not part of one.
    #[error("scheme: {address} is not a cluster, must be {scheme}:// without +cluster")]
    NotACluster {
        /// The server.
        address: String,
        /// The right scheme.
        scheme: &'static str,
    },
    /// The server is part of a cluster, but the URL is not for one.
    #[error("scheme: {address} is part of a cluster, must be {scheme}+cluster://")]
    IsACluster {
        /// The server.
        address: String,
        /// The scheme that needs `+cluster`.
        scheme: &'static str,
    },
    /// The server holds no store, and the options forbid making one.
    #[error("the server holds no store")]
    NoStore,
    /// The store was made with other partition counts. Ids carry their partition, so the counts can never change.
    #[error("partitions: the store was made with {stored}, must be these or left out, not {requested}")]
    Partitions {
        /// The counts in the store.
        stored: PartitionConfig,
        /// The counts in the options.
        requested: PartitionConfig,
    },
    /// The options request a family without partitions.
    #[error("partitions: must be at least 1 of each family, not {requested}")]
    NoPartitions {
        /// The counts in the options.
        requested: PartitionConfig,
    },
    /// The server has functions that this program cannot work with.
    #[error(transparent)]
    Functions(#[from] LoadError),
    /// The server cannot confirm that a write is on its disk.
    #[error("durability: fsync does not work here, {why}; must be server")]
    NoFsync {
        /// The missing condition.
        why: String,
    },
    /// The server's settings may lose acknowledged work, and the options refuse such a server.
    #[error("{address} may lose acknowledged work: {why}")]
    NotDurable {
        /// The server.
        address: String,
        /// The settings, and the safe values.
        why: String,
    },
    /// The server stopped answering during the checks.
    #[error(transparent)]
    Server(#[from] EngineError),
}
