//! How a store is used.

use std::sync::Arc;

use ff_core::clock::Clock;
use ff_core::entropy::{Entropy, SystemEntropy};
use ff_core::partition::PartitionConfig;

/// How a store is used.
pub struct PostgresOptions {
    /// How many partitions: as the store has when not said, or the default when it is new.
    pub partitions: Option<PartitionConfig>,
    /// Refuses a database that holds no store, instead of making one.
    pub existing: bool,
    /// Where randomness comes from.
    pub entropy: Arc<dyn Entropy>,
    /// Refuses a server whose settings may lose acknowledged work, instead of logging a warning.
    pub strict_durability: bool,
    /// For tests: time comes from here instead of the server.
    pub clock: Option<Arc<dyn Clock>>,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            partitions: None,
            existing: false,
            entropy: Arc::new(SystemEntropy),
            strict_durability: false,
            clock: None,
        }
    }
}
