//! The functions of lanes.

mod configure;
mod read;

use ff_core::types::{LaneId, Namespace};

use crate::execution::index_keys;

pub(crate) use configure::lane_count;
pub use configure::{
    ff_allot_lane, ff_configure_lane, ff_copy_lane, ff_recount_lane, ff_register_classes, ff_settle_lane,
};
pub use read::{CountedLanes, LaneFields, ff_count_lanes, ff_list_queue, ff_read_lanes};

/// Returns the key of a lane's settings on a partition. `lane` is the name used in indexes.
fn config_key(partition: u16, lane: &LaneId) -> String {
    index_keys(partition).lane_config(lane)
}

/// Parses the name of a lane in an index: `<lane>`, or `<namespace>/<lane>` where the namespace is not the default one.
pub fn lane_of_index(text: &str) -> Option<LaneId> {
    match text.split_once('/') {
        Some((namespace, lane)) => Some(LaneId::parse(lane).ok()?.within(&Namespace::parse(namespace).ok()?)),
        None => LaneId::parse(text).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_reads_back_as_its_index_names_it() {
        for (namespace, expected) in [("default", "mail"), ("acme", "acme/mail")] {
            let lane = LaneId::parse("mail").unwrap().within(&Namespace::parse(namespace).unwrap());
            assert_eq!(lane.as_str(), expected);
            assert_eq!(lane_of_index(lane.as_str()), Some(lane));
        }
        assert_eq!(lane_of_index("a/b/c"), None);
        assert_eq!(lane_of_index(""), None);
    }
}
