//! The doctor's checks of flows, their members, edges and joins.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Findings};
use crate::backend::snapshot::Snapshot;
use crate::execution::{AttemptSlot, Blocker, Execution, Outcome, Phase};
use crate::flow::{Counts, Edge, EdgeState, Flow, Group, GroupState, Membership, PassMode, Propagation, entries};
use crate::lease::LeaseEnding;
use crate::types::{ExecutionId, FlowId};

/// Returns the findings about the flows of a partition.
pub(super) fn examine(snapshot: &Snapshot, partition: u16) -> Vec<Finding> {
    let mut findings = Findings::default();
    let graph = Graph::of(snapshot);
    for (id, flow) in &snapshot.flows {
        let members = graph.members.get(id).map_or(&[][..], Vec::as_slice);
        if flow.id != *id || flow.partition != partition {
            findings.find("I1", id, format!("is kept on partition {partition} under another id"));
        }
        numbers(flow, members, &graph, &mut findings);
        check_flow_end(flow, members, &mut findings);
        check_events(flow, snapshot, &mut findings);
    }
    for (execution, membership) in graph.members.values().flatten() {
        member(execution, membership, snapshot, &graph, &mut findings);
        waits_for_its_join(execution, snapshot, &mut findings);
    }
    for edge in snapshot.edges.values() {
        check_edge_state(edge, snapshot, &mut findings);
    }
    for group in snapshot.groups.values() {
        counted(group, &graph, &mut findings);
    }
    indexes(snapshot, &mut findings);
    orphans(snapshot, &mut findings);
    findings.0
}

/// The records of flows, grouped by their owner.
struct Graph<'s> {
    members: BTreeMap<FlowId, Vec<(&'s Execution, &'s Membership)>>,
    outgoing: BTreeMap<ExecutionId, u32>,
    incoming: BTreeMap<ExecutionId, Vec<&'s Edge>>,
    edges: BTreeMap<FlowId, u32>,
}

impl<'s> Graph<'s> {
    fn of(snapshot: &'s Snapshot) -> Self {
        let mut graph = Self {
            members: BTreeMap::new(),
            outgoing: BTreeMap::new(),
            incoming: BTreeMap::new(),
            edges: BTreeMap::new(),
        };
        for execution in snapshot.executions.values() {
            if let Some(membership) = execution.membership.as_deref() {
                graph.members.entry(membership.flow_id).or_default().push((execution, membership));
            }
        }
        for edge in snapshot.edges.values() {
            *graph.outgoing.entry(edge.upstream_execution_id).or_default() += 1;
            graph.incoming.entry(edge.downstream_execution_id).or_default().push(edge);
            *graph.edges.entry(edge.flow_id).or_default() += 1;
        }
        graph
    }
}

/// I9 and I10: a flow counts its members and edges, names and positions are distinct, and the edges have no cycle.
fn numbers(flow: &Flow, members: &[(&Execution, &Membership)], graph: &Graph<'_>, findings: &mut Findings) {
    if flow.is_being_forgotten() {
        return;
    }
    let counts: Counts = members.iter().map(|(execution, _)| execution.public_state()).collect();
    if counts != flow.counts || counts.all() != flow.nodes {
        findings.find("I10", flow.id, format!("counts {:?} of {}, has {counts:?}", flow.counts, flow.nodes));
    }
    if graph.edges.get(&flow.id).copied().unwrap_or(0) != flow.edges {
        findings.find("I10", flow.id, format!("does not have the {} edges it counts", flow.edges));
    }
    let unsuccessful = |execution: &Execution| matches!(execution.phase, Phase::Finished { outcome, .. } if outcome != Outcome::Success);
    let failed_leaves = members.iter().filter(|(e, membership)| unsuccessful(e) && membership.dependents == 0).count();
    if failed_leaves != flow.failed_leaves as usize {
        findings.find("I10", flow.id, format!("counts {} failed leaves, has {failed_leaves}", flow.failed_leaves));
    }
    if waits_for_itself(members, graph) {
        findings.find("I9", flow.id, "waits for itself");
    }
    let positions: BTreeSet<_> = members.iter().map(|(_, membership)| membership.position).collect();
    let nodes: BTreeSet<_> = members.iter().map(|(_, membership)| &membership.node).collect();
    if positions.len() != members.len() || nodes.len() != members.len() {
        findings.find("I10", flow.id, "two members have one place or one name");
    }
}

