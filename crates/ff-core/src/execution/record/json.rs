//! Executions as JSON: the state and the definition are separate documents.

use serde::{Deserialize, Serialize};

use crate::execution::{
    Attempt, AttemptEnd, AttemptOutcome, AttemptSlot, Execution, ExecutionDefinition, Origin, Outcome, Phase,
};
use crate::lease::Holder;
use crate::types::AttemptIndex;

/// The stored fields of an attempt whose other fields follow from the record of its execution.
#[derive(Serialize, Deserialize)]
struct ShortAttempt {
    #[serde(flatten)]
    holder: Holder,
    ran_ms: u64,
}

/// A stored attempt, complete or shortened. It is stored separately from the record of its execution.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenAttempt {
    Whole(Attempt),
    Short(ShortAttempt),
}

impl ExecutionDefinition {
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

impl Execution {
    /// Returns the state as JSON, without the definition, which is stored separately.
    pub fn to_json(&self) -> serde_json::Result<String> {
        if self.attempt == self.usual_attempt() {
            let short = Self { attempt: AttemptSlot::default(), ..self.clone() };
            return serde_json::to_string(&short);
        }
        serde_json::to_string(self)
    }

    /// Reads an execution from the JSON of its state and of its definition.
    pub fn from_json(state: &str, definition: &str) -> serde_json::Result<Self> {
        let open = state.trim_end().strip_suffix('}').unwrap_or(state);
        let mut execution: Self = serde_json::from_str(&format!("{open},\"definition\":{definition}}}"))?;
        if execution.attempt.is_initial() {
            execution.attempt = execution.usual_attempt();
        }
        Ok(execution)
    }

    /// Returns the attempt of most executions in this phase. It follows from the rest of the record and is not written.
    fn usual_attempt(&self) -> AttemptSlot {
        match &self.phase {
            Phase::Running { lease } => AttemptSlot::Open(Attempt {
                index: self.current_index(),
                id: lease.fence.attempt_id,
                origin: Origin::Initial,
                started_at: lease.acquired_at,
                holder: lease.holder.clone(),
                lease_epoch: lease.fence.lease_epoch,
                ran_ms: 0,
                end: None,
            }),
            Phase::Finished { .. } => {
                AttemptSlot::Next(Origin::Replay { of: self.last_attempt(), reason: None, requested_by: None })
            }
            _ => AttemptSlot::default(),
        }
    }

    /// Returns the last attempt of a finished execution as JSON. If the other fields follow from the record, only the
    /// worker and the run time are written.
    pub fn last_attempt_to_json(&self, attempt: &Attempt) -> serde_json::Result<String> {
        let short = ShortAttempt { holder: attempt.holder.clone(), ran_ms: attempt.ran_ms };
        match self.usual_last_attempt(&short) {
            Some(usual) if usual == *attempt => serde_json::to_string(&short),
            _ => serde_json::to_string(attempt),
        }
    }

    /// Reads the last attempt of a finished execution.
    pub fn last_attempt_from_json(&self, attempt: &str) -> serde_json::Result<Attempt> {
        let lost = || serde::de::Error::custom("the execution has no attempt that succeeded");
        match serde_json::from_str(attempt)? {
            WrittenAttempt::Whole(attempt) => Ok(attempt),
            WrittenAttempt::Short(short) => self.usual_last_attempt(&short).ok_or_else(lost),
        }
    }

    /// Returns the attempt of an execution that succeeded at its first attempt, from its record and the stored fields.
    fn usual_last_attempt(&self, short: &ShortAttempt) -> Option<Attempt> {
        let Phase::Finished { outcome: Outcome::Success, at, .. } = self.phase else { return None };
        let fence = self.last_lease.as_ref()?.fence;
        Some(Attempt {
            index: AttemptIndex(0),
            id: fence.attempt_id,
            origin: Origin::Initial,
            started_at: self.started_at?,
            holder: short.holder.clone(),
            lease_epoch: fence.lease_epoch,
            ran_ms: short.ran_ms,
            end: Some(AttemptEnd { at, outcome: AttemptOutcome::Success, failure: None }),
        })
    }

