//! Claiming: a worker takes waiting executions, the most important first.

use super::hand_out::{eligible, hand_out};
use crate::change::Change;
use crate::dice::Nonce;
use crate::lease::contracts::{ClaimArgs, Taken};
use crate::types::TimestampMs;
use crate::view::{Stop, View, together};

/// Takes up to `max` executions of a lane on a partition: by priority, then age, then id, or as the lane weighs them. Of a
/// paused lane nothing is taken, of one with a limit nothing without a grant.
pub fn claim(view: &dyn View, args: &ClaimArgs, nonce: &Nonce, now: TimestampMs) -> Result<(Taken, Vec<Change>), Stop> {
    let lane = args.lane.within(&args.namespace);
    let plainly = eligible(args, None);
    together([view.lane(args.partition, &lane).map(drop), view.eligible(&plainly).map(drop)])?;
    let known = view.lane(args.partition, &lane)?;
    if known.is_some_and(|lane| !lane.hands_out()) {
        return Ok((Taken { tasks: Vec::new(), next: None, limited: false }, Vec::new()));
    }
    if known.is_some_and(|lane| lane.settings.concurrency.is_some()) {
        let limited = !view.eligible(&plainly)?.is_empty();
        return Ok((Taken { tasks: Vec::new(), next: None, limited }, Vec::new()));
    }
    hand_out(view, args, known, nonce, now)
}
