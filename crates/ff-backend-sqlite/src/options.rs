//! Options of opening a store.

use std::sync::Arc;

use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::backend::entropy::{Entropy, SystemEntropy};
use ff_core::partition::PartitionConfig;

/// Options of opening a store.
pub struct SqliteOptions {
    /// The partition counts. `None` means those of the file, or the defaults for a new one.
    pub partitions: Option<PartitionConfig>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of randomness.
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

/// The failures that an acknowledged write survives. The file stays consistent after all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A crash of the process and a power failure: every commit waits for the disk.
    #[default]
    Full,
    /// A crash of the process. A power failure may lose the last moments before it.
    Normal,
}
