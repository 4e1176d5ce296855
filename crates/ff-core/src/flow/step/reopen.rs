//! Reopening: the edges out of a replayed member become pending again, and its finished dependents may run again.

use crate::execution::{Blocker, Execution, Origin, Phase};
use crate::flow::step::{Step, Work};
use crate::flow::{Edge, EdgeState, Group, Join, PassMode, PendingPropagation, Propagation};
use crate::rule::change::Change;
use crate::rule::view::Stop;

impl Step<'_> {
    /// Makes an edge pending, because its upstream runs again. A finished dependent runs again as well, if `reopen` is
    /// set and its policy allows another replay. A dependent that has started is left alone.
    pub(in crate::flow) fn unsettle(&mut self, mut edge: Edge, reopen: bool) -> Result<(), Stop> {
        let id = edge.downstream_execution_id;
        let Some(mut group) = self.group(&id)? else { return Ok(()) };
        if edge.round == group.round {
            group.recount(edge.state, EdgeState::Pending);
        }
        self.withdraw(&mut edge)?;
        let Some(child) = self.execution(&id)?.cloned() else { return Ok(()) };
        let again = reopen && child.is_finished() && child.replays < child.policy.max_replay_count;
        if again && group.round > 0 {
            group.begin_round();
        }
        let blocked = again || matches!(child.phase, Phase::Blocked { on, .. } if !on.is_admission());
        if blocked && edge.round != group.round {
            edge.round = group.round;
            group.n += 1;
            group.passes_payload |= edge.passes == Some(PassMode::Payload);
        }
        if again {
            group.evaluate(self.now);
        }
        self.put_edge(edge)?;
        self.put_group(group)?;
        if again { self.reopen(&child) } else { Ok(()) }
    }

    /// Replays a finished dependent. It starts after its own dependents are notified.
    fn reopen(&mut self, child: &Execution) -> Result<(), Stop> {
        let origin = Origin::Replay { of: child.last_attempt(), reason: None, requested_by: None };
        let mut change = child.reset_for_replay(origin, self.now);
        self.mark_replay_pending(&mut change, true);
        self.write(change)?;
        self.admit(&child.id)
    }

    /// Blocks a replayed member until its dependents are notified of the replay; after that, its join decides.
    pub(in crate::flow) fn mark_replay_pending(&mut self, change: &mut Change, reopen: bool) {
        let (id, since) = (change.after.id, self.now);
        change.after.phase = Phase::Blocked { on: Blocker::Reopening, until: None };
        let Some(membership) = &mut change.after.membership else { return };
        membership.result_bytes = None;
        membership.siblings = None;
        let propagation = PendingPropagation { since, what: Propagation::Replay { reopen }, after: None };
        membership.pending_propagation = (membership.dependents > 0).then_some(propagation);
        if membership.pending_propagation.is_some() {
            self.later(Work::Dependents(id));
        }
    }

    /// Makes an edge pending again, and removes the named input that it passed on.
    fn withdraw(&mut self, edge: &mut Edge) -> Result<(), Stop> {
        edge.state = EdgeState::Pending;
        match (edge.passed_bytes.take(), &edge.passes) {
            (Some(bytes), Some(PassMode::Input(_))) => self.amend(&edge.downstream_execution_id, |membership| {
                membership.inputs -= 1;
                membership.input_bytes -= bytes;
            }),
            _ => Ok(()),
        }
    }
}

impl Group {
    /// Begins a new round: resets the join and the counts, so that only edges of the new round count.
    pub(in crate::flow) fn begin_round(&mut self) {
        let fresh = Self::new(self.flow_id, self.downstream_execution_id, Join::AllOf);
        *self = Self { round: self.round + 1, ..fresh };
    }
}
