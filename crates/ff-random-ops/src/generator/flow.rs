//! Choice of transitions about flows: mostly valid ones, occasionally one that must be refused.

use std::collections::BTreeSet;

use super::Generator;
use super::graph::leave_one_payload;
use crate::prelude::*;
use crate::reference::{Reference, flow_id};
use crate::transition::{Growth, HolderCall, Transition};

impl Generator {
    /// Chooses a transition about a flow, mostly one of the latest flows.
    pub(crate) fn flow_transition(&mut self, reference: &Reference) -> Transition {
        if let Some(job) = self.head.take_if(|_| self.chance.one_in(4)) {
            return Transition::Cancel { job, reason: None };
        }
        let owing =
            |execution: &Execution| execution.membership.as_ref().is_some_and(|of| of.pending_propagation.is_some());
        if let Some(job) = self.such_a_member(reference, owing).filter(|_| self.chance.one_in(2)) {
            return Transition::Cascade { job };
        }
        if let Some(staged) = self.staged.filter(|_| self.chance.one_in(4)) {
            return self.part(staged);
        }
        let flow = self.flow();
        match self.chance.below(100) {
            0..11 if self.chance.one_in(40) => self.large_flow(),
            0..11 => Transition::SubmitFlow(self.plan()),
            11..15 => self.creation(),
            15..32 => Transition::Grow(self.growth(reference)),
            32..38 => Transition::CloseFlow {
                flow: self.flow_that(reference, |flow| flow.held_open && flow.counts.live() > 0),
            },
            38..43 => {
                let again = |flow: &Flow| flow.state() == FlowState::Cancelled;
                let lives = |flow: &Flow| !flow.state().is_terminal();
                let flow = match self.chance.below(4) {
                    0 => self.flow_that(reference, again),
                    1 => flow,
                    _ => self.flow_that(reference, lives),
                };
                let policy = *self.chance.pick(CancelPolicy::ALL);
                Transition::CancelFlow { flow, policy, reason: self.maybe(3, &[0, 9, limits::MESSAGE_BYTES + 1]) }
            }
            43 => {
                let (from, count) = (usize::from(self.number(3)), self.usually(&[1, 2], &[limits::TAGS + 1]));
                Transition::TagFlow { flow, from, count }
            }
            44..57 => self.parenthood(reference),
            57 => Transition::Cascade { job: self.member(reference, Execution::is_finished) },
            58..65 => {
                let job = self.member(reference, Execution::is_finished);
                Transition::Replay { job, reason: None, reopen: !self.chance.one_in(4), from: None }
            }
            65..68 => self.pump(reference),
            68..89 => {
                let spared = !self.chance.one_in(6);
                let childless = |member: &Execution| is_running(member) && !(spared && is_parent(reference, member));
                match self.such_a_member(reference, childless) {
                    Some(job) => self.end_of(job),
                    None => self.claim_member(reference),
                }
            }
            _ => self.claim_member(reference),
        }
    }

    /// Chooses a claim on the partition of a waiting member.
    fn claim_member(&mut self, reference: &Reference) -> Transition {
        let job = self.member(reference, |execution| matches!(execution.phase, Phase::Waiting));
        let id = reference.id(job);
        let Some(waiting) = reference.model.find(&id) else { return self.claim(reference) };
        Transition::Claim {
            partition: id.partition(),
            namespace: u8::from(waiting.namespace != Namespace::default_name()),
            lane: u8::from(waiting.lane != LaneId::default_name()),
            kinds: vec![],
            assigned: false,
            max: *self.chance.pick(&[1, 5, 5, 20]),
            worker: 0,
            ttl_ms: 30_000,
        }
    }

    /// Chooses whether the holder of a member completes or fails it.
    fn end_of(&mut self, job: u32) -> Transition {
        let fence = self.fence();
        let call = match self.chance.one_in(3) {
            true => HolderCall::Fail { category: 0, permanent: !self.chance.one_in(3) },
            false => HolderCall::Complete { result: *self.chance.pick(&[None, Some(0), Some(5), Some(100)]) },
        };
        Transition::AsHolder { job, fence, call }
    }