/// I9: whether the edges of a flow form a cycle, in which members would wait for each other forever.
fn waits_for_itself(members: &[(&Execution, &Membership)], graph: &Graph<'_>) -> bool {
    let upstreams = |id: &ExecutionId| graph.incoming.get(id).into_iter().flatten().map(|e| e.upstream_execution_id);
    let mut ahead: BTreeMap<_, _> = members.iter().map(|(e, _)| (e.id, upstreams(&e.id).count())).collect();
    let mut below: BTreeMap<ExecutionId, Vec<ExecutionId>> = BTreeMap::new();
    for id in ahead.keys() {
        upstreams(id).for_each(|upstream| below.entry(upstream).or_default().push(*id));
    }
    let mut free: Vec<_> = ahead.iter().filter(|(_, count)| **count == 0).map(|(id, _)| *id).collect();
    let mut ordered = 0;
    while let Some(id) = free.pop() {
        ordered += 1;
        for downstream in below.get(&id).into_iter().flatten() {
            let count = ahead.entry(*downstream).or_default();
            *count -= 1;
            if *count == 0 {
                free.push(*downstream);
            }
        }
    }
    ordered < ahead.len()
}

/// I2, I9 and I10: a flow ends with its last member, spares no others when cancelled, and is staged with its members.
fn check_flow_end(flow: &Flow, members: &[(&Execution, &Membership)], findings: &mut Findings) {
    if flow.ended_at.is_some() != flow.is_over() {
        findings.find("I2", flow.id, format!("is over: {}, ended at {:?}", flow.is_over(), flow.ended_at));
    }
    let live = || members.iter().map(|(execution, _)| execution).filter(|execution| !execution.is_finished());
    if flow.member_sweep.is_none() && live().any(|execution| !flow.spares(execution)) {
        findings.find("I10", flow.id, "is cancelled, and a member it does not spare goes on");
    }
    let opened = flow.staging.is_none() && flow.member_sweep.is_none();
    if opened && live().any(|execution| execution.is_staged()) {
        findings.find("I9", flow.id, "is there, and a member of it is still staged");
    }
    if flow.staging.is_some() && live().any(|execution| !execution.is_staged()) {
        findings.find("I10", flow.id, "is staged, and a member of it is not");
    }
}

/// I18: the events of a flow are numbered without gaps up to the last.
fn check_events(flow: &Flow, snapshot: &Snapshot, findings: &mut Findings) {
    let events = snapshot.flow_events.get(&flow.id).map_or(&[][..], Vec::as_slice);
    let gapless = events.windows(2).all(|pair| pair[0].seq + 1 == pair[1].seq && pair[0].at <= pair[1].at);
    if !gapless || events.last().map_or(0, |last| last.seq + 1) != flow.events {
        findings.find("I18", flow.id, "its events have a gap, or do not end with the last");
    }
}

