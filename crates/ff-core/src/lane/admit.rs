//! Whether a lane takes new work, and the settings that new work takes over from it.

use super::{Lane, LaneState};
use crate::engine_error::{Code, Refusal};
use crate::execution::Execution;
use crate::types::{FairKey, LaneId, Namespace};
use crate::view::{Stop, View};

/// The settings that new work takes over from its lane.
pub(crate) struct LaneTerms<'v>(Option<&'v Lane>);

impl<'v> LaneTerms<'v> {
    /// As a partition knows the lane.
    pub(crate) fn of(
        view: &'v dyn View,
        partition: u16,
        (namespace, lane): (&Namespace, &LaneId),
    ) -> Result<Self, Stop> {
        Ok(Self(view.lane(partition, &lane.within(namespace))?))
    }

    /// The work, kept after its end for as long as its lane says, and with the key the lane queues it by.
    pub(crate) fn apply(&self, mut work: Execution) -> Execution {
        let Some(lane) = self.0 else { return work };
        work.lane_retention_ms = lane.settings.retention_ms;
        let key = lane.settings.fair_by.as_ref().and_then(|fair_by| fair_by.key_of(&work));
        // A kind, a namespace and the value of a label are all texts a key may be.
        work.fair_key = key.and_then(|key| FairKey::parse(&key).ok()).unwrap_or_default();
        work
    }
}

/// Refuses new work for a lane that is draining; otherwise returns the settings it takes over. `field` is the caller's
/// name of the lane.
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