    /// Chooses a call by which a holder adds children or waits for its children.
    fn parenthood(&mut self, reference: &Reference) -> Transition {
        let fence = self.fence();
        let wait_for_children = |job| Transition::AsHolder { job, fence, call: HolderCall::WaitForChildren };
        let decided = |member: &Execution| {
            let group = reference.model.group(&member.id).unwrap();
            is_running(member) && group.is_some_and(|group| group.round > 0 && group.state != GroupState::Pending)
        };
        if let Some(job) = self.such_a_member(reference, decided).filter(|_| !self.chance.one_in(4)) {
            return wait_for_children(job);
        }
        let Some(job) = self.such_a_member(reference, is_running) else {
            return if self.chance.one_in(12) {
                wait_for_children(self.job(reference, |_| true))
            } else {
                self.claim_member(reference)
            };
        };
        let Some(flow) = flow_of(reference, job) else { return wait_for_children(job) };
        let group = reference.model.group(&reference.id(job)).unwrap();
        let wait = match group.filter(|group| group.round > 0).map(|group| group.state) {
            None => self.chance.one_in(10),
            Some(GroupState::Pending) if self.chance.one_in(2) => return self.claim_member(reference),
            Some(_) => !self.chance.one_in(4),
        };
        if wait {
            return wait_for_children(job);
        }
        let nodes: Vec<_> = (0..1 + self.chance.below(3)).map(|_| self.node()).collect();
        let mut edges: Vec<_> = nodes.iter().map(|node| self.link(node.work.job, job)).collect();
        leave_one_payload(&mut edges);
        let joins = if self.chance.one_in(3) { vec![(job, self.join(nodes.len()))] } else { vec![] };
        let (by_id, holder) = (false, Some((job, fence)));
        Transition::Grow(Growth {
            flow,
            nodes,
            joins,
            edges,
            by_id,
            holder,
            revision: None,
            key: self.maybe(3, &[0, 1]),
        })
    }

    /// Chooses the creation of a flow that grows later, rarely of one that exists already.
    fn creation(&mut self) -> Transition {
        let again = self.flows > 0 && self.chance.one_in(6);
        let flow = if again { self.flow() } else { self.flows };
        self.flows += u32::from(!again);
        Transition::CreateFlow { flow, namespace: u8::from(self.chance.one_in(10)), kind: self.number(2) }
    }

    /// Chooses new members of a flow, and edges mostly among its members.
    fn growth(&mut self, reference: &Reference) -> Growth {
        let grows = |flow: &Flow| !flow.state().is_terminal();
        let about = *self.chance.pick(&[0, 1, 1, 2, 2, 3, 3, 4]);
        let flow = match about {
            0 => self.flow_that(reference, |flow| grows(flow) && flow.counts.live() < flow.counts.all()),
            1 => self.flow_that(reference, |flow| grows(flow) && flow.counts.of(PublicState::Skipped) > 0),
            2 => self.flow_that(reference, |flow| grows(flow) && flow.counts.of(PublicState::Completed) > 0),
            3 => self.flow_that(reference, |flow| grows(flow) && flow.held_open),
            _ => self.flow_that(reference, grows),
        };
        let nodes: Vec<_> = (0..*self.chance.pick(&[0, 1, 1, 2])).map(|_| self.node()).collect();
        let mut known: Vec<_> =
            reference.jobs().map(|(job, _)| job).filter(|job| flow_of(reference, *job) == Some(flow)).collect();
        known.extend(nodes.iter().map(|node| node.work.job));
        let strangers = [self.member(reference, |_| true), self.job(reference, |_| true)];
        let known_or_not = |generator: &mut Self| match generator.chance.below(8) {
            0 => *generator.chance.pick(&strangers),
            _ if known.is_empty() => u32::MAX - 1,
            _ => *generator.chance.pick(&known),
        };
        let is_over = |job: &u32| reference.model.find(&reference.id(*job)).is_some_and(Execution::is_finished);
        let mut over: Vec<_> = known.iter().copied().filter(is_over).collect();
        let end = |job: &u32| reference.model.find(&reference.id(*job)).map(Execution::public_state);
        let ends: Vec<_> = over.iter().map(end).collect::<BTreeSet<_>>().into_iter().collect();
        if !ends.is_empty() && !self.chance.one_in(4) {
            let skipped = Some(PublicState::Skipped);
            let one = if about == 1 && ends.contains(&skipped) { skipped } else { *self.chance.pick(&ends) };
            over.retain(|job| end(job) == one);
        }
        let mut edges: Vec<_> = (0..*self.chance.pick(&[0, 1, 1, 2, 3]))
            .map(|_| match nodes.last().filter(|_| !over.is_empty() && !self.chance.one_in(3)) {
                Some(new) => {
                    let from = *self.chance.pick(&over);
                    self.link(from, new.work.job)
                }
                None => {
                    let (one, other) = (known_or_not(self), known_or_not(self));
                    // Most edges go from an earlier to a later job, so that some edges close no cycle.
                    let turned = one > other && !self.chance.one_in(3);
                    if turned { self.link(other, one) } else { self.link(one, other) }
                }
            })
            .collect();
        if !self.chance.one_in(4) {
            leave_one_payload(&mut edges);
        }
        let joins = if self.chance.one_in(5) { vec![(known_or_not(self), self.join(2))] } else { vec![] };
        Growth {
            flow,
            nodes,
            joins,
            edges,
            by_id: self.chance.one_in(2),
            holder: None,
            revision: self.maybe(5, &[0, 0, -1, 1]),
            key: self.maybe(5, &[0, 1]),
        }
    }

