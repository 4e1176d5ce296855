//! Counting again: what a partition really holds of a lane with a limit.

use super::Lane;
use super::contracts::{LaneCount, RecountLaneArgs};
use crate::view::{Stop, View};

/// Counts what is held here. A grant up to the one that is named and was not used by now counts no more, so that what is
/// counted is all there will be of it.
pub fn recount(view: &dyn View, args: &RecountLaneArgs) -> Result<(LaneCount, Option<Lane>), Stop> {
    let key = args.lane.within(&args.namespace);
    let held = view.active(args.partition, &key)?;
    let Some(lane) = view.lane(args.partition, &key)? else {
        return Ok((LaneCount { partition: args.partition, held, seq: 0, revision: 0 }, None));
    };
    let seq = lane.grants.max(args.seq);
    let after = (seq > lane.grants).then(|| Lane { grants: seq, ..lane.clone() });
    Ok((LaneCount { partition: args.partition, held, seq, revision: lane.revision }, after))
}

#[cfg(test)]
mod tests {
    use crate::lane::yard::Yard;

    #[test]
    fn a_grant_that_was_counted_out_cannot_be_used_any_more() {
        let mut yard = Yard::new();
        yard.submit(0, 0).unwrap();
        yard.limit(1);
        let grant = yard.granted(0, 1).unwrap();
        let count = yard.recount(0, grant.seq);
        assert_eq!((count.held, yard.settle(vec![count])), (0, 1));
        let next = yard.granted(0, 1).unwrap();
        assert_eq!(yard.claim_with(0, grant).taken.tasks, [], "it went to whoever asked next");
        assert_eq!(yard.claim_with(0, next).taken.tasks.len(), 1);
    }
}
