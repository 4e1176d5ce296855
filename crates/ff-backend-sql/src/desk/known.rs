//! What a writer keeps in mind from one batch to the next: how lanes are configured and which feeds somebody follows. Both
//! are looked at all the time and hardly ever change.

use ff_core::event::Feed;
use ff_core::lane::Lane;
use ff_core::types::LaneId;

use super::Shelf;

/// How many lanes are kept in mind, counted once on each partition. Past it they are looked up anew.
const LANES: usize = 100_000;

/// Lanes and feeds, those that nobody configured or follows among them.
#[derive(Default)]
pub struct Known {
    pub(crate) lanes: Shelf<(u16, LaneId), Lane>,
    pub(crate) feeds: Shelf<u16, Feed>,
}

impl Known {
    /// What is known once everything that a batch changed of it is stored.
    pub(crate) fn settled(mut self) -> Self {
        self.lanes.settle();
        self.feeds.settle();
        if self.lanes.len() > LANES {
            self.lanes = Shelf::default();
        }
        self
    }
}
