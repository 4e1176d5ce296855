//! The row of a lane, as one partition knows it.

use ff_core::lane::Lane;
use ff_core::types::LaneId;

use crate::error::SqlError;
use crate::record;
use crate::session::{Key, Put};

/// The key of the row. The lane is named as indexes name it.
pub(crate) fn key_of_lane(lane: &LaneId, partition: u16) -> Key {
    vec![lane.as_str().into(), partition.into()]
}

/// The row of a lane's record.
pub(crate) fn lane_of_record(partition: u16, lane: &Lane) -> Result<Put, SqlError> {
    let mut values = key_of_lane(&lane.key(), partition);
    values.push(record::written(lane)?);
    Ok(Put::whole(values))
}