    /// Returns a flow: mostly one of the latest, rarely one that does not exist.
    pub(super) fn flow(&mut self) -> u32 {
        if self.flows == 0 || self.chance.one_in(40) {
            return u32::MAX;
        }
        let lately = self.flows.min(3);
        self.flows - 1 - u32::try_from(self.chance.below(lately.into())).unwrap()
    }

    /// Returns a flow: mostly one of the latest that satisfies the condition, otherwise any.
    fn flow_that(&mut self, reference: &Reference, stands: impl Fn(&Flow) -> bool) -> u32 {
        let lately = self.flows.saturating_sub(8)..self.flows;
        let stands = |flow: &u32| reference.model.find_flow(&flow_id(*flow)).is_some_and(&stands);
        let suitable: Vec<_> = lately.filter(stands).collect();
        if suitable.is_empty() || self.chance.one_in(8) { self.flow() } else { *self.chance.pick(&suitable) }
    }

    /// Returns a member of a flow: mostly one of the latest that satisfies the condition. Otherwise returns any job.
    fn member(&mut self, reference: &Reference, suits: impl Fn(&Execution) -> bool) -> u32 {
        match self.such_a_member(reference, suits).filter(|_| !self.chance.one_in(12)) {
            Some(job) => job,
            None => self.job(reference, |_| true),
        }
    }

    fn such_a_member(&mut self, reference: &Reference, suits: impl Fn(&Execution) -> bool) -> Option<u32> {
        let found = |(job, id)| Some((job, reference.model.find(&id).filter(|found| found.membership.is_some())?));
        let members: Vec<_> = reference.jobs().filter_map(found).collect();
        let lately = &members[members.len().saturating_sub(80)..];
        let suitable: Vec<_> = lately.iter().filter(|(_, member)| suits(member)).collect();
        if suitable.is_empty() { None } else { Some(self.chance.pick(&suitable).0) }
    }
}

fn is_running(execution: &Execution) -> bool {
    matches!(execution.phase, Phase::Running { .. })
}

/// Returns whether a member has added children in its latest life.
fn is_parent(reference: &Reference, member: &Execution) -> bool {
    reference.model.group(&member.id).unwrap().is_some_and(|group| group.round > 0)
}

/// Returns the number of the flow that a job belongs to.
fn flow_of(reference: &Reference, job: u32) -> Option<u32> {
    let membership = reference.model.find(&reference.id(job))?.membership.as_ref()?;
    reference.flow_number(&membership.flow_id)
}
