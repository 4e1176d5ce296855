//! Why a store cannot be used.

use ff_core::engine_error::EngineError;
use ff_core::partition::PartitionConfig;
use ff_script::LoadError;

/// Why a store cannot be used. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The URL or one of its parameters is not allowed. The URL itself is not repeated, as it may hold a password.
    #[error("{why}")]
    BadUrl {
        /// Which part is wrong, and what is allowed.
        why: String,
    },
    /// Nothing answers.
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
    /// It is older than the oldest server with functions.
    #[error("{address} is {found}, which is too old: Valkey 7.2 or Redis 7.0 is the least")]
    TooOld {
        /// The server.
        address: String,
        /// Its version.
        found: String,
    },
    /// It cannot be given functions.
    #[error("{address} has no functions: {why}")]
    NoFunctions {
        /// The server.
        address: String,
        /// Its message.
        why: String,
    },
    /// The URL is for a cluster, the server is not one.
    #[error("scheme: {address} is not a cluster, must be {scheme}:// without +cluster")]
    NotACluster {
        /// The server.
        address: String,
        /// The scheme that would be right.
        scheme: &'static str,
    },
    /// The server is part of a cluster, the URL is not for one.
    #[error("scheme: {address} is part of a cluster, must be {scheme}+cluster://")]
    IsACluster {
        /// The server.
        address: String,
        /// The scheme to which `+cluster` belongs.
        scheme: &'static str,
    },
    /// There is no store, and none was to be made.
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
    /// The options ask for no partitions at all.
    #[error("partitions: must be at least 1 of each family, not {requested}")]
    NoPartitions {
        /// The counts in the options.
        requested: PartitionConfig,
    },
    /// The server has functions this program cannot work with.
    #[error(transparent)]
    Functions(#[from] LoadError),
    /// The server cannot say when a write is on its disk.
    #[error("durability: fsync does not work here, {why}; must be server")]
    NoFsync {
        /// The missing condition.
        why: String,
    },
    /// The server's settings may lose acknowledged work, and that was to be refused.
    #[error("{address} may lose acknowledged work: {why}")]
    NotDurable {
        /// The server.
        address: String,
        /// The settings, and the safe values.
        why: String,
    },
    /// The server stopped answering while it was being looked at.
    #[error(transparent)]
    Server(#[from] EngineError),
}
