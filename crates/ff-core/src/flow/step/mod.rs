//! One step of a flow: the changes of an operation, and all their consequences within the flow.
//!
//! Every change of an execution goes through a step, so every way to end an execution notifies its dependents. A step
//! examines a bounded number of edges and members, without recursion, and every hop downstream takes one of them. The
//! rest stays pending on the records, and further steps do it.

mod ahead;
mod dependents;
mod member_sweep;
mod reopen;
mod siblings;

pub use ahead::edges_to_notify;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use crate::engine_error::Code;
use crate::execution::{Execution, FinishedBy, Outcome, Phase};
use crate::flow::{
    Edge, Flow, FlowChange, FlowEvent, FlowEventKind, Group, Membership, PendingPropagation, Propagation,
};
use crate::limits;
use crate::rule::change::{Change, Write};
use crate::rule::view::{EdgesOf, Side, Stop, View, require_all};
use crate::state::PublicState;
use crate::types::{EdgeId, ExecutionId, FlowId, TimestampMs};

/// A running step: its changes so far, on top of the stored records.
pub(crate) struct Step<'v> {
    pub(in crate::flow) view: &'v dyn View,
    pub(in crate::flow) now: TimestampMs,
    /// Number of edges and members that the step may still examine.
    pub(in crate::flow) budget: usize,
    changes: Vec<Change>,
    places: HashMap<ExecutionId, usize>,
    /// The executions with events, in the order of their first event.
    event_order: Vec<ExecutionId>,
    pub(in crate::flow) flows: BTreeMap<FlowId, FlowChange>,
    edges: BTreeMap<(FlowId, EdgeId), Edge>,
    /// Edges that this step adds, by each of their ends.
    added: BTreeSet<(ExecutionId, Side, EdgeId)>,
    groups: BTreeMap<ExecutionId, Group>,
    work: VecDeque<Work>,
    /// Number of edges that were resolved.
    pub(in crate::flow) resolved: u32,
    /// Number of executions that were skipped or cancelled because of others.
    pub(in crate::flow) cascaded: u32,
}

/// Work that a step still has to do.
#[derive(Clone, Copy, Debug)]
pub(in crate::flow) enum Work {
    /// Notify the dependents of a member of its end or replay.
    Dependents(ExecutionId),
    /// Check the other upstreams of a join that fired.
    Siblings(ExecutionId),
    /// Continue the member sweep.
    Sweep(FlowId),
}

/// The changes of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepOutcome {
    pub changes: Vec<Change>,
    pub flows: Vec<FlowChange>,
    /// Executions to delete with all their records. Members that go with their flow are in the lists of the flows.
    pub forgotten: Vec<ExecutionId>,
    pub(crate) resolved: u32,
    pub(crate) cascaded: u32,
}

/// Runs the step that follows from an operation's changes within the flows of the changed executions.
pub(crate) fn follow(view: &dyn View, changes: Vec<Change>, now: TimestampMs) -> Result<StepOutcome, Stop> {
    if changes.iter().all(|change| change.after.membership.is_none()) {
        return Ok(StepOutcome { changes, ..StepOutcome::default() });
    }
    let mut step = Step::new(view, now);
    step.look_ahead_of(&changes)?;
    changes.into_iter().try_for_each(|change| step.write(change))?;
    step.run()
}

impl StepOutcome {
    /// Returns when the first of the changed executions and flows is due.
    pub(crate) fn next_due(&self) -> Option<TimestampMs> {
        let executions = self.changes.iter().filter_map(|change| Some(change.after.next_due()?.0));
        let flows = self.flows.iter().filter(|change| !change.gone).filter_map(|change| change.after.next_due());
        executions.chain(flows).min()
    }

    /// Returns an execution after the step, if the step changed it.
    pub(crate) fn after(&self, id: &ExecutionId) -> Option<&Execution> {
        self.changes.iter().find(|change| change.after.id == *id).map(|change| &change.after)
    }

    /// Returns whether the step changes or forgets an execution.
    pub(crate) fn is_touched(&self, id: &ExecutionId) -> bool {
        self.after(id).is_some() || self.forgotten.contains(id)
    }