/// I10 and I17: a member agrees with its flow, its edges and the sizes of its payload and result.
fn member(
    execution: &Execution,
    membership: &Membership,
    snapshot: &Snapshot,
    graph: &Graph<'_>,
    findings: &mut Findings,
) {
    let flow = snapshot.flows.get(&membership.flow_id);
    if flow.is_none() {
        findings.find("I10", execution.id, format!("is a member of {}, which is gone", membership.flow_id));
    }
    let dependents = graph.outgoing.get(&execution.id).copied().unwrap_or(0);
    if dependents != membership.dependents && !flow.is_some_and(Flow::is_being_forgotten) {
        findings.find("I10", execution.id, format!("does not have {} dependents", membership.dependents));
    }
    let result = snapshot.results.get(&execution.id).map(|result| result.bytes.len() as u64);
    if execution.is_finished() && result != membership.result_bytes {
        let what = format!("says its result has {:?} bytes, has {result:?}", membership.result_bytes);
        findings.find("I17", execution.id, what);
    }
    let payload = snapshot.payloads.get(&execution.id).map(|payload| payload.bytes.len() as u64);
    if payload.is_some_and(|bytes| bytes != execution.input_size()) {
        findings.find("I17", execution.id, "its payload is not as long as it says");
    }
    let entering = graph.incoming.get(&execution.id).into_iter().flatten();
    let inputs = entering.filter(|edge| matches!(edge.passes, Some(PassMode::Input(_)))).filter_map(|e| e.passed_bytes);
    let (count, bytes) = inputs.fold((0, 0), |(count, sum), bytes| (count + 1, sum + bytes));
    if (count, bytes) != (membership.inputs, membership.input_bytes) {
        findings.find("I17", execution.id, format!("was passed {count} inputs of {bytes} bytes, and counts others"));
    }
}

/// I9 and I10: the join of a blocked member is pending, of a runnable one satisfied, and of a skipped one impossible.
fn waits_for_its_join(execution: &Execution, snapshot: &Snapshot, findings: &mut Findings) {
    // A join may be defined before it has edges.
    let group = snapshot.groups.get(&execution.id).filter(|group| group.n > 0);
    let state = group.map_or(GroupState::Satisfied, |group| group.state);
    let (first, begun) = (group.is_none_or(|g| g.round == 0), matches!(execution.attempt, AttemptSlot::Open(_)));
    let propagation = execution.membership.as_ref().and_then(|m| m.pending_propagation);
    let waited = execution.last_lease.as_ref().is_some_and(|last| last.ended == LeaseEnding::WaitingForChildren);
    match &execution.phase {
        Phase::Blocked { on: Blocker::Dependencies, .. } if state != GroupState::Pending => {
            findings.find("I9", execution.id, format!("is blocked, and its join is {state}"));
        }
        Phase::Blocked { on: Blocker::Reopening, .. } if propagation.is_none() => {
            findings.find("I9", execution.id, "waits for dependents that know already");
        }
        _ if execution.is_ready_or_delayed() && !begun && first && state != GroupState::Satisfied => {
            findings.find("I10", execution.id, format!("may start, and its join is {state}"));
        }
        _ if execution.is_ready() && waited && !first && state == GroupState::Pending => {
            findings.find("I10", execution.id, "goes on, and the children it waited for are not done");
        }
        Phase::Finished { outcome: Outcome::Skipped, .. } if state != GroupState::Impossible => {
            findings.find("I10", execution.id, format!("was skipped, and its join is {state}"));
        }
        _ => {}
    }
}

/// I9: an edge's state follows from its upstream, or a propagation to it is pending.
fn check_edge_state(edge: &Edge, snapshot: &Snapshot, findings: &mut Findings) {
    let end = |id: &ExecutionId| {
        let member = snapshot.executions.get(id);
        member.filter(|member| member.membership.as_ref().is_some_and(|m| m.flow_id == edge.flow_id))
    };
    let (Some(upstream), Some(downstream)) = (end(&edge.upstream_execution_id), end(&edge.downstream_execution_id))
    else {
        if !snapshot.flows.get(&edge.flow_id).is_some_and(Flow::is_being_forgotten) {
            findings.find("I10", edge.id, "goes from or to what is not in its flow");
        }
        return;
    };
    let (propagation, expected) = match upstream.phase {
        Phase::Finished { outcome, .. } => (Propagation::End, EdgeState::from(outcome)),
        _ => (Propagation::Replay { reopen: false }, EdgeState::Pending),
    };
    let owed = upstream.membership.as_ref().and_then(|m| m.pending_propagation).is_some_and(|is| {
        let kind = matches!(
            (is.what, propagation),
            (Propagation::End, Propagation::End) | (Propagation::Replay { .. }, Propagation::Replay { .. })
        );
        kind && is.after.is_none_or(|after| after < edge.id)
    });
    if edge.state != expected && !owed {
        findings.find("I9", edge.id, format!("is {}, should be {expected}, and nothing is pending", edge.state));
    }
    if !snapshot.groups.contains_key(&downstream.id) {
        findings.find("I10", edge.id, "enters what has no group");
    }
}

