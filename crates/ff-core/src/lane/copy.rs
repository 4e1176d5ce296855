//! Copying the configuration of a lane to a partition.

use super::Lane;
use super::recount::LaneCount;
use crate::engine_error::Refusal;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, check_partition};
use crate::rule::view::{Stop, View};

/// A request to copy the configuration of a lane to a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyLaneArgs {
    pub partition: u16,
    pub lane: Lane,
}

impl Command for CopyLaneArgs {
    type Reply = LaneCount;

    fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        check_partition(self.partition, partitions)
    }

    fn partition(&self, _: &PartitionConfig) -> u16 {
        self.partition
    }

    /// Adopts a newer version of the lane, and returns how many of its executions the partition holds. Requirement
    /// classes are added in any case.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<LaneCount>, Stop> {
        let key = self.lane.key();
        let known = view.lane(self.partition, &key)?;
        let grants = known.map_or(0, |known| known.grants);
        let newer = known.is_none_or(|known| known.revision < self.lane.revision);
        let classes =
            known.map(|known| &known.classes | &self.lane.classes).unwrap_or_else(|| self.lane.classes.clone());
        let keyed = self.lane.keyed || known.is_some_and(|known| known.keyed);
        let after = match known {
            Some(known) if !newer && known.classes == classes => None,
            Some(known) if !newer => Some(Lane { classes, ..known.clone() }),
            _ => Some(Lane { grants, classes, keyed, shares: [].into(), ..self.lane.clone() }),
        };
        let revision = after.as_ref().or(known).map_or(0, |lane| lane.revision);
        let held = view.active(self.partition, &key)?;
        let count = LaneCount { partition: self.partition, held, seq: grants, revision, counted_at: at.now };
        Ok(Decision::about_lane(count, self.partition, after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::LaneState;
    use crate::lane::fixture::LaneFixture;

    #[test]
    fn an_older_copy_does_not_take_the_place_of_a_newer() {
        let mut fixture = LaneFixture::new();
        let older = fixture.stands(LaneState::Paused);
        let newer = fixture.stands(LaneState::Active);
        let count = fixture.ask(CopyLaneArgs { partition: 2, lane: older }).unwrap();
        assert_eq!(count.revision, newer.revision);
        fixture.submit(2, 0).unwrap();
        assert_eq!(fixture.claim(2, 1).tasks.len(), 1);
    }
}
