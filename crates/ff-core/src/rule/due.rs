//! Due work: all timers of an execution, in one table.

use crate::backend::entropy::Nonce;
use crate::engine_error::Refusal;
use crate::execution::{self, Blocker, Execution, Phase};
use crate::flow::{Step, StepOutcome};
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, check_partition};
use crate::rule::change::Change;
use crate::rule::view::{DueQuery, Miss, Stop, View, require_all};
use crate::types::TimestampMs;
use crate::{lease, limits, suspension};

/// A timer of an execution. Of two timers that are due at the same time, the one listed first fires first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Due {
    Deadline,
    SuspensionTimeout,
    AttemptTimeout,
    LeaseExpiry,
    Delayed,
    /// An execution blocked by admission is unblocked and checked again.
    Unblock,
    PendingWaitpoint,
    /// Dependents must still be notified of the execution's end.
    Dependents,
    /// Some of the other upstreams of a join have not been visited yet.
    Siblings,
    /// The retention time of the finished execution is over.
    Retention,
}

impl Due {
    pub const ALL: &[Due] = &[
        Due::Deadline,
        Due::SuspensionTimeout,
        Due::AttemptTimeout,
        Due::LeaseExpiry,
        Due::Delayed,
        Due::Unblock,
        Due::PendingWaitpoint,
        Due::Dependents,
        Due::Siblings,
        Due::Retention,
    ];

    /// The timers that change the execution itself when they fire.
    const MOMENTS: &[Due] = Self::ALL.split_at(7).0;

    fn fire(self, execution: &Execution, nonce: &Nonce, now: TimestampMs) -> Option<Change> {
        match self {
            Self::Deadline => Some(execution::expire(execution, now)),
            Self::AttemptTimeout => Some(execution::time_out(execution, nonce, now)),
            Self::LeaseExpiry => Some(lease::expire(execution, now)),
            Self::Delayed => Some(execution::promote(execution, now)),
            Self::Unblock => Some(execution::unblock(execution, now)),
            Self::SuspensionTimeout => Some(suspension::expire(execution, now)),
            Self::PendingWaitpoint => Some(suspension::expire_pending(execution, now)),
            Self::Dependents | Self::Siblings | Self::Retention => None,
        }
    }
}

impl Execution {
    /// Returns when a timer of this execution is due, or `None` when the timer is not set.
    pub fn due_at(&self, due: Due) -> Option<TimestampMs> {
        let membership = self.membership.as_ref();
        match (due, &self.phase) {
            (_, Phase::Blocked { on: Blocker::Staging, .. }) => None,
            (Due::Dependents, _) => membership?.pending_propagation.map(|propagation| propagation.since),
            (Due::Siblings, _) => membership?.siblings.map(|siblings| siblings.since),
            (Due::Retention, _) => self.forget_at(),
            (_, Phase::Finished { .. }) => None,
            (Due::Deadline, _) => self.deadline_at,
            (Due::AttemptTimeout, Phase::Running { lease }) => lease.timeout_at,
            (Due::LeaseExpiry, Phase::Running { lease }) => Some(lease.until),
            (Due::Delayed, Phase::Delayed { until, .. }) => Some(*until),
            (Due::Unblock, Phase::Blocked { on, until }) if on.is_admission() => *until,
            (Due::SuspensionTimeout, Phase::Suspended { suspension }) => suspension.timeout_at,
            (Due::PendingWaitpoint, _) => self.pending_waitpoints.iter().map(|pending| pending.expires_at).min(),
            _ => None,
        }
    }

    /// Returns the timer of this execution that is due first.
    pub fn next_due(&self) -> Option<(TimestampMs, Due)> {
        self.first_of(Due::ALL)
    }

    fn first_of(&self, several: &[Due]) -> Option<(TimestampMs, Due)> {
        several.iter().filter_map(|due| Some((self.due_at(*due)?, *due))).min()
    }
}

/// Fires the due timers of one execution, earliest first. Pending work in its flow and retention are left to the pump.
pub fn fire(execution: &Execution, nonce: &Nonce, now: TimestampMs) -> Option<Change> {
    fire_counting(execution, nonce, now, &mut ExpiryCounts::default())
}

/// Fires the due timers of one execution, and counts expired leases, attempts and deadlines in `lapsed`.
fn fire_counting(execution: &Execution, nonce: &Nonce, now: TimestampMs, lapsed: &mut ExpiryCounts) -> Option<Change> {
    let mut fired: Option<Change> = None;
    // Each firing ends a lease, a delay, a block, a suspension's timeout, a waitpoint or the execution, so the loop
    // terminates. A retry without backoff that no worker has claimed has no due timer.
    loop {
        let current = fired.as_ref().map_or(execution, |change| &change.after);
        let next = current.first_of(Due::MOMENTS).filter(|(at, _)| *at <= now);
        let next = next.and_then(|(_, due)| Some((due, due.fire(current, nonce, now)?)));
        let Some((due, next)) = next else { return fired };
        lapsed.note(due);
        fired = Some(match fired {
            Some(earlier) => earlier.then(next),
            None => next,
        });
    }
}

/// A request to fire everything that is due on a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PumpArgs {
    pub partition: u16,
}

