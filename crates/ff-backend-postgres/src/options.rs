//! Options of opening a store.

use std::sync::Arc;

use ff_core::backend::clock::Clock;
use ff_core::backend::entropy::{Entropy, SystemEntropy};
use ff_core::partition::PartitionConfig;

/// Options of opening a store.
pub struct PostgresOptions {
    /// The partition counts. `None` means the count in the URL, or else those of the store, or the defaults for a new store.
    pub partitions: Option<PartitionConfig>,
    /// Refuses a database that holds no store, instead of making one.
    pub existing: bool,
    /// The source of randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Refuses a server whose settings may lose acknowledged work, instead of logging a warning.
    pub strict_durability: bool,
    /// The clock, for tests. `None` means the server's clock.
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
