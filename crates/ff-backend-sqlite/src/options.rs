//! How a store is opened.

use std::sync::Arc;

use ff_core::clock::{Clock, SystemClock};
use ff_core::entropy::{Entropy, SystemEntropy};
use ff_core::partition::PartitionConfig;

/// How a store is opened.
pub struct SqliteOptions {
    /// How many partitions: as the file has when not said, or the default when it is new.
    pub partitions: Option<PartitionConfig>,
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
    /// Where randomness comes from.
    pub entropy: Arc<dyn Entropy>,
    /// What an acknowledgement survives.
    pub durability: Durability,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            partitions: None,
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy),
            durability: Durability::default(),
        }
    }
}

/// What an acknowledged write survives. The file is sound after either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process and of the machine's power: every commit waits for the disk.
    #[default]
    Full,
    /// The end of the process. When the machine loses power, the last moments before it may be lost.
    Normal,
}
