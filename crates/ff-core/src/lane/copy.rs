//! Copying: a partition learns how a lane is configured.

use super::Lane;
use super::contracts::{CopyLaneArgs, LaneCount};
use crate::view::{Stop, View};

/// Takes over what is newer than what is known here, and says how many of the lane are held here.
pub fn copy(view: &dyn View, args: &CopyLaneArgs) -> Result<(LaneCount, Option<Lane>), Stop> {
    let key = args.lane.key();
    let known = view.lane(args.partition, &key)?;
    let grants = known.map_or(0, |known| known.grants);
    let newer = known.is_none_or(|known| known.revision < args.lane.revision);
    let after = newer.then(|| Lane { grants, shares: [].into(), ..args.lane.clone() });
    let revision = after.as_ref().or(known).map_or(0, |lane| lane.revision);
    let held = view.active(args.partition, &key)?;
    Ok((LaneCount { partition: args.partition, held, seq: grants, revision }, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::LaneState;
    use crate::lane::yard::Yard;

    #[test]
    fn an_older_copy_does_not_take_the_place_of_a_newer() {
        let mut yard = Yard::new();
        let older = yard.stands(LaneState::Paused);
        let newer = yard.stands(LaneState::Active);
        let count = yard.ask(CopyLaneArgs { partition: 2, lane: older }).unwrap();
        assert_eq!(count.revision, newer.revision);
        yard.submit(2, 0).unwrap();
        assert_eq!(yard.claim(2, 1).tasks.len(), 1);
    }
}
