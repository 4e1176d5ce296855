//! Due work: everything that waits for a moment, as one table.

use crate::change::Change;
use crate::dice::Nonce;
use crate::execution::{self, Execution, Phase};
use crate::index::Index;
use crate::lease;
use crate::limits;
use crate::suspension;
use crate::types::TimestampMs;
use crate::view::{DueFirst, Stop, View};

/// A moment an execution can wait for. When two come together, the one listed first fires first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Due {
    Deadline,
    SuspensionTimeout,
    AttemptTimeout,
    LeaseExpiry,
    Delayed,
    PendingWaitpoint,
}

impl Due {
    pub const ALL: &[Due] = &[
        Due::Deadline,
        Due::SuspensionTimeout,
        Due::AttemptTimeout,
        Due::LeaseExpiry,
        Due::Delayed,
        Due::PendingWaitpoint,
    ];

    /// The index of its moments, where it has one of executions. Delays are found in their lanes, and waitpoints made
    /// ahead have an index of waitpoints.
    pub fn index(self) -> Option<Index> {
        match self {
            Self::Deadline => Some(Index::ExecutionDeadline),
            Self::AttemptTimeout => Some(Index::AttemptTimeout),
            Self::LeaseExpiry => Some(Index::LeaseExpiry),
            Self::SuspensionTimeout => Some(Index::SuspensionTimeout),
            Self::Delayed | Self::PendingWaitpoint => None,
        }
    }

    fn fire(self, execution: &Execution, nonce: &Nonce, now: TimestampMs) -> Change {
        match self {
            Self::Deadline => execution::expire(execution, now),
            Self::AttemptTimeout => execution::time_out(execution, nonce, now),
            Self::LeaseExpiry => lease::expire(execution, now),
            Self::Delayed => execution::promote(execution, now),
            Self::SuspensionTimeout => suspension::expire(execution, now),
            Self::PendingWaitpoint => suspension::expire_pending(execution, now),
        }
    }
}

impl Execution {
    /// When this is due, if it is waited for at all.
    pub fn due_at(&self, due: Due) -> Option<TimestampMs> {
        match (due, &self.phase) {
            (_, Phase::Finished { .. }) => None,
            (Due::Deadline, _) => self.deadline_at,
            (Due::AttemptTimeout, Phase::Running { lease }) => lease.timeout_at,
            (Due::LeaseExpiry, Phase::Running { lease }) => Some(lease.until),
            (Due::Delayed, Phase::Delayed { until, .. }) => Some(*until),
            (Due::SuspensionTimeout, Phase::Suspended { suspension }) => suspension.timeout_at,
            (Due::PendingWaitpoint, _) => self.pending_waitpoints.iter().map(|pending| pending.expires_at).min(),
            _ => None,
        }
    }

    /// What this execution waits for next.
    pub fn next_due(&self) -> Option<(TimestampMs, Due)> {
        Due::ALL.iter().filter_map(|due| Some((self.due_at(*due)?, *due))).min()
    }
}

/// Fires everything of one execution that is due, earliest first.
pub fn fire(execution: &Execution, nonce: &Nonce, now: TimestampMs) -> Option<Change> {
    let mut fired: Option<Change> = None;
    // Each firing ends a lease, a delay, a suspension's timeout, a waitpoint or the execution, so this ends too; a retry
    // without backoff and without a worker has nothing due.
    loop {
        let current = fired.as_ref().map_or(execution, |change| &change.after);
        let Some((_, due)) = current.next_due().filter(|(at, _)| *at <= now) else { return fired };
        let next = due.fire(current, nonce, now);
        fired = Some(match fired {
            Some(earlier) => earlier.then(next),
            None => next,
        });
    }
}

/// What a pump did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pumped {
    /// Executions something fired for.
    pub fired: usize,
    /// When the next thing on this partition is due; in the past when there was more than one batch.
    pub next_due: Option<TimestampMs>,
}

/// Fires what is due on a partition, at most one batch of it.
pub fn pump(view: &impl View, partition: u16, nonce: &Nonce, now: TimestampMs) -> Result<(Pumped, Vec<Change>), Stop> {
    let batch = limits::PUMP_BATCH;
    let first = view.due(&DueFirst { partition, limit: batch + 1 })?;
    let ready = first.iter().take(batch).take_while(|(at, _)| *at <= now).count();
    let mut next_due = first.get(ready).map(|(at, _)| *at);
    let mut changes = Vec::new();
    for (_, id) in &first[..ready] {
        let Some(execution) = view.execution(id)? else { continue };
        let Some(change) = fire(execution, nonce, now) else { continue };
        next_due = [next_due, change.after.next_due().map(|(at, _)| at)].into_iter().flatten().min();
        changes.push(change);
    }
    Ok((Pumped { fired: changes.len(), next_due }, changes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::{Dice, SeededDice};
    use crate::execution::Outcome;
    use crate::samples::{at, running};

    fn nonce() -> Nonce {
        SeededDice::new(3).nonce()
    }

    #[test]
    fn nothing_fires_before_its_moment() {
        assert_eq!(fire(&running(), &nonce(), at(29_999)), None);
        assert!(fire(&running(), &nonce(), at(30_000)).is_some());
    }

    #[test]
    fn what_is_due_twice_fires_in_order() {
        let mut execution = running();
        execution.deadline_at = Some(at(40_000));
        let change = fire(&execution, &nonce(), at(50_000)).unwrap();
        assert_eq!(change.leases.len(), 1, "the lease expired first");
        assert!(matches!(change.after.phase, Phase::Finished { outcome: Outcome::Expired, .. }));
    }

    #[test]
    fn a_deadline_at_the_same_moment_comes_first() {
        let mut execution = running();
        execution.deadline_at = Some(at(30_000));
        assert_eq!(execution.next_due(), Some((at(30_000), Due::Deadline)));
    }
}
