//! The functions of an engine.

mod now;
mod partitions;
mod pump;
mod sweep;

use ff_core::keys::IndexKeys;
use ff_core::partition::{Partition, PartitionFamily};

pub use now::ff_now;
pub use partitions::ff_configure_partitions;
pub use pump::ff_pump;
pub use sweep::ff_sweep;

fn index_keys(partition: u16) -> IndexKeys {
    IndexKeys::new(&Partition::new(PartitionFamily::Execution, partition))
}
