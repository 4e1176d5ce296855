//! A submitted flow, and the workers that run it.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use futures_util::{StreamExt, stream};

use super::graph::{Graph, growth, named};
use super::{LeasedExecution, World};
use crate::records::*;

/// Maximum number of members that are completed at once.
const AT_ONCE: usize = 32;

/// A flow in a world. Clones are the same flow.
#[derive(Clone)]
pub struct Flow {
    world: World,
    /// Id of the flow.
    pub id: FlowId,
}

impl World {
    /// Returns a graph built from a text such as `a>b a>c>d x`.
    pub fn graph(&self, text: &str) -> Graph {
        Graph::new(self.clone(), text)
    }

    /// Creates a flow without members that is held open.
    pub async fn held_open(&self) -> Flow {
        self.held_open_in(None).await
    }

    /// Creates a flow without members that is held open, in a trace.
    pub async fn held_open_in(&self, trace: Option<&TraceContext>) -> Flow {
        let header = FlowHeader { trace: trace.cloned().map(Box::new), ..self.new_flow() };
        let created = self.backend.create_flow(CreateFlowArgs { header }).await.unwrap();
        Flow::new(self.clone(), created.flow_id)
    }

    /// Returns the header of a flow on the partition after that of the previous flow, so that claims for one flow do not get
    /// executions of the next.
    pub(super) fn new_flow(&self) -> FlowHeader {
        let config = self.engine_store.partitions();
        let partition = self.flows.fetch_add(1, Ordering::SeqCst) % config.num_flow_partitions;
        let mut header = FlowHeader::new(Kind::parse("etl").unwrap());
        while flow_partition(&header.flow_id, &config).index != partition {
            header.flow_id = FlowId::new();
        }
        header
    }
}

impl Flow {
    pub(super) fn new(world: World, id: FlowId) -> Self {
        Self { world, id }
    }

    /// Returns the partition of the flow and all its members.
    pub fn partition(&self) -> u16 {
        flow_partition(&self.id, &self.world.engine_store.partitions()).index
    }

    /// Returns the execution id of a member.
    pub fn member(&self, name: &str) -> ExecutionId {
        member_id(&self.id, &named(name), &self.world.engine_store.partitions())
    }

    /// Returns the id of an edge.
    pub fn edge(&self, from: &str, to: &str) -> EdgeId {
        edge_id(&self.id, &self.member(from), &self.member(to))
    }

    /// Does everything that is due or pending, as an engine does.
    pub async fn settle(&self) {
        self.world.clock.fire_due_on(self.partition()).await;
    }

    /// Claims every waiting member, and returns the leases by member name.
    pub async fn start(&self) -> BTreeMap<String, LeasedExecution> {
        let worker = self.world.worker("hand");
        let mut started = BTreeMap::new();
        loop {
            let held = worker.claim_on(self.partition(), limits::CLAIM).await;
            if held.is_empty() {
                return started;
            }
            started.extend(held.into_iter().map(|held| (held.node().to_owned(), held)));
        }
    }

    /// Claims the only waiting member.
    pub async fn start_one(&self) -> LeasedExecution {
        let mut started = self.start().await;
        assert_eq!(started.len(), 1, "not one member waits: {:?}", started.keys());
        started.pop_first().unwrap().1
    }

    /// Claims and completes members until none is left. Returns the member names of each round.
    pub async fn run(&self) -> Vec<Vec<String>> {
        let mut rounds = Vec::new();
        loop {
            self.settle().await;
            let started = self.start().await;
            if started.is_empty() {
                return rounds;
            }
            rounds.push(started.keys().cloned().collect());
            complete_all(started.into_values()).await;
        }
    }

