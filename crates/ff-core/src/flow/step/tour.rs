//! What is done to every member of a flow, one after the other in bounded steps: opening what was staged, cancelling what
//! a cancelled flow does not spare, forgetting what was staged and given up.

use crate::execution::{Blocker, FinishedBy, Phase};
use crate::flow::step::{Step, Work};
use crate::flow::{Errand, Tour};
use crate::types::{ExecutionId, FlowId};
use crate::view::{MembersOf, Stop, View, together};

impl<V: View> Step<'_, V> {
    /// Takes up what is due of a flow: the tour of its members, which begins when a staged submission is given up.
    pub(crate) fn tour(&mut self, id: &FlowId) -> Result<(), Stop> {
        let given_up = self.flow(id)?.staging.is_some_and(|staging| staging.until <= self.now);
        if given_up && self.flow(id)?.tour.is_none() {
            self.set_out(id, Errand::Discard)?;
        } else {
            self.later(Work::Tour(*id));
        }
        Ok(())
    }

    /// Begins a tour. One under way is given up for it.
    pub(in crate::flow) fn set_out(&mut self, id: &FlowId, errand: Errand) -> Result<(), Stop> {
        self.announce_tour(id, errand)?;
        self.later(Work::Tour(*id));
        Ok(())
    }

    /// Has a tour begin with the next step: this one has added members that a tour would not come to.
    pub(in crate::flow) fn announce_tour(&mut self, id: &FlowId, errand: Errand) -> Result<(), Stop> {
        let since = self.now;
        self.flow_change(id)?.after.tour = Some(Tour { errand, since, after: None, seen: 0 });
        Ok(())
    }

    /// Goes on with a tour, where it was left.
    pub(in crate::flow) fn go_on_tour(&mut self, id: &FlowId) -> Result<(), Stop> {
        let Some(tour) = self.flow(id)?.tour else { return Ok(()) };
        let query = MembersOf { flow: *id, after: tour.after, limit: self.budget + 1 };
        let page = self.view.members(&query)?;
        let visited = &page[..page.len().min(self.budget)];
        together(visited.iter().map(|member| self.view.execution(member)))?;
        self.budget -= visited.len();
        for member in visited {
            match tour.errand {
                Errand::Open => self.open(member)?,
                Errand::Cancel => self.cancel_unless_spared(member, id)?,
                Errand::Discard => self.flow_change(id)?.forgotten.push(*member),
            }
        }
        let change = self.flow_change(id)?;
        if visited.len() < page.len() {
            let seen = tour.seen + u32::try_from(visited.len()).unwrap_or(u32::MAX);
            change.after.tour = Some(Tour { after: visited.last().copied(), seen, ..tour });
        } else {
            change.after.tour = None;
            change.gone = tour.errand == Errand::Discard;
        }
        Ok(())
    }

    /// Lets a staged member wait, for its upstreams or a worker.
    fn open(&mut self, id: &ExecutionId) -> Result<(), Stop> {
        let Some(member) = self.execution(id)?.cloned().filter(|member| member.is_staged()) else { return Ok(()) };
        let Phase::Blocked { until, .. } = member.phase else { return Ok(()) };
        // Blocked anew, it is kept by its join alone.
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