    /// Returns a flow after the step, if the step changed it.
    pub(crate) fn flow(&self, id: &FlowId) -> Option<&Flow> {
        self.flows.iter().find(|change| change.after.id == *id).map(|change| &change.after)
    }
}

impl<'v> Step<'v> {
    pub(crate) fn new(view: &'v dyn View, now: TimestampMs) -> Self {
        Self {
            view,
            now,
            budget: limits::FLOW_STEP,
            changes: Vec::new(),
            places: HashMap::new(),
            event_order: Vec::new(),
            flows: BTreeMap::new(),
            edges: BTreeMap::new(),
            added: BTreeSet::new(),
            groups: BTreeMap::new(),
            work: VecDeque::new(),
            resolved: 0,
            cascaded: 0,
        }
    }

    /// Adds a change and its consequences in the flow: counts and events, the end of a member that a cancelled flow
    /// does not spare, and the pending notification of the dependents of a member that ended.
    pub(crate) fn write(&mut self, mut change: Change) -> Result<(), Stop> {
        let id = change.after.id;
        let Some(flow_id) = change.after.membership.as_ref().map(|membership| membership.flow_id) else {
            self.push(change);
            return Ok(());
        };
        let before = self.execution(&id)?.cloned();
        let flow = self.flow(&flow_id)?;
        let held = matches!(change.after.phase, Phase::Running { .. });
        if !held && !change.after.is_finished() && !flow.spares(&change.after) {
            let cancelled = change.after.cancelled(FinishedBy::FlowCancel, self.now);
            change = change.then(cancelled);
        }
        if change.after.is_finished() && !before.as_ref().is_some_and(Execution::is_finished) {
            self.mark_end_pending(&mut change);
        }
        self.account(before.as_ref(), &change.after)?;
        self.push(change);
        Ok(())
    }

    /// Does pending work until none is left or the budget is used up, and returns the outcome of the step.
    pub(crate) fn run(mut self) -> Result<StepOutcome, Stop> {
        while self.budget > 0
            && let Some(work) = self.work.pop_front()
        {
            let done = match work {
                Work::Dependents(id) => self.notify_dependents(&id),
                Work::Siblings(id) => self.check_siblings(&id),
                Work::Sweep(id) => self.continue_sweep(&id),
            };
            done.map_err(|stop| self.with_later_misses(stop))?;
        }
        Ok(self.settled())
    }

    /// Schedules the pending work of an execution.
    pub(crate) fn schedule_pending(&mut self, execution: &Execution) {
        let Some(membership) = &execution.membership else { return };
        if membership.pending_propagation.is_some() {
            self.later(Work::Dependents(execution.id));
        }
        if membership.siblings.is_some() {
            self.later(Work::Siblings(execution.id));
        }
    }

    /// Schedules the pending work of the execution with this id.
    pub(in crate::flow) fn schedule_pending_of(&mut self, id: &ExecutionId) -> Result<(), Stop> {
        if let Some(execution) = self.execution(id)?.cloned() {
            self.schedule_pending(&execution);
        }
        Ok(())
    }

    pub(in crate::flow) fn later(&mut self, work: Work) {
        self.work.push_back(work);
    }

    pub(in crate::flow) fn execution(&self, id: &ExecutionId) -> Result<Option<&Execution>, Stop> {
        match self.places.get(id) {
            Some(place) => Ok(Some(&self.changes[*place].after)),
            None => Ok(self.view.execution(id)?),
        }
    }

    /// Returns a flow that must exist, because other records refer to it.
    pub(in crate::flow) fn flow(&self, id: &FlowId) -> Result<&Flow, Stop> {
        match self.flows.get(id) {
            Some(change) => Ok(&change.after),
            None => self.view.flow(id)?.ok_or_else(|| Code::InvariantViolation.into()),
        }
    }

    pub(in crate::flow) fn flow_change(&mut self, id: &FlowId) -> Result<&mut FlowChange, Stop> {
        let flow = self.flow(id)?.clone();
        Ok(self.flows.entry(*id).or_insert_with(|| FlowChange::of(flow)))
    }