    /// Returns the state of a member.
    pub async fn state(&self, name: &str) -> &'static str {
        self.world.state(&self.member(name)).await.as_str()
    }

    /// Returns the states of several members, in order.
    pub async fn states(&self, names: &str) -> Vec<&'static str> {
        let mut states = Vec::new();
        for name in names.split_whitespace() {
            states.push(self.state(name).await);
        }
        states
    }

    /// Returns the flow as callers see it.
    pub async fn info(&self) -> FlowInfo {
        self.world.backend.describe_flow(&self.id).await.unwrap()
    }

    /// Returns the state of the flow as a name.
    pub async fn stands(&self) -> &'static str {
        self.info().await.state.as_str()
    }

    /// Returns the number of members in each state, sorted by name.
    pub async fn counts(&self) -> Vec<(&'static str, u32)> {
        let mut counts: Vec<_> = self.info().await.counts.iter().map(|(state, n)| (state.as_str(), n)).collect();
        counts.sort_unstable();
        counts
    }

    /// Returns every member, read in pages of this size.
    pub async fn members_by(&self, limit: usize) -> Vec<MemberInfo> {
        let (mut members, mut from) = (Vec::new(), Some(0));
        while let Some(start) = from {
            let args = FlowMembersArgs { flow_id: self.id, from: start, limit };
            let page = self.world.backend.flow_members(args).await.unwrap();
            assert!(page.members.len() <= limit);
            members.extend(page.members);
            from = page.next;
        }
        members
    }

    /// Returns every edge, read in pages of this size.
    pub async fn edges_by(&self, limit: usize) -> Vec<EdgeInfo> {
        let (mut edges, mut after) = (Vec::new(), None);
        loop {
            let page = self.world.backend.flow_edges(FlowEdgesArgs { flow_id: self.id, after, limit }).await.unwrap();
            assert!(page.edges.len() <= limit);
            edges.extend(page.edges);
            after = page.next;
            if after.is_none() {
                return edges;
            }
        }
    }

    /// Returns every event of the flow, read in pages of this size.
    pub async fn events_by(&self, limit: usize) -> Vec<FlowEvent> {
        let (mut events, mut from) = (Vec::new(), 0);
        loop {
            let args = FlowEventsArgs { flow_id: self.id, from, limit };
            let page = self.world.backend.flow_events(args).await.unwrap();
            assert!(page.events.len() <= limit && !page.missed);
            if page.events.is_empty() {
                assert_eq!(page.next, from, "a reader at the end stays there");
                return events;
            }
            events.extend(page.events);
            from = page.next;
        }
    }

    /// Returns the events of the flow itself, without the moves of its members.
    pub async fn flow_events(&self) -> Vec<FlowEventKind> {
        let events = self.events_by(limits::PAGE).await.into_iter().map(|event| event.what);
        events.filter(|what| !matches!(what, FlowEventKind::Moved { .. })).collect()
    }

    /// Returns the states a member moved to, in order.
    pub async fn moves_of(&self, name: &str) -> Vec<&'static str> {
        let came_to = |event: FlowEvent| match event.what {
            FlowEventKind::Moved { node, to, .. } if node.as_str() == name => Some(to.as_str()),
            _ => None,
        };
        self.events_by(limits::PAGE).await.into_iter().filter_map(came_to).collect()
    }

    /// Returns the state of an edge.
    pub async fn edge_state(&self, from: &str, to: &str) -> EdgeState {
        let id = self.edge(from, to);
        self.edges_by(limits::PAGE).await.iter().find(|edge| edge.edge_id == id).unwrap().state
    }

    /// Returns the group of the edges into a member.
    pub async fn group(&self, name: &str) -> GroupInfo {
        let members = self.members_by(limits::PAGE).await;
        members.iter().find(|member| member.node.as_str() == name).unwrap().group.unwrap()
    }

    /// Returns the arguments that add members and edges.
    pub fn growth(&self, nodes: &[&str], edges: &[(&str, &str)]) -> GrowFlowArgs {
        growth(self.id, nodes, edges)
    }

    /// Adds members and edges, and checks that they are accepted.
    pub async fn grow(&self, nodes: &[&str], edges: &[(&str, &str)]) -> GrownFlow {
        self.world.backend.grow_flow(self.growth(nodes, edges)).await.unwrap()
    }

    /// Closes the flow to further members.
    pub async fn close(&self) -> ClosedFlow {
        self.world.backend.close_flow(CloseFlowArgs { flow_id: self.id }).await.unwrap()
    }

    /// Cancels the flow.
    pub async fn cancel(&self, policy: CancelPolicy) -> Answer<FlowCancelled> {
        let args = CancelFlowArgs { flow_id: self.id, policy, reason: None, requested_by: None };
        self.world.backend.cancel_flow(args).await
    }

    /// Replays a member, and its dependents as well if requested.
    pub async fn replay(&self, name: &str, reopen_downstream: bool) -> Answer<ReplayedExecution> {
        let execution_id = self.member(name);
        let args = ReplayArgs { reopen_downstream, ..ReplayArgs::new(execution_id) };
        self.world.backend.replay(args).await
    }
}

/// Completes all executions without a result, several at a time.
pub(crate) async fn complete_all(held: impl IntoIterator<Item = LeasedExecution>) {
    let completing = held.into_iter().map(async |held: LeasedExecution| held.complete_with(None).await.unwrap());
    stream::iter(completing).buffer_unordered(AT_ONCE).count().await;
}
