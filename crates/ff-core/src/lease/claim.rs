//! Claiming: a worker takes waiting executions, the most important first.

use super::hand_out::{eligible, hand_out};
use crate::engine_error::Refusal;
use crate::lease::contracts::{ClaimArgs, Taken};
use crate::operation::command::{Command, Conditions, Decision, check_partition};
use crate::partition::PartitionConfig;
use crate::view::{Stop, View, together};

impl Command for ClaimArgs {
    type Reply = Taken;

    fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        check_partition(self.partition, partitions).and(self.check())
    }

    fn partition(&self, _: &PartitionConfig) -> u16 {
        self.partition
    }

    /// Takes up to `max` executions of a lane on a partition: by priority, then age, then id, or as the lane weighs them. Of a
    /// paused lane nothing is taken, of one with a limit nothing without a grant.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<Taken>, Stop> {
        let lane = self.lane.within(&self.namespace);
        let plainly = eligible(self, None);
        together([view.lane(self.partition, &lane).map(drop), view.eligible(&plainly).map(drop)])?;
        let known = view.lane(self.partition, &lane)?;
        if known.is_some_and(|lane| !lane.hands_out()) {
            return Ok(Decision::of(Taken { tasks: Vec::new(), next: None, limited: false }, None));
        }
        if known.is_some_and(|lane| lane.settings.concurrency.is_some()) {
            let limited = !view.eligible(&plainly)?.is_empty();
            return Ok(Decision::of(Taken { tasks: Vec::new(), next: None, limited }, None));
        }
        let (taken, changes) = hand_out(view, self, known, &at.nonce, at.now)?;
        Ok(Decision::of(taken, changes))
    }
}
