//! The edges into one member, as a group: their join, their counts by outcome, and the decision of the join.

use serde::{Deserialize, Serialize};

use crate::engine_error::Refusal;
use crate::flow::EdgeState;
use crate::state::text_enum;
use crate::types::{ExecutionId, FlowId, TimestampMs};

/// How the edges into a member join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Join {
    /// Every upstream succeeds.
    #[default]
    AllOf,
    /// One upstream succeeds.
    AnyOf { on_satisfied: OnSatisfied },
    /// `k` upstreams succeed.
    Quorum { k: u32, on_satisfied: OnSatisfied },
}

text_enum! {
    /// What happens to the other upstreams when a join is satisfied.
    OnSatisfied {
        /// They are cancelled, unless another dependent needs them.
        CancelRemaining "cancel_remaining",
        /// They keep running.
        LetRun "let_run",
    }

    /// State of a join.
    GroupState {
        Pending "pending",
        Satisfied "satisfied",
        Impossible "impossible",
    }
}

/// The edges into one member. Only edges of the current round count; a holder that waits for children begins a new round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    pub flow_id: FlowId,
    pub downstream_execution_id: ExecutionId,
    pub join: Join,
    pub n: u32,
    pub succeeded: u32,
    pub failed: u32,
    pub skipped: u32,
    pub state: GroupState,
    /// Time at which the join was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fired_at: Option<TimestampMs>,
    #[serde(default)]
    pub round: u32,
    /// Whether an edge of the round passes the payload.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub passes_payload: bool,
}

impl Join {
    /// Refuses a quorum of zero.
    pub(crate) fn check(self, field: &str) -> Result<(), Refusal> {
        match self {
            Self::Quorum { k: 0, .. } => Err(Refusal::invalid(field, "must be a quorum of at least 1")),
            _ => Ok(()),
        }
    }

    /// Returns whether the join needs more upstreams than there are.
    pub(crate) fn is_short(self, n: u32) -> bool {
        self.needs(n) > n
    }

    /// Refuses a join that needs more upstreams than there are.
    pub(crate) fn check_of(self, n: u32, field: &str) -> Result<(), Refusal> {
        if self.is_short(n) {
            return Err(Refusal::invalid(
                field,
                format!("must need at most the {n} upstreams there are, needs {}", self.needs(n)),
            ));
        }
        Ok(())
    }

    /// Returns whether the remaining upstreams are cancelled once the join has fired.
    pub fn cancels_remaining(self) -> bool {
        match self {
            Self::AllOf => false,
            Self::AnyOf { on_satisfied } | Self::Quorum { on_satisfied, .. } => {
                on_satisfied == OnSatisfied::CancelRemaining
            }
        }
    }

    fn needs(self, n: u32) -> u32 {
        match self {
            Self::AllOf => n,
            Self::AnyOf { .. } => 1,
            Self::Quorum { k, .. } => k,
        }
    }
}

impl Group {
    pub(crate) fn new(flow_id: FlowId, downstream: ExecutionId, join: Join) -> Self {
        Self {
            flow_id,
            downstream_execution_id: downstream,
            join,
            n: 0,
            succeeded: 0,
            failed: 0,
            skipped: 0,
            state: GroupState::Pending,
            fired_at: None,
            round: 0,
            passes_payload: false,
        }
    }

    /// Returns the state that follows from the counts: impossible as soon as the remaining edges cannot satisfy the join.
    pub fn verdict(&self) -> GroupState {
        let needs = self.join.needs(self.n);
        if self.succeeded >= needs {
            GroupState::Satisfied
        } else if self.n - (self.failed + self.skipped) < needs {
            GroupState::Impossible
        } else {
            GroupState::Pending
        }
    }

    /// Sets the state to the verdict of the counts, and records the time of a decision.
    pub(crate) fn evaluate(&mut self, now: TimestampMs) {
        let verdict = self.verdict();
        if verdict != self.state {
            self.state = verdict;
            self.fired_at = (verdict != GroupState::Pending).then_some(now);
        }
    }

    /// Moves an edge from one state to another in the counts.
    pub(crate) fn recount(&mut self, from: EdgeState, to: EdgeState) {
        if let Some(count) = self.count_of(from) {
            *count -= 1;
        }
        if let Some(count) = self.count_of(to) {
            *count += 1;
        }
    }

    fn count_of(&mut self, state: EdgeState) -> Option<&mut u32> {
        match state {
            EdgeState::Pending => None,
            EdgeState::Satisfied => Some(&mut self.succeeded),
            EdgeState::Failed => Some(&mut self.failed),
            EdgeState::Skipped => Some(&mut self.skipped),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn group(join: Join, n: u32, succeeded: u32, failed: u32) -> GroupState {
        let id = ExecutionId::new(0, Uuid::nil());
        Group { n, succeeded, failed, ..Group::new(FlowId::from_uuid(Uuid::nil()), id, join) }.verdict()
    }

    #[test]
    fn a_join_is_decided_as_soon_as_the_numbers_say_so() {
        let (any, quorum) = (
            Join::AnyOf { on_satisfied: OnSatisfied::LetRun },
            Join::Quorum { k: 2, on_satisfied: OnSatisfied::CancelRemaining },
        );
        use GroupState::{Impossible, Pending, Satisfied};
        for (join, n, succeeded, failed, expected) in [
            (Join::AllOf, 3, 2, 0, Pending),
            (Join::AllOf, 3, 3, 0, Satisfied),
            (Join::AllOf, 3, 0, 1, Impossible),
            (any, 3, 0, 2, Pending),
            (any, 3, 1, 0, Satisfied),
            (any, 3, 0, 3, Impossible),
            (quorum, 3, 1, 1, Pending),
            (quorum, 3, 2, 1, Satisfied),
            (quorum, 3, 0, 2, Impossible),
            (quorum, 3, 1, 2, Impossible),
        ] {
            assert_eq!(group(join, n, succeeded, failed), expected, "{join:?} {n} {succeeded} {failed}");
        }
    }

    #[test]
    fn a_quorum_of_more_than_there_are_is_refused() {
        let quorum = |k| Join::Quorum { k, on_satisfied: OnSatisfied::LetRun };
        assert!(quorum(0).check("join").is_err());
        assert_eq!((quorum(3).check_of(3, "join"), quorum(1).check("join")), (Ok(()), Ok(())));
        assert!(quorum(4).check_of(3, "join").is_err());
    }
}
