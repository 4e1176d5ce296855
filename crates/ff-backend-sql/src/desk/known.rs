//! What a writer keeps in mind from one batch to the next: how lanes are configured and which feeds somebody follows. Both
//! are looked at all the time and hardly ever change.

use std::collections::BTreeSet;

use ff_core::event::Feed;
use ff_core::lane::Lane;
use ff_core::types::LaneId;

use super::Shelf;
use crate::session::Begun;

/// How many lanes are kept in mind, counted once on each partition. Past it they are looked up anew.
const LANES: usize = 100_000;

/// Lanes and feeds, those that nobody configured or follows among them.
#[derive(Default)]
pub struct Known {
    pub(crate) lanes: Shelf<(u16, LaneId), Lane>,
    pub(crate) feeds: Shelf<u16, Feed>,
    /// Whether the store has no lane that somebody configured, and whether anybody follows what happens in it. Until a
    /// batch begins this is as the one before it found it, and what is asked ahead counts on it.
    pub(crate) has_no_lanes: bool,
    is_followed: bool,
}

impl Known {
    /// What is left to count on where others write too.
    pub(crate) fn without_records(self) -> Self {
        Self { has_no_lanes: self.has_no_lanes, is_followed: self.is_followed, ..Self::default() }
    }

    /// Takes note of the circumstances a batch begins under.
    pub(crate) fn note(&mut self, begun: &Begun) {
        (self.has_no_lanes, self.is_followed) = (!begun.has_lanes, begun.is_followed);
    }

    /// The partitions among these of which it has to be found out who follows them.
    pub(crate) fn unknown_feeds(&self, partitions: &[u16]) -> BTreeSet<u16> {
        let unknown = partitions.iter().filter(|partition| self.is_followed && !self.feeds.has(partition));
        unknown.copied().collect()
    }

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
