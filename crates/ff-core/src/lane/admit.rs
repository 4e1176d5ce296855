//! Admission of new work to a lane, and the lane's settings that the work takes over.

use super::{Lane, LaneState};
use crate::engine_error::{Code, Refusal};
use crate::execution::Execution;
use crate::rule::view::{Stop, View};
use crate::types::{FairKey, LaneId, Namespace};

/// The settings that new work takes over from its lane.
pub(crate) struct LaneTerms<'v>(Option<&'v Lane>);

impl<'v> LaneTerms<'v> {
    /// Returns the terms of a lane, as stored on a partition.
    pub(crate) fn of(
        view: &'v dyn View,
        partition: u16,
        (namespace, lane): (&Namespace, &LaneId),
    ) -> Result<Self, Stop> {
        Ok(Self(view.lane(partition, &lane.within(namespace))?))
    }

    /// Adds the lane's retention and the key by which the lane queues the work.
    pub(crate) fn apply(&self, mut work: Execution) -> Execution {
        let Some(lane) = self.0 else { return work };
        work.lane_retention_ms = lane.settings.retention_ms;
        let key = lane.settings.fair_by.as_ref().and_then(|fair_by| fair_by.key_of(&work));
        // Any kind, namespace or tag value is a valid key.
        work.fair_key = key.and_then(|key| FairKey::parse(&key).ok()).unwrap_or_default();
        work
    }
}

/// Refuses new work for a draining lane; otherwise returns the settings that the work takes over. `field` is the
/// caller's name of the lane.
pub(crate) fn admit<'v>(
    view: &'v dyn View,
    partition: u16,
    lane: (&Namespace, &LaneId),
    field: impl FnOnce() -> String,
) -> Result<LaneTerms<'v>, Stop> {
    let terms = LaneTerms::of(view, partition, lane)?;
    if terms.0.is_some_and(|known| known.settings.state == LaneState::Draining) {
        let why = format!("{} is draining and takes no new work", lane.1);
        return Err(Refusal::new(Code::NotRunnable).at(field()).because(why).into());
    }
    Ok(terms)
}
