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
    /// The failures that an acknowledged write survives.
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

/// The failures that an acknowledged write survives. The file is sound after any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process and of the machine's power: every commit waits for the disk.
    #[default]
    Full,
    /// The end of the process. When the machine loses power, the last moments before it may be lost.
    Normal,
}