    /// Adds a new flow.
    pub(in crate::flow) fn begin(&mut self, flow: Flow) {
        self.flows.insert(flow.id, FlowChange::of(flow));
    }

    pub(in crate::flow) fn record_event(&mut self, flow: &FlowId, what: FlowEventKind) -> Result<(), Stop> {
        let at = self.now;
        let change = self.flow_change(flow)?;
        change.events.push(FlowEvent { seq: change.after.events, at, what });
        change.after.events += 1;
        Ok(())
    }

    pub(in crate::flow) fn edge(&self, flow: &FlowId, id: &EdgeId) -> Result<Option<&Edge>, Stop> {
        match self.edges.get(&(*flow, *id)) {
            Some(edge) => Ok(Some(edge)),
            None => Ok(self.view.edge(flow, id)?),
        }
    }

    /// Returns the next edges of a member, including those that this step adds.
    pub(in crate::flow) fn edges_of(&self, query: &EdgesOf) -> Result<Vec<EdgeId>, Stop> {
        let mut edges = self.view.edges(query)?;
        let first = query.after.unwrap_or(EdgeId::from_uuid(uuid::Uuid::nil()));
        let added = self.added.range((query.member, query.side, first)..);
        let added = added.take_while(|(member, side, _)| (*member, *side) == (query.member, query.side));
        edges.extend(added.map(|(_, _, edge)| *edge).filter(|edge| Some(*edge) != query.after));
        edges.sort_unstable();
        edges.truncate(query.limit);
        Ok(edges)
    }

    /// Returns several edges. Missing ones are reported as one miss.
    pub(in crate::flow) fn edges(&self, flow: &FlowId, ids: &[EdgeId]) -> Result<Vec<Edge>, Stop> {
        let stored = ids.iter().filter(|id| !self.edges.contains_key(&(*flow, **id)));
        require_all(stored.map(|id| self.view.edge(flow, id)))?;
        let mut edges = Vec::new();
        for id in ids {
            edges.extend(self.edge(flow, id)?.cloned());
        }
        Ok(edges)
    }

    /// Adds a new edge.
    pub(in crate::flow) fn add(&mut self, edge: Edge) -> Result<(), Stop> {
        self.added.insert((edge.upstream_execution_id, Side::Outgoing, edge.id));
        self.added.insert((edge.downstream_execution_id, Side::Incoming, edge.id));
        self.put_edge(edge)
    }

    pub(in crate::flow) fn put_edge(&mut self, edge: Edge) -> Result<(), Stop> {
        self.flow_change(&edge.flow_id)?;
        self.edges.insert((edge.flow_id, edge.id), edge);
        Ok(())
    }

    pub(in crate::flow) fn group(&self, downstream: &ExecutionId) -> Result<Option<Group>, Stop> {
        match self.groups.get(downstream) {
            Some(group) => Ok(Some(*group)),
            None => Ok(self.view.group(downstream)?.copied()),
        }
    }

    pub(in crate::flow) fn put_group(&mut self, group: Group) -> Result<(), Stop> {
        self.flow_change(&group.flow_id)?;
        self.groups.insert(group.downstream_execution_id, group);
        Ok(())
    }

