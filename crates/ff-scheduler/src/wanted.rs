//! What a worker asks for, in the words of the indexes.

use ff_core::lease::contracts::NextArgs;
use ff_core::types::{Kind, LaneId};

/// Which work a worker takes.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// As indexes name them, in the order they are preferred.
    pub(crate) lanes: Vec<LaneId>,
    /// Any kind when none is named.
    pub(crate) kinds: Vec<Kind>,
}

impl Wanted {
    pub(crate) fn by(args: &NextArgs) -> Self {
        let lanes = args.lanes.iter().map(|lane| lane.within(&args.namespace)).collect();
        Self { lanes, kinds: args.kinds.clone() }
    }
}
