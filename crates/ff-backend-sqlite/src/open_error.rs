//! Errors of opening a store.

use std::io;
use std::path::PathBuf;

use ff_core::partition::PartitionConfig;

/// Error of opening a store. The contents of a refused store are unchanged.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has the file open.
    #[error("{} is in use by another process; connect to its server over http:// instead", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The store was written by an unreleased program, with other tables.
    #[error("the store has schema version {found}, which was never released: make a new store")]
    Unreleased {
        /// The version of the file.
        found: i64,
    },
    /// The store was written by a newer program.
    #[error("the store has schema version {found}, and this program knows versions up to {known}: use a newer program")]
    TooNew {
        /// The version of the file.
        found: i64,
        /// The newest version this program knows.
        known: i64,
    },
    /// The store was made with other partition counts. Ids carry their partition, so the counts can never change.
    #[error("partitions: the store was made with {stored}, must be these or left out, not {requested}")]
    Partitions {
        /// The counts in the file.
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
    /// The directory of the file does not exist.
    #[error("path: the directory {} does not exist, must be one that does", path.display())]
    NoDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// The file is not a store.
    #[error("{} is not a FlowFabric store: {why}", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The operating system returned an error.
    #[error("{} cannot be opened: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// SQLite returned an error.
    #[error("{} cannot be opened: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The error.
        source: rusqlite::Error,
    },
}
