//! What a flow told of itself, held against its graph: nothing started before its join held, nothing was skipped that
//! could still run, and nothing started after a cancellation that does not spare it.

use std::collections::BTreeMap;

use ff_core::backend::EngineStore;
use ff_core::contracts::{FlowEventsArgs, FlowMembersArgs, SubmitFlowArgs};
use ff_core::flow::{CancelPolicy, FlowEvent, FlowState, FlowWhat, Join};
use ff_core::limits;
use ff_core::state::PublicState;
use ff_core::types::NodeName;

/// Fails when what happened in a flow that has ended does not fit its graph.
pub async fn check_flow(store: &dyn EngineStore, graph: &SubmitFlowArgs) {
    let id = graph.header.flow_id;
    let info = store.describe_flow(&id).await.unwrap();
    let args = FlowEventsArgs { flow_id: id, from: 0, limit: limits::PAGE };
    let events = store.flow_events(args).await.unwrap().events;
    let mut history = History { graph, states: born(graph), cancelled: None };
    for (event, nth) in events.iter().zip(0..) {
        assert_eq!(event.seq, nth, "{id}: an event is missing");
        history.follow(event);
    }
    let members = FlowMembersArgs { flow_id: id, from: 0, limit: limits::PAGE };
    let members = store.flow_members(members).await.unwrap().members;
    let read: BTreeMap<_, _> = members.into_iter().map(|member| (member.node, member.public_state)).collect();
    assert_eq!(read, history.states, "{id}: what was told is not what is");
    let ends = events.iter().filter(|event| matches!(event.what, FlowWhat::Ended { .. })).count();
    assert_eq!((ends, info.ended_at.is_some()), (1, true), "{id}");
    assert_eq!(info.state, history.end(), "{id}");
}

struct History<'g> {
    graph: &'g SubmitFlowArgs,
    states: BTreeMap<NodeName, PublicState>,
    cancelled: Option<CancelPolicy>,
}

/// What is submitted in several parts waits for the last of them.
fn born(graph: &SubmitFlowArgs) -> BTreeMap<NodeName, PublicState> {
    let is_staged = graph.clone().plan().unwrap().len() > 1;
    let state = |node: &NodeName| match is_staged || graph.edges.iter().any(|edge| edge.downstream == *node) {
        true => PublicState::WaitingChildren,
        false => PublicState::Waiting,
    };
    graph.nodes.iter().map(|node| (node.name.clone(), state(&node.name))).collect()
}

impl History<'_> {
    fn follow(&mut self, event: &FlowEvent) {
        match &event.what {
            FlowWhat::Cancelled { policy } => self.cancelled = Some(*policy),
            FlowWhat::Moved { node, from, to, .. } => {
                assert_eq!(self.states.get(node), Some(from), "{event:?}");
                assert!(!from.is_terminal(), "an end is an end: {event:?}");
                let (met, possible) = self.join_of(node);
                if *to == PublicState::Active {
                    assert!(met, "it started before its join held: {event:?}");
                    let all = Some(CancelPolicy::CancelAll);
                    assert_ne!(self.cancelled, all, "it started after the cancellation: {event:?}");
                }
                if *to == PublicState::Skipped {
                    assert!(!possible, "it could still have run: {event:?}");
                }
                self.states.insert(node.clone(), *to);
            }
            _ => {}
        }
    }

    /// Whether the join of a node holds by now, and whether it can.
    fn join_of(&self, node: &NodeName) -> (bool, bool) {
        let upstreams = self.graph.edges.iter().filter(|edge| edge.downstream == *node);
        let states: Vec<_> = upstreams.map(|edge| self.states[&edge.upstream]).collect();
        let succeeded = states.iter().filter(|state| **state == PublicState::Completed).count();
        let live = states.iter().filter(|state| !state.is_terminal()).count();
        let needs = match self.graph.nodes.iter().find(|known| known.name == *node).unwrap().join {
            Join::AllOf => states.len(),
            Join::AnyOf { .. } => 1,
            Join::Quorum { k, .. } => k as usize,
        };
        (succeeded >= needs, succeeded + live >= needs)
    }

    /// How the flow must have ended: by what nobody depends on.
    fn end(&self) -> FlowState {
        let last = |node: &&NodeName| self.graph.edges.iter().all(|edge| edge.upstream != **node);
        let succeeded = self.states.keys().filter(last).all(|node| self.states[node] == PublicState::Completed);
        match (self.cancelled, succeeded) {
            (Some(_), _) => FlowState::Cancelled,
            (None, true) => FlowState::Completed,
            (None, false) => FlowState::Failed,
        }
    }
}
