//! Lanes as indexes name them, read back.

use ff_core::types::{LaneId, Namespace};

/// The lane of an index: `<lane>`, or `<namespace>/<lane>` where the namespace is not the default one.
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
