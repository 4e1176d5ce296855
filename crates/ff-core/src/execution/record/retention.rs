//! Retention: how long a finished execution is kept, with all of its records.

use crate::execution::{Execution, Phase};
use crate::limits;
use crate::types::TimestampMs;

impl Execution {
    /// Returns when a finished execution is deleted. A member of a flow is deleted with its flow.
    ///
    /// An execution stays at least as long as its idempotency key is remembered: the key must find its execution.
    pub fn forget_at(&self) -> Option<TimestampMs> {
        let Phase::Finished { at, .. } = self.phase else { return None };
        if self.membership.is_some() {
            return None;
        }
        let remembered = self.idempotency_key.as_ref().map(|_| self.created_at + self.policy.dedup_window_ms);
        Some(remembered.map_or(at + self.retention_ms(), |until| until.max(at + self.retention_ms())))
    }

    /// Returns how long it is kept after its end: the retention of its policy, else of its lane at submission, else the
    /// default.
    pub fn retention_ms(&self) -> u64 {
        self.policy.retention_ms.or(self.lane_retention_ms).unwrap_or(limits::RETENTION_MS)
    }

    /// Returns approximately how many records are deleted with it. The sum bounds a deletion step.
    pub(crate) fn records(&self) -> usize {
        1 + self.attempts_made as usize + self.signals_taken as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::contracts::CancelArgs;
    use crate::rule::fixture::ExecutionFixture;
    use crate::rule::samples::{at, waiting, work};
    use crate::types::IdempotencyKey;

    fn finished(change: impl FnOnce(&mut Execution)) -> Execution {
        let mut execution = waiting();
        change(&mut execution);
        let args = CancelArgs { execution_id: execution.id, reason: None, requested_by: None };
        crate::execution::cancel(&execution, &args, at(5)).unwrap().after
    }

    #[test]
    fn retention_follows_the_policy_then_the_lane_then_the_default() {
        assert_eq!(waiting().forget_at(), None, "what lives is kept");
        assert_eq!(finished(|_| {}).forget_at(), Some(at(5) + limits::RETENTION_MS));
        assert_eq!(finished(|e| e.lane_retention_ms = Some(100)).forget_at(), Some(at(105)));
        let both = finished(|e| (e.lane_retention_ms, e.policy.retention_ms) = (Some(100), Some(7)));
        assert_eq!(both.forget_at(), Some(at(12)));
    }

    #[test]
    fn a_key_finds_what_it_stands_for_as_long_as_it_is_remembered() {
        let keyed = finished(|execution| {
            execution.policy.retention_ms = Some(0);
            execution.idempotency_key = Some(IdempotencyKey::parse("once").unwrap());
        });
        assert_eq!(keyed.forget_at(), Some(at(limits::DEDUP_WINDOW_MS)));
    }

    #[test]
    fn everything_of_an_execution_goes_with_it() {
        let mut args = work();
        args.policy.retention_ms = Some(1_000);
        args.idempotency_key = Some(IdempotencyKey::parse("once").unwrap());
        args.policy.dedup_window_ms = 1_000;
        let mut fixture = ExecutionFixture::with(&args, at(0));
        let ahead = fixture.pending("ahead");
        fixture.ask(ahead, at(1)).unwrap();
        let granted = fixture.suspend("a", at(2)).waitpoints.remove(0);
        let mut signal = fixture.signal(&granted, "go");
        signal.idempotency_key = crate::rule::fixture::idempotency("again");
        fixture.ask(signal, at(3)).unwrap();
        fixture.ask(CancelArgs { execution_id: fixture.id, reason: None, requested_by: None }, at(4)).unwrap();
        assert_eq!(fixture.pump(at(1_003)).next_due, Some(at(1_004)));
        assert_eq!(fixture.pump(at(1_004)).fired, 1);
        let left = fixture.model.snapshot(fixture.id.partition());
        let empty = crate::backend::snapshot::Snapshot {
            ring: left.ring.clone(),
            deliveries: left.deliveries.clone(),
            ..Default::default()
        };
        assert_eq!(left, empty);
    }

    #[test]
    fn a_replay_is_kept_until_it_has_ended_again() {
        let mut args = work();
        args.policy.retention_ms = Some(1_000);
        let mut fixture = ExecutionFixture::with(&args, at(0));
        let cancel = CancelArgs { execution_id: fixture.id, reason: None, requested_by: None };
        fixture.ask(cancel, at(4)).unwrap();
        let execution_id = fixture.id;
        let replay = crate::execution::contracts::ReplayArgs {
            reopen_downstream: false,
            ..crate::execution::contracts::ReplayArgs::new(execution_id)
        };
        fixture.ask(replay, at(1_003)).unwrap();
        fixture.pump(at(9_000));
        assert_eq!(fixture.state(), "waiting");
    }
}