/// The result of a pump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PumpedPartition {
    /// Number of executions and flows for which a timer fired or pending work was done.
    pub fired: usize,
    /// Number of leases, attempts and deadlines that expired.
    pub lapsed: ExpiryCounts,
    /// Time at which the next work of this partition is due. It is in the past when more than one batch was due.
    pub next_due: Option<TimestampMs>,
}

/// Number of leases, attempts and deadlines that expired in a pump, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpiryCounts {
    /// Leases that were not renewed in time.
    pub leases: usize,
    /// Attempts that exceeded their timeout.
    pub attempts: usize,
    /// Executions whose deadline passed.
    pub deadlines: usize,
}

impl ExpiryCounts {
    fn note(&mut self, due: Due) {
        match due {
            Due::LeaseExpiry => self.leases += 1,
            Due::AttemptTimeout => self.attempts += 1,
            Due::Deadline => self.deadlines += 1,
            _ => {}
        }
    }
}

impl Command for PumpArgs {
    type Reply = PumpedPartition;
    const SETTLES_FLOWS: bool = true;

    fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        check_partition(self.partition, partitions)
    }

    fn partition(&self, _: &PartitionConfig) -> u16 {
        self.partition
    }

    /// Fires due executions and flows of a partition, at most one batch, and does one step of pending flow work.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<PumpedPartition>, Stop> {
        let now = at.now;
        let batch = limits::PUMP_BATCH;
        let query = DueQuery { partition: self.partition, limit: batch + 1 };
        require_all([view.due(&query).map(drop), view.due_flows(&query).map(drop)])?;
        let (first, flows) = (view.due(&query)?, view.due_flows(&query)?);
        let ready = |at: &TimestampMs| *at <= now;
        let due = first.iter().take(batch).take_while(|(at, _)| ready(at)).count();
        let due_flows = flows.iter().take(batch).take_while(|(at, _)| ready(at)).count();
        require_all(first[..due].iter().map(|(_, id)| view.execution(id)))?;
        let mut step = Step::new(view, now);
        let (mut fired, mut forgotten, mut records, mut lapsed) = (0, Vec::new(), 0, ExpiryCounts::default());
        for (_, id) in &first[..due] {
            let Some(execution) = view.execution(id)? else { continue };
            if execution.forget_at().is_some_and(|at| at <= now) {
                records += execution.records();
                if records > limits::FORGET && !forgotten.is_empty() {
                    continue;
                }
                fired += 1;
                forgotten.push(*id);
                continue;
            }
            fired += 1;
            step.schedule_pending(execution);
            if let Some(change) = fire_counting(execution, &at.nonce, now, &mut lapsed) {
                step.write(change)?;
            }
        }
        for (_, id) in &flows[..due_flows] {
            fired += 1;
            step.member_sweep(id)?;
        }
        let settled = StepOutcome { forgotten, ..step.run()? };
        let left = next_unprocessed(query, |query| view.due(query), |id| settled.is_touched(id))?;
        let left_flow = next_unprocessed(query, |query| view.due_flows(query), |id| settled.flow(id).is_some())?;
        let next_due = settled.next_due().into_iter().chain(left).chain(left_flow).min();
        Ok(Decision::settled(PumpedPartition { fired, lapsed, next_due }, settled))
    }
}

/// Returns the due time of the first entry that a step did not process. It is in the past if the step reached its limit.
fn next_unprocessed<I>(
    mut query: DueQuery,
    ask: impl Fn(&DueQuery) -> Result<Vec<(TimestampMs, I)>, Miss>,
    is_touched: impl Fn(&I) -> bool,
) -> Result<Option<TimestampMs>, Stop> {
    loop {
        let first = ask(&query)?;
        let left = first.iter().find(|(_, id)| !is_touched(id)).map(|(at, _)| *at);
        if left.is_some() || first.len() < query.limit {
            return Ok(left);
        }
        query.limit *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::entropy::{Entropy, SeededEntropy};
    use crate::execution::Outcome;
    use crate::rule::samples::{at, running};

    fn nonce() -> Nonce {
        SeededEntropy::new(3).nonce()
    }

    #[test]
    fn nothing_fires_before_its_due_time() {
        assert_eq!(fire(&running(), &nonce(), at(29_999)), None);
        assert!(fire(&running(), &nonce(), at(30_000)).is_some());
    }

    #[test]
    fn two_due_times_of_an_execution_fire_in_order() {
        let mut execution = running();
        execution.deadline_at = Some(at(40_000));
        let change = fire(&execution, &nonce(), at(50_000)).unwrap();
        assert_eq!(change.leases.len(), 1, "the lease expired first");
        assert!(matches!(change.after.phase, Phase::Finished { outcome: Outcome::Expired, .. }));
    }

    #[test]
    fn every_fired_expiry_is_counted() {
        let mut execution = running();
        execution.deadline_at = Some(at(40_000));
        let mut lapsed = ExpiryCounts::default();
        fire_counting(&execution, &nonce(), at(29_999), &mut lapsed);
        assert_eq!(lapsed, ExpiryCounts::default());
        fire_counting(&execution, &nonce(), at(50_000), &mut lapsed);
        assert_eq!(lapsed, ExpiryCounts { leases: 1, attempts: 0, deadlines: 1 });
    }

    #[test]
    fn a_deadline_precedes_a_lease_expiry_at_the_same_time() {
        let mut execution = running();
        execution.deadline_at = Some(at(30_000));
        assert_eq!(execution.next_due(), Some((at(30_000), Due::Deadline)));
    }
}