/// I9 and I10: a group counts each edge of its round once, and its join is decided as soon as the counts decide it.
fn counted(group: &Group, graph: &Graph<'_>, findings: &mut Findings) {
    let entering = graph.incoming.get(&group.downstream_execution_id).into_iter().flatten();
    let current: Vec<_> = entering.filter(|edge| edge.round == group.round).collect();
    let of = |state| current.iter().filter(|edge| edge.state == state).count();
    let is = [current.len(), of(EdgeState::Satisfied), of(EdgeState::Failed), of(EdgeState::Skipped)];
    let says = [group.n, group.succeeded, group.failed, group.skipped].map(|count| count as usize);
    if is != says {
        findings.find("I10", group.downstream_execution_id, format!("its group counts {says:?}, has {is:?}"));
    }
    if group.passes_payload != current.iter().any(|edge| edge.passes == Some(PassMode::Payload)) {
        let what = format!("its group says {} to a payload that is passed on", group.passes_payload);
        findings.find("I10", group.downstream_execution_id, what);
    }
    // A join is not decided while edges are still to be added.
    let short = group.n == 0 || group.join.is_short(group.n);
    if group.state == GroupState::Pending && group.verdict() != GroupState::Pending && !short {
        findings.find("I9", group.downstream_execution_id, format!("its join is {}, undecided", group.verdict()));
    }
}

/// I8: the indexes of flows follow from the records.
fn indexes(snapshot: &Snapshot, findings: &mut Findings) {
    let mut computed: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for (id, flow) in &snapshot.flows {
        for (index, score) in entries(flow) {
            computed.entry(index).or_default().insert(*id, score);
        }
    }
    findings.compare(&computed, &snapshot.flow_indexes, |_, id| id.to_string());
}

/// I1: finds records of a flow that does not exist.
fn orphans(snapshot: &Snapshot, findings: &mut Findings) {
    let mut orphan = |id: &FlowId, what: &str| {
        if !snapshot.flows.contains_key(id) {
            findings.find("I1", id, format!("is gone, its {what} is not"));
        }
    };
    snapshot.edges.keys().for_each(|(id, _)| orphan(id, "edge"));
    snapshot.groups.values().for_each(|group| orphan(&group.flow_id, "group"));
    snapshot.flow_events.keys().for_each(|id| orphan(id, "event"));
    snapshot.flow_keys.keys().for_each(|(id, _)| orphan(id, "key"));
}

#[cfg(test)]
mod tests {
    use super::super::violated;
    use super::*;
    use crate::flow::fixture::{FlowFixture, graph};
    use crate::limits;
    use crate::operation::PumpArgs;

