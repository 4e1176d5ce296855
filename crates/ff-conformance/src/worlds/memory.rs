//! The store that forgets when its process ends.

use std::sync::Arc;

use ff_backend_memory::MemoryBackend;
use ff_core::dice::SystemDice;

use super::{few_partitions, over};
use crate::world::{Hands, World};

/// A store in memory.
pub async fn memory() -> World {
    let hands = Arc::new(Hands::default());
    let store = MemoryBackend::new(few_partitions(), hands.clone(), Arc::new(SystemDice));
    over(Arc::new(store), hands, async {})
}
