//! The options of a store.

use std::sync::Arc;

use ff_core::backend::clock::Clock;
use ff_core::backend::entropy::{Entropy, SystemEntropy};
use ff_core::partition::PartitionConfig;

/// The options of a store.
pub struct ValkeyOptions {
    /// The partition counts. By default those of the store, or the default counts when it is new.
    pub partitions: Option<PartitionConfig>,
    /// Refuses a server that holds no store, instead of making one.
    pub existing: bool,
    /// The source of randomness.
    pub entropy: Arc<dyn Entropy>,
    /// The failures that an acknowledged write survives, unless the URL sets it.
    pub durability: Durability,
    /// Refuses a server whose settings may lose acknowledged work, instead of logging a warning.
    pub strict_durability: bool,
    /// A clock for tests, instead of the server's. The server then gets functions that ordinary programs refuse to work
    /// with.
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
    /// The failures that the server's configuration covers: with `appendfsync always` a crash of the machine, with
    /// `everysec` such a crash except for about the last second before it.
    #[default]
    Server,
    /// A crash of the machine: an answer waits until the write is on the server's disk.
    Fsync,
}