    #[cfg(test)]
    pub(crate) fn written_and_read(&self) -> Self {
        Self::from_json(&self.to_json().unwrap(), &self.definition.to_json().unwrap()).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::complete::complete;
    use crate::execution::contracts::{CancelArgs, CompleteArgs};
    use crate::execution::{Progress, cancel};
    use crate::lease::expire;
    use crate::rule::fixture::ExecutionFixture;
    use crate::rule::samples::{at, running, waiting};
    use crate::types::{IdempotencyKey, LaneId, Namespace};

    #[test]
    fn the_attempt_of_a_first_lease_is_not_written_twice() {
        let held_first = running();
        let resumed = {
            let AttemptSlot::Open(attempt) = &held_first.attempt else { panic!("{held_first:?}") };
            Execution { attempt: AttemptSlot::Open(Attempt { ran_ms: 7, ..attempt.clone() }), ..held_first.clone() }
        };
        for (execution, is_written) in [(&held_first, false), (&resumed, true)] {
            let state = execution.to_json().unwrap();
            assert_eq!(state.contains("\"attempt\""), is_written, "{state}");
        }
    }

    #[test]
    fn of_a_first_attempt_that_succeeded_only_the_worker_is_written() {
        let held = running();
        let Phase::Running { lease } = &held.phase else { panic!("{held:?}") };
        let args = CompleteArgs { execution_id: held.id, fence: lease.fence, result: None };
        let change = complete(&held, &args, at(70)).unwrap();
        let (finished, attempt) = (change.after, change.attempts.into_iter().next().unwrap());
        let retried =
            Attempt { index: AttemptIndex(1), origin: Origin::Retry { of: AttemptIndex(0) }, ..attempt.clone() };
        for (attempt, is_short) in [(attempt, true), (retried, false)] {
            let written = finished.last_attempt_to_json(&attempt).unwrap();
            assert_eq!(!written.contains("\"id\""), is_short, "{written}");
            assert_eq!(finished.last_attempt_from_json(&written).unwrap(), attempt);
        }
        let short = r#"{"worker_id":"w","worker_instance_id":"w-1","ran_ms":0}"#;
        assert!(held.last_attempt_from_json(short).is_err(), "it has not finished");
    }

    #[test]
    fn a_record_survives_being_written_and_read() {
        let mut full = running();
        full.deadline_at = Some(at(9));
        full.policy.max_replay_count = 3;
        full.idempotency_key = Some(IdempotencyKey::parse("k").unwrap());
        full.progress = Some(Progress { percent: Some(5), message: None, at: at(3) });
        let args = CancelArgs { execution_id: full.id, reason: Some("r".into()), requested_by: None };
        let finished = cancel(&full, &args, at(5)).unwrap().after;
        let mut fixture = ExecutionFixture::running(at(0));
        let ahead = fixture.pending("ahead");
        fixture.ask(ahead, at(1)).unwrap();
        let granted = fixture.suspend("a", at(2)).waitpoints.remove(0);
        let suspended = fixture.execution().clone();
        fixture.deliver(&granted, "go", at(3));
        let resumed = fixture.execution().clone();
        let mut elsewhere = waiting();
        elsewhere.namespace = Namespace::parse("acme").unwrap();
        elsewhere.lane = LaneId::parse("mail").unwrap();
        (elsewhere.attempts_made, elsewhere.retries, elsewhere.reclaims, elsewhere.replays) = (4, 1, 2, 3);
        for execution in
            [waiting(), elsewhere, full, finished, suspended, resumed, expire(&running(), at(30_000)).after]
        {
            assert_eq!(execution.written_and_read(), execution);
        }
    }
}
