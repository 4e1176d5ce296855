//! How lanes stand on a partition.

use ff_core::contracts::{Depth, Depths, LaneStanding};
use ff_core::keys::IndexKeys;
use ff_core::lane::Lane;
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::types::{LaneId, TimestampMs};

use crate::record::{Hash, lane};
use crate::signature::ReadLanes;
use crate::{FcallResult, Fields, ScriptError, Server};

/// What a partition has of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneFields {
    /// How it is configured, if it is.
    pub lane: Option<Lane>,
    /// Only where there is something.
    pub depths: Depths,
}

/// In the order the function tells them.
const STANDINGS: [LaneStanding; 6] = [
    LaneStanding::Waiting,
    LaneStanding::Delayed,
    LaneStanding::Active,
    LaneStanding::Suspended,
    LaneStanding::WaitingChildren,
    LaneStanding::Finished,
];

/// What a partition has of each of these lanes, named as indexes name them.
pub async fn ff_read_lanes(
    server: &dyn Server,
    partition: u16,
    wanted: &[LaneId],
) -> Result<Vec<LaneFields>, ScriptError> {
    let read = ReadLanes {
        lanes: IndexKeys::new(&Partition::new(PartitionFamily::Execution, partition)).lanes(),
        wanted: wanted.iter().map(|lane| lane.to_string().into()).collect(),
    };
    let call = read.call();
    let (mut fields, _) = FcallResult::parse(call.signature, server.fcall(call).await?)?.into_fields();
    let found = fields.list()?.into_iter().map(|told| fields.part(told)).collect::<Result<Vec<_>, _>>()?;
    wanted.iter().zip(found).map(|(name, told)| LaneFields::read(name, told)).collect()
}

impl LaneFields {
    fn read(name: &LaneId, mut told: Fields) -> Result<Self, ScriptError> {
        let lane = lane(name, &Hash::parse(told.list()?)?)?;
        let mut depths = Depths::new();
        for standing in STANDINGS {
            let (count, first_at) = (told.read()?, told.maybe_read()?.map(TimestampMs));
            // What has finished has no age.
            let first_at = first_at.filter(|_| standing != LaneStanding::Finished);
            if count > 0 {
                depths.insert(standing, Depth { count, first_at });
            }
        }
        Ok(Self { lane, depths })
    }
}
