//! Whether a lane takes new work.

use super::LaneState;
use crate::engine_error::{Code, Refusal};
use crate::types::{LaneId, Namespace};
use crate::view::{Stop, View};

/// Refuses new work for a lane that is draining; says for how long the lane keeps what has finished, if it does. `field`
/// is what its caller calls the lane.
pub(crate) fn admit(
    view: &dyn View,
    partition: u16,
    (namespace, lane): (&Namespace, &LaneId),
    field: impl FnOnce() -> String,
) -> Result<Option<u64>, Stop> {
    let Some(known) = view.lane(partition, &lane.within(namespace))? else { return Ok(None) };
    if known.settings.state == LaneState::Draining {
        let why = format!("{lane} is draining and takes no new work");
        return Err(Refusal::new(Code::NotRunnable).at(field()).because(why).into());
    }
    Ok(known.settings.retention_ms)
}

/// For how long a lane keeps what has finished, if it says so.
pub(crate) fn kept_ms(
    view: &dyn View,
    partition: u16,
    (namespace, lane): (&Namespace, &LaneId),
) -> Result<Option<u64>, Stop> {
    Ok(view.lane(partition, &lane.within(namespace))?.and_then(|known| known.settings.retention_ms))
}
