//! Following: reading the feed of a partition makes the partition record its events.

use super::Feed;
use crate::engine_error::{Code, Refusal};
use crate::limits;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, check_partition};
use crate::rule::view::{Stop, View};
use crate::types::TimestampMs;

/// Makes a partition record its events for some time, because its feed was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowArgs {
    pub partition: u16,
}

impl Command for FollowArgs {
    type Reply = Feed;

    fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        check_partition(self.partition, partitions)
    }

    fn partition(&self, _: &PartitionConfig) -> u16 {
        self.partition
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<Feed>, Stop> {
        let known = view.feed(self.partition)?;
        let after = follow(known, at.now);
        let feed = after.or(known.copied()).ok_or(Code::InvariantViolation)?;
        Ok(Decision { feed: after.map(|feed| (self.partition, feed)), ..Decision::of(feed, None) })
    }
}

/// Returns the feed after a read, or `None` when the read does not change it. Reads extend a feed that still records,
/// but not every read writes. A feed that has expired starts anew.
pub fn follow(known: Option<&Feed>, now: TimestampMs) -> Option<Feed> {
    let until = now + limits::FOLLOWED_MS;
    match known {
        Some(feed) if !feed.records_at(now) => Some(Feed { since: now, until }),
        Some(feed) if until.since(feed.until) < limits::FOLLOWED_STEP_MS => None,
        Some(feed) => Some(Feed { until, ..*feed }),
        None => Some(Feed { since: now, until }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::samples::at;

    #[test]
    fn a_feed_continues_while_read_and_starts_again_after_it_lapsed() {
        let first = follow(None, at(0)).unwrap();
        assert_eq!(first, Feed { since: at(0), until: at(limits::FOLLOWED_MS) });
        assert_eq!(follow(Some(&first), at(limits::FOLLOWED_STEP_MS - 1)), None, "not every reader writes");
        let later = follow(Some(&first), at(limits::FOLLOWED_STEP_MS)).unwrap();
        assert_eq!((later.since, later.until > first.until), (at(0), true));
        let lapsed = follow(Some(&first), at(limits::FOLLOWED_MS)).unwrap();
        assert_eq!(lapsed.since, at(limits::FOLLOWED_MS));
    }
}
