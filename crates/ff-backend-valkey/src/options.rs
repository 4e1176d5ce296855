//! How a store is used.

use std::sync::Arc;

use ff_core::clock::Clock;
use ff_core::entropy::{Entropy, SystemEntropy};
use ff_core::partition::PartitionConfig;

/// How a store is used.
pub struct ValkeyOptions {
    /// How many partitions: as the store has when not said, or the default when it is new.
    pub partitions: Option<PartitionConfig>,
    /// Refuses a server that holds no store, instead of making one.
    pub existing: bool,
    /// Where randomness comes from.
    pub entropy: Arc<dyn Entropy>,
    /// The failures that an acknowledged write survives, unless the URL sets it.
    pub durability: Durability,
    /// Refuses a server whose settings may lose acknowledged work, instead of logging a warning.
    pub strict_durability: bool,
    /// For tests: time comes from here instead of the server. The server is given functions that ordinary programs refuse
    /// to work with.
    pub clock: Option<Arc<dyn Clock>>,
}

impl Default for ValkeyOptions {
    fn default() -> Self {
        Self {
            partitions: None,
            existing: false,
            entropy: Arc::new(SystemEntropy),
            durability: Durability::default(),
            strict_durability: false,
            clock: None,
        }
    }
}

/// The failures that an acknowledged write survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// As the server is configured: with `appendfsync always` a crash of the machine, with `everysec` all but about its
    /// last second.
    #[default]
    Server,
    /// A crash of the machine: an answer waits until what it answers is on the server's disk.
    Fsync,
}