    /// Returns the groups that this step changed.
    pub(in crate::flow) fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.values()
    }

    /// Changes the membership of a member and nothing else.
    pub(in crate::flow) fn amend(&mut self, id: &ExecutionId, amend: impl FnOnce(&mut Membership)) -> Result<(), Stop> {
        let Some(before) = self.execution(id)?.cloned() else { return Ok(()) };
        let mut after = before.clone();
        if let Some(membership) = &mut after.membership {
            amend(membership);
        }
        self.account(Some(&before), &after)?;
        self.push(Change::of(after));
        Ok(())
    }

    /// Makes the result of one execution the payload of another. The step must already have changed the latter.
    pub(in crate::flow) fn inject(&mut self, id: &ExecutionId, from: ExecutionId) {
        if let Some(place) = self.places.get(id) {
            self.changes[*place].payload = Write::ResultOf(from);
        }
    }

    fn push(&mut self, change: Change) {
        let id = change.after.id;
        if !change.events.is_empty() && !self.event_order.contains(&id) {
            self.event_order.push(id);
        }
        match self.places.get(&id) {
            Some(place) => {
                let place = &mut self.changes[*place];
                let earlier = std::mem::replace(place, Change::of(change.after.clone()));
                *place = earlier.then(change);
            }
            None => {
                self.places.insert(id, self.changes.len());
                self.changes.push(change);
            }
        }
    }

    /// Records that dependents must still be notified of this end, and schedules the notification.
    fn mark_end_pending(&mut self, change: &mut Change) {
        let result_bytes = match &change.result {
            Write::Put(result) => Some(result.bytes.len() as u64),
            _ => None,
        };
        let (id, since) = (change.after.id, self.now);
        let Some(membership) = &mut change.after.membership else { return };
        membership.result_bytes = result_bytes;
        membership.pending_propagation =
            (membership.dependents > 0).then_some(PendingPropagation { since, what: Propagation::End, after: None });
        if membership.pending_propagation.is_some() {
            self.later(Work::Dependents(id));
        }
    }

    /// Updates the counts of a flow, and records an event if the member changed its state.
    fn account(&mut self, before: Option<&Execution>, after: &Execution) -> Result<(), Stop> {
        let Some(membership) = &after.membership else { return Ok(()) };
        let (from, to) = (before.map(Execution::public_state), after.public_state());
        let (was_failed, has_failed) = (before.is_some_and(is_failed_leaf), is_failed_leaf(after));
        let now = self.now;
        if from == Some(to) && was_failed == has_failed {
            return Ok(());
        }
        let flow = &mut self.flow_change(&membership.flow_id)?.after;
        flow.failed_leaves = flow.failed_leaves + u32::from(has_failed) - u32::from(was_failed);
        if from == Some(to) {
            return Ok(());
        }
        flow.counts.moved(from, to);
        if to == PublicState::Active {
            flow.started_at.get_or_insert(now);
        }
        match from {
            Some(from) => {
                let (node, execution_id) = (membership.node.clone(), after.id);
                self.record_event(&membership.flow_id, FlowEventKind::Moved { node, execution_id, from, to })
            }
            None => Ok(()),
        }
    }

    /// Ends the flows that are over, reopens those that are not over any more, and returns the outcome.
    fn settled(mut self) -> StepOutcome {
        let over: Vec<_> =
            self.flows.values().filter(|change| !change.gone).map(|change| change.after.clone()).collect();
        for flow in over {
            let (ended_at, what) = match (flow.is_over(), flow.ended_at) {
                (true, None) => {
                    let state = Flow { ended_at: Some(self.now), ..flow.clone() }.state();
                    (Some(self.now), FlowEventKind::Ended { state })
                }
                (false, Some(_)) => (None, FlowEventKind::Reopened),
                _ => continue,
            };
            if let Some(change) = self.flows.get_mut(&flow.id) {
                change.after.ended_at = ended_at;
                change.events.push(FlowEvent { seq: change.after.events, at: self.now, what });
                change.after.events += 1;
            }
        }
        for edge in self.edges.into_values() {
            self.flows.entry(edge.flow_id).and_modify(|change| change.edges.push(edge));
        }
        for group in self.groups.into_values() {
            self.flows.entry(group.flow_id).and_modify(|change| change.groups.push(group));
        }
        let event_order = &self.event_order;
        self.changes
            .sort_by_key(|change| event_order.iter().position(|id| *id == change.after.id).unwrap_or(usize::MAX));
        let flows = self.flows.into_values().collect();
        let (resolved, cascaded) = (self.resolved, self.cascaded);
        StepOutcome { changes: self.changes, flows, forgotten: Vec::new(), resolved, cascaded }
    }
}

/// Returns whether a member without dependents ended without success.
fn is_failed_leaf(member: &Execution) -> bool {
    let unsuccessful = matches!(member.phase, Phase::Finished { outcome, .. } if outcome != Outcome::Success);
    unsuccessful && member.membership.as_ref().is_some_and(|membership| membership.dependents == 0)
}
