//! The sweep over every member of a flow, in bounded steps. It opens staged members, cancels members that a cancelled
//! flow does not spare, or forgets members that were abandoned or whose retention has ended.

use crate::execution::{Blocker, FinishedBy, Phase};
use crate::flow::step::{Step, Work};
use crate::flow::{MemberSweep, SweepAction};
use crate::limits;
use crate::rule::view::{MembersOf, Stop, require_all};
use crate::types::{ExecutionId, FlowId};

impl Step<'_> {
    /// Runs the sweep that is due: discards an abandoned submission, forgets a flow whose retention has ended, or
    /// continues the current sweep.
    pub(crate) fn member_sweep(&mut self, id: &FlowId) -> Result<(), Stop> {
        let flow = self.flow(id)?;
        let given_up = flow.staging.is_some_and(|staging| staging.until <= self.now) && flow.member_sweep.is_none();
        let kept_for_long_enough = flow.forget_at().is_some_and(|at| at <= self.now);
        if given_up {
            self.begin_sweep(id, SweepAction::Discard)
        } else if kept_for_long_enough {
            self.begin_sweep(id, SweepAction::Forget)
        } else {
            self.later(Work::Sweep(*id));
            Ok(())
        }
    }

    /// Begins a sweep, which replaces a running one.
    pub(in crate::flow) fn begin_sweep(&mut self, id: &FlowId, action: SweepAction) -> Result<(), Stop> {
        self.announce_sweep(id, action)?;
        self.later(Work::Sweep(*id));
        Ok(())
    }

    /// Records a sweep that begins with the next step, because a sweep of this step would not reach the members that
    /// this step adds.
    pub(in crate::flow) fn announce_sweep(&mut self, id: &FlowId, action: SweepAction) -> Result<(), Stop> {
        let since = self.now;
        self.flow_change(id)?.after.member_sweep = Some(MemberSweep { action, since, after: None, seen: 0 });
        Ok(())
    }

    /// Continues a sweep after the last processed member.
    pub(in crate::flow) fn continue_sweep(&mut self, id: &FlowId) -> Result<(), Stop> {
        let Some(member_sweep) = self.flow(id)?.member_sweep else { return Ok(()) };
        let query = MembersOf { flow: *id, after: member_sweep.after, limit: self.budget + 1 };
        let page = self.view.members(&query)?;
        let within = &page[..page.len().min(self.budget)];
        require_all(within.iter().map(|member| self.view.execution(member)))?;
        let visited = if member_sweep.action == SweepAction::Forget { self.forgettable(within)? } else { within };
        self.budget -= visited.len();
        for member in visited {
            match member_sweep.action {
                SweepAction::Open => self.open(member)?,
                SweepAction::Cancel => self.cancel_unless_spared(member, id)?,
                SweepAction::Discard | SweepAction::Forget => self.flow_change(id)?.forgotten.push(*member),
            }
        }
        let change = self.flow_change(id)?;
        if visited.len() < page.len() {
            let seen = member_sweep.seen + u32::try_from(visited.len()).unwrap_or(u32::MAX);
            change.after.member_sweep =
                Some(MemberSweep { after: visited.last().copied().or(member_sweep.after), seen, ..member_sweep });
        } else {
            change.after.member_sweep = None;
            change.gone = matches!(member_sweep.action, SweepAction::Discard | SweepAction::Forget);
        }
        Ok(())
    }

    /// Returns the first of these members that may be forgotten now: together they have at most as many records as one
    /// step may forget, and none of them has pending work for others. The first member may exceed the number of
    /// records.
    fn forgettable<'m>(&self, members: &'m [ExecutionId]) -> Result<&'m [ExecutionId], Stop> {
        let mut records = 0;
        for (nth, id) in members.iter().enumerate() {
            let Some(member) = self.execution(id)? else { continue };
            records += member.records();
            let pending =
                member.membership.as_ref().is_some_and(|m| m.pending_propagation.is_some() || m.siblings.is_some());
            if pending || (records > limits::FORGET && nth > 0) {
                return Ok(&members[..nth]);
            }
        }
        Ok(members)
    }

    /// Opens a staged member: it waits for its upstreams or a worker.
    fn open(&mut self, id: &ExecutionId) -> Result<(), Stop> {
        let Some(member) = self.execution(id)?.cloned().filter(|member| member.is_staged()) else { return Ok(()) };
        let Phase::Blocked { until, .. } = member.phase else { return Ok(()) };
        // With this blocker, only the join decides whether the member is released.
        self.write(member.enter(Phase::Blocked { on: Blocker::Dependencies, until }, self.now))?;
        self.admit(id)
    }

    fn cancel_unless_spared(&mut self, id: &ExecutionId, flow: &FlowId) -> Result<(), Stop> {
        let Some(member) = self.execution(id)?.cloned().filter(|member| !member.is_finished()) else { return Ok(()) };
        if self.flow(flow)?.spares(&member) {
            return Ok(());
        }
        self.write(member.cancelled(FinishedBy::FlowCancel, self.now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::snapshot::Snapshot;
    use crate::engine_error::Code;
    use crate::flow::fixture::{FlowFixture, graph};
    use crate::operation::PumpArgs;

    fn pump(flow: &mut FlowFixture) -> usize {
        flow.ask(PumpArgs { partition: 0 }).unwrap().fired
    }

    #[test]
    fn a_flow_goes_with_all_its_members_in_bounded_steps() {
        let names: Vec<_> = (0..300).map(|n| format!("n{n}")).collect();
        let mut flow = FlowFixture::of(&names.join(" "));
        flow.run();
        flow.now = flow.now + limits::RETENTION_MS - 1;
        assert_eq!(pump(&mut flow), 0);
        flow.now = flow.now + 1;
        pump(&mut flow);
        assert_eq!(flow.model.executions().count(), 300 - limits::FLOW_STEP);
        assert_eq!(flow.model.find_flow(&flow.id), None, "what is going is not there any more");
        flow.drain();
        assert_eq!(flow.model.snapshot(0), Snapshot::default());
    }

    #[test]
    fn a_member_stays_until_its_flow_has_ended() {
        let mut args = graph("a>b b>c", &[]);
        args.nodes.iter_mut().for_each(|node| node.policy.retention_ms = Some(1_000));
        args.nodes[1].policy.retention_ms = Some(5_000);
        let mut flow = FlowFixture::with(args);
        flow.run_until("a");
        flow.wait_a_minute();
        assert_eq!(flow.states("a b c"), ["completed", "waiting", "waiting_children"]);
        flow.run();
        flow.now = flow.now + 4_999;
        flow.drain();
        assert_eq!(flow.flow_state(), "completed", "the member that asks for longest is kept for as long");
        flow.now = flow.now + 1;
        flow.drain();
        assert_eq!(flow.model.snapshot(0), Snapshot::default());
    }

    #[test]
    fn a_flow_being_forgotten_cannot_be_replayed() {
        let names: Vec<_> = (0..limits::FLOW_STEP + 2).map(|n| format!("n{n}")).collect();
        let mut flow = FlowFixture::of(&names.join(" "));
        flow.run();
        flow.now = flow.now + limits::RETENTION_MS;
        pump(&mut flow);
        let left = flow.model.executions().next().unwrap().clone();
        let node = left.membership.unwrap().node;
        assert_eq!(flow.replay(node.as_str(), false), Err(Code::ExecutionNotFound));
    }

    #[test]
    fn a_replay_takes_a_flow_back_from_being_forgotten() {
        let mut flow = FlowFixture::of("a");
        flow.run();
        flow.replay("a", false).unwrap();
        flow.now = flow.now + limits::RETENTION_MS;
        flow.drain();
        assert_eq!(flow.state("a"), "waiting");
    }
}
