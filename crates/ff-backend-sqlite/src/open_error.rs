//! Why a store cannot be opened.

use std::io;
use std::path::PathBuf;

use ff_core::partition::PartitionConfig;

/// Why a store cannot be opened. Nothing in the file was changed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open.
    #[error("{} is in use by another process; connect to its server over http:// instead", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A program that was never released has written it, with other tables.
    #[error("the store has schema version {found}, which was never released: make a new store")]
    Unreleased {
        /// The version of the file.
        found: i64,
    },
    /// A newer program has written it.
    #[error("the store has schema version {found}, and this program knows versions up to {known}: use a newer program")]
    TooNew {
        /// The version of the file.
        found: i64,
        /// The newest version this program knows.
        known: i64,
    },
    /// It was made with other partition counts. Ids carry their partition, so the counts can never change.
    #[error("partitions: the store was made with {stored}, must be these or left out, not {requested}")]
    Partitions {
        /// The counts in the file.
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
    /// The directory it should be in is not there.
    #[error("path: the directory {} does not exist, must be one that does", path.display())]
    NoDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{} is not a FlowFabric store: {why}", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// How that is known.
        why: String,
    },
    /// The operating system refuses.
    #[error("{} cannot be opened: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// SQLite refuses.
    #[error("{} cannot be opened: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The error.
        source: rusqlite::Error,
    },
}