    /// Returns the findings after a healthy flow of three members was damaged.
    fn found(damage: impl FnOnce(&mut Snapshot, &dyn Fn(&str) -> ExecutionId)) -> Vec<&'static str> {
        let mut flow = FlowFixture::of("a>b b>c");
        flow.run_until("a");
        let damage = |snapshot: &mut Snapshot| damage(snapshot, &|name| flow.member(name));
        let mut found = violated(|snapshot| examine(snapshot, 0), &flow.model.snapshot(0), damage);
        found.dedup();
        found
    }

    fn the_flow(snapshot: &mut Snapshot) -> &mut Flow {
        snapshot.flows.values_mut().next().unwrap()
    }

    #[test]
    fn numbers_that_do_not_add_up_are_found() {
        assert_eq!(found(|snapshot, _| the_flow(snapshot).failed_leaves = 1), ["I10"]);
        assert_eq!(found(|snapshot, _| the_flow(snapshot).edges = 3), ["I10"]);
        assert_eq!(found(|snapshot, _| the_flow(snapshot).counts = Counts::default()), ["I10", "I2"]);
        let uncount = |snapshot: &mut Snapshot, id: &dyn Fn(&str) -> ExecutionId| {
            snapshot.groups.get_mut(&id("b")).unwrap().succeeded = 0;
        };
        assert_eq!(found(uncount), ["I10"]);
        let forget_payload = |snapshot: &mut Snapshot, id: &dyn Fn(&str) -> ExecutionId| {
            snapshot.groups.get_mut(&id("b")).unwrap().passes_payload = true;
        };
        assert_eq!(found(forget_payload), ["I10"]);
    }

    #[test]
    fn a_submission_that_is_half_forgotten_is_in_order() {
        let edges: Vec<_> = (0..450).map(|n| format!("a>n{n}")).collect();
        let mut flow = FlowFixture::empty();
        let parts = graph(&edges.join(" "), &[]).plan().unwrap();
        flow.parts(&parts[..2]);
        flow.now = flow.now + limits::STAGING_MS;
        flow.ask(PumpArgs { partition: 0 }).unwrap();
        let snapshot = flow.model.snapshot(0);
        assert!(!snapshot.executions.is_empty() && snapshot.executions.len() < 400);
        assert_eq!(examine(&snapshot, 0), []);
    }

    #[test]
    fn the_doctor_finds_an_end_that_was_not_propagated() {
        let untold = |snapshot: &mut Snapshot, id: &dyn Fn(&str) -> ExecutionId| {
            let group = snapshot.groups.get_mut(&id("b")).unwrap();
            (group.succeeded, group.state) = (0, GroupState::Pending);
            let edge = snapshot.edges.values_mut().find(|edge| edge.downstream_execution_id == id("b")).unwrap();
            edge.state = EdgeState::Pending;
        };
        assert!(found(untold).contains(&"I9"));
    }

    #[test]
    fn a_start_ahead_of_the_join_is_found() {
        let early = |snapshot: &mut Snapshot, id: &dyn Fn(&str) -> ExecutionId| {
            snapshot.executions.get_mut(&id("c")).unwrap().phase = Phase::Waiting;
        };
        assert!(found(early).contains(&"I10"));
        let stuck = |snapshot: &mut Snapshot, id: &dyn Fn(&str) -> ExecutionId| {
            let phase = Phase::Blocked { on: Blocker::Dependencies, until: None };
            snapshot.executions.get_mut(&id("b")).unwrap().phase = phase;
        };
        assert!(found(stuck).contains(&"I9"));
    }

    #[test]
    fn a_flow_that_waits_for_itself_is_found() {
        let turned = |snapshot: &mut Snapshot, id: &dyn Fn(&str) -> ExecutionId| {
            let edge = snapshot.edges.values_mut().find(|edge| edge.downstream_execution_id == id("b")).unwrap();
            edge.upstream_execution_id = id("c");
        };
        assert!(found(turned).contains(&"I9"));
    }

    #[test]
    fn the_doctor_finds_missing_and_orphaned_flow_records() {
        assert_eq!(found(|snapshot, _| snapshot.flow_indexes.clear()), ["I8"]);
        assert!(found(|snapshot, _| snapshot.flows.clear()).contains(&"I1"));
        let gap = |snapshot: &mut Snapshot, _: &dyn Fn(&str) -> ExecutionId| {
            snapshot.flow_events.values_mut().for_each(|events| drop(events.remove(1)));
        };
        assert_eq!(found(gap), ["I18"]);
    }
}
