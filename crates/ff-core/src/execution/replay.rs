//! Replaying: a finished execution is run again under its own id.

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal};
use crate::event::{Event, EventKind};
use crate::execution::{AttemptSlot, Execution, Origin, Phase};
use crate::operation::command::{Conditions, Decision, ExecutionCommand, check_message, found};
use crate::rule::change::{Change, Write};
use crate::rule::view::{Stop, View};
use crate::state::PublicState;
use crate::step::{self, ForgottenSteps, StepPoint, StepsWrite};
use crate::types::{ExecutionId, TimestampMs};
use crate::{flow, lane, singleton};

/// Runs a finished execution again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayArgs {
    pub execution_id: ExecutionId,
    pub reason: Option<String>,
    pub requested_by: Option<String>,
    /// Whether its finished dependents in its flow run again after it.
    pub reopen_downstream: bool,
    /// The first recorded step to run again, with all steps recorded after it.
    pub from_step: Option<StepPoint>,
}

impl ReplayArgs {
    /// Replays this execution from its beginning, without its dependents.
    pub fn new(execution_id: ExecutionId) -> Self {
        Self { execution_id, reason: None, requested_by: None, reopen_downstream: false, from_step: None }
    }
}

/// The execution runs again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReplayedExecution {
    pub public_state: PublicState,
    /// Number of replays, including this one.
    pub replays: u32,
}

impl ExecutionCommand for ReplayArgs {
    type Reply = ReplayedExecution;
    const SETTLES_FLOWS: bool = true;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        check_message("reason", self.reason.as_deref())?;
        check_message("requested_by", self.requested_by.as_deref())
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<ReplayedExecution>, Stop> {
        let before = found(view, &self.execution_id)?;
        let mut change = replay(before, self, at.now)?;
        step::forget_for_replay(view, before, self.from_step.as_ref(), &mut change)?;
        let mut settled = flow::replay(view, before, change, self.reopen_downstream, at.now)?;
        lane::admit(view, before.id.partition(), (&before.namespace, &before.lane), || "execution_id".into())?;
        let key_queues = singleton::follow(view, &mut settled.changes, at.now)?;
        let after = settled.after(&self.execution_id).ok_or(Code::InvariantViolation)?;
        let replayed = ReplayedExecution { public_state: after.public_state(), replays: after.replays };
        Ok(Decision { key_queues, ..Decision::settled(replayed, settled) })
    }
}

/// Resets a finished execution: it counts as not started, retries start at zero, result and failure are cleared, and the
/// deadline is set again. The next attempt records the previous attempt and the reason for the replay.
fn replay(execution: &Execution, args: &ReplayArgs, now: TimestampMs) -> Result<Change, Refusal> {
    if !execution.is_finished() {
        return Err(execution.refused_as(Code::ExecutionNotTerminal));
    }
    if execution.replays >= execution.policy.max_replay_count {
        let allowed = execution.policy.max_replay_count as usize;
        return Err(Refusal::over_limit(Code::MaxReplaysExhausted, "replays", allowed, allowed + 1));
    }
    let origin = Origin::Replay {
        of: execution.last_attempt(),
        reason: args.reason.clone(),
        requested_by: args.requested_by.clone(),
    };
    Ok(execution.reset_for_replay(origin, now))
}

impl Execution {
    /// Resets the execution under the same id, without its recorded steps and without an operator's hold.
    pub(crate) fn reset_for_replay(&self, origin: Origin, now: TimestampMs) -> Change {
        let mut change = self.enter(Phase::Waiting, now);
        let after = &mut change.after;
        after.hold = None;
        after.replays += 1;
        after.started_at = None;
        after.retries = 0;
        after.reclaims = 0;
        after.progress = None;
        after.failure = None;
        after.last_suspension.iter_mut().for_each(|past| past.forget());
        after.deadline_at = self.policy.timeout_policy.execution_deadline_ms.map(|ms| now + ms);
        after.attempt = AttemptSlot::Next(origin);
        if change.after.steps.take().is_some() {
            change.steps = Some(Box::new(StepsWrite { forgotten: ForgottenSteps::All, ..StepsWrite::default() }));
        }
        change.result = Write::Remove;
        change.events.push(Event::new(&self.id, now, EventKind::Replayed));
        change
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::cancel;
    use crate::execution::contracts::CancelArgs;
    use crate::rule::fixture::ExecutionFixture;
    use crate::rule::samples::{at, running};

    fn args() -> ReplayArgs {
        ReplayArgs {
            execution_id: running().id,
            reason: Some("fixed".into()),
            requested_by: Some("ops".into()),
            reopen_downstream: false,
            from_step: None,
        }
    }

    fn finished() -> Execution {
        let args = CancelArgs { execution_id: running().id, reason: None, requested_by: None };
        cancel(&running(), &args, at(5)).unwrap().after
    }

    #[test]
    fn a_replay_remembers_where_it_came_from() {
        let change = replay(&finished(), &args(), at(9)).unwrap();
        let AttemptSlot::Next(Origin::Replay { of, reason, requested_by }) = change.after.attempt else {
            panic!("not a replay")
        };
        assert_eq!(of.unwrap().0, 0);
        assert_eq!((reason.as_deref(), requested_by.as_deref()), (Some("fixed"), Some("ops")));
        assert_eq!(change.result, Write::Remove);
    }

    #[test]
    fn how_long_a_run_took_is_measured_from_its_own_start() {
        assert!(finished().started_at.is_some());
        assert_eq!(replay(&finished(), &args(), at(9)).unwrap().after.started_at, None);
    }

    #[test]
    fn a_deadline_is_armed_again() {
        let mut before = finished();
        before.policy.timeout_policy.execution_deadline_ms = Some(1_000);
        assert_eq!(replay(&before, &args(), at(9)).unwrap().after.deadline_at, Some(at(1_009)));
    }

    #[test]
    fn a_new_life_is_not_handed_what_an_earlier_one_waited_for() {
        let mut fixture = ExecutionFixture::running(at(0));
        let suspension = fixture.suspension("a");
        let first = fixture.ask(suspension.clone(), at(1)).unwrap();
        fixture.deliver(&first.waitpoints[0], "go", at(2));
        fixture.ask(CancelArgs { execution_id: fixture.id, reason: None, requested_by: None }, at(3)).unwrap();
        fixture.ask(ReplayArgs { execution_id: fixture.id, ..args() }, at(4)).unwrap();
        assert_eq!(fixture.ask(suspension, at(5)), Ok(first), "a lost reply is still found");
        assert_eq!(fixture.claim(at(6)).resumption, None);
    }

    #[test]
    fn replays_are_bounded() {
        let mut before = finished();
        before.replays = 9;
        assert!(replay(&before, &args(), at(9)).is_ok());
        before.replays = 10;
        assert_eq!(replay(&before, &args(), at(9)).unwrap_err().code, Code::MaxReplaysExhausted);
    }

    #[test]
    fn an_unfinished_execution_cannot_be_replayed() {
        assert_eq!(replay(&running(), &args(), at(9)).unwrap_err().code, Code::ExecutionNotTerminal);
    }
}
