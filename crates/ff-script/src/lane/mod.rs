//! The functions of lanes.

mod configure;
mod index;
mod limit;
mod read;

use ff_core::keys::IndexKeys;
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::types::LaneId;

pub use configure::{ff_configure_lane, ff_copy_lane};
pub use index::lane_of_index;
pub use limit::{ff_allot_lane, ff_recount_lane, ff_settle_lane};
pub use read::{CountedLanes, LaneFields, ff_count_lanes, ff_read_lanes};

/// Where a partition keeps how a lane is configured, the lane as indexes name it.
fn config_key(partition: u16, lane: &LaneId) -> String {
    IndexKeys::new(&Partition::new(PartitionFamily::Execution, partition)).lane_config(lane)
}
