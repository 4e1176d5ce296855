//! Notifying the dependents of one execution by its id: finishes a pending propagation, or repairs its edges.

use serde::{Deserialize, Serialize};

use super::{PendingPropagation, Propagation, Step, StepOutcome};
use crate::engine_error::Code;
use crate::operation::command::{Conditions, Decision, ExecutionCommand, found};
use crate::rule::view::{Stop, View};
use crate::types::{ExecutionId, TimestampMs};

/// A request to notify the dependents of an execution that ended, within the bounds of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CascadeArgs {
    pub execution_id: ExecutionId,
    /// The time since which the end is pending. Nothing is done if no end is pending since exactly this time. When
    /// absent, any pending propagation is continued; if none is pending, every edge is checked.
    pub pending_since: Option<TimestampMs>,
}

/// Result of the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CascadeStep {
    /// Edges that were resolved.
    pub resolved: u32,
    /// Executions that were skipped, or cancelled because no dependent needs them any more.
    pub cascaded_children: u32,
    /// True when dependents remain to be notified.
    pub more: bool,
}

impl ExecutionCommand for CascadeArgs {
    type Reply = CascadeStep;
    const SETTLES_FLOWS: bool = true;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    /// Settles the edges of an execution that has ended, within the bounds of one step. Writes nothing if one step can
    /// check all edges and all are settled already.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<CascadeStep>, Stop> {
        let now = at.now;
        let id = self.execution_id;
        let execution = found(view, &id)?;
        let Some(membership) = execution.membership.as_ref().filter(|membership| membership.dependents > 0) else {
            return Ok(Decision::of(CascadeStep::default(), None));
        };
        let is_pending = |since| {
            membership
                .pending_propagation
                .is_some_and(|propagation| propagation.what == Propagation::End && propagation.since == since)
        };
        if self.pending_since.is_some_and(|since| !is_pending(since)) {
            return Ok(Decision::of(CascadeStep::default(), None));
        }
        let mut step = Step::new(view, now);
        if membership.pending_propagation.is_none() {
            if !execution.is_finished() {
                return Err(execution.refused_as(Code::ExecutionNotTerminal).into());
            }
            let propagation = PendingPropagation { since: now, what: Propagation::End, after: None };
            step.amend(&id, |membership| membership.pending_propagation = Some(propagation))?;
            step.schedule_pending_of(&id)?;
        } else {
            step.schedule_pending(execution);
        }
        let settled = step.run()?;
        let pending = settled.after(&id).and_then(|after| after.membership.as_ref());
        let more = pending.is_some_and(|m| m.pending_propagation.is_some());
        let cascaded = CascadeStep { resolved: settled.resolved, cascaded_children: settled.cascaded, more };
        let nothing = cascaded == CascadeStep::default() && membership.pending_propagation.is_none();
        Ok(Decision::settled(cascaded, if nothing { StepOutcome::default() } else { settled }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::fixture::FlowFixture;
    use crate::limits;

    #[test]
    fn there_is_nothing_left_to_tell_when_all_is_well() {
        let mut flow = FlowFixture::of("a>b");
        flow.start();
        let args = CascadeArgs { execution_id: flow.member("a"), pending_since: None };
        assert_eq!(flow.refused(args).code, Code::ExecutionNotTerminal);
        flow.complete("a");
        assert_eq!(flow.ask(args), Ok(CascadeStep::default()));
        let leaf = CascadeArgs { execution_id: flow.member("b"), pending_since: None };
        assert_eq!(flow.ask(leaf), Ok(CascadeStep::default()));
    }

    #[test]
    fn pending_notifications_are_sent_in_steps() {
        let step = u32::try_from(limits::FLOW_STEP).unwrap();
        let edges: Vec<_> = (0..2 * step + 9).map(|n| format!("a>n{n}")).collect();
        let mut flow = FlowFixture::of(&edges.join(" "));
        flow.drain();
        flow.start();
        flow.fail("a");
        let args = CascadeArgs { execution_id: flow.member("a"), pending_since: None };
        let second = flow.ask(args).unwrap();
        assert_eq!(second, CascadeStep { resolved: step, cascaded_children: step, more: true });
        let third = flow.ask(args).unwrap();
        assert_eq!(third, CascadeStep { resolved: 9, cascaded_children: 9, more: false });
        assert_eq!(flow.flow_state(), "failed");
    }

    #[test]
    fn a_settled_end_is_not_propagated_again() {
        let edges: Vec<_> = (0..limits::FLOW_STEP + 9).map(|n| format!("a>n{n}")).collect();
        let mut flow = FlowFixture::of(&edges.join(" "));
        flow.drain();
        flow.start();
        flow.complete("a");
        let since = flow.execution("a").membership.as_ref().unwrap().pending_propagation.unwrap().since;
        let of = |since| CascadeArgs { execution_id: flow.member("a"), pending_since: Some(since) };
        let (this, another) = (of(since), of(since + 1));
        assert_eq!(flow.ask(another), Ok(CascadeStep::default()));
        assert_eq!(flow.ask(this).map(|reply| (reply.resolved, reply.more)), Ok((9, false)));
        assert_eq!(flow.ask(this), Ok(CascadeStep::default()));
        assert!(flow.execution("a").membership.as_ref().unwrap().pending_propagation.is_none());
    }
}
