//! Choosing what to do with flows: they are submitted and grown, run and waited for, cancelled and replayed.

use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{
    CancelFlowArgs, CascadeArgs, CloseFlowArgs, CompleteArgs, CreateFlowArgs, FailArgs, FlowEdgesArgs, FlowEventsArgs,
    FlowHeader, FlowMembersArgs, GrowFlowArgs, GrownEdge, JoinSpec, ListFlowsArgs, MemberRef, ReplayArgs,
    SetFlowTagsArgs, WaitForChildrenArgs,
};
use ff_core::execution::Failure;
use ff_core::flow::{CancelPolicy, FlowState, member_id};
use ff_core::payload::Payload;
use ff_core::types::{ExecutionId, FlowId, IdempotencyKey, Kind, Namespace, TagKey, TagValue};
use ff_engine::Orchestration;
use uuid::Uuid;

use super::graph::{graph, join, name, node, passing};
use super::{Job, PARTITIONS, Played, Walk, both};

impl Walk {
    pub(super) async fn choose_in_flows(&mut self) {
        match self.chance.below(100) {
            0..6 => self.submit_flow().await,
            6..8 => self.create_flow().await,
            8..30 => self.claim().await,
            30..50 => self.finish().await,
            50..54 => self.end().await,
            54..62 => self.grow().await,
            62..67 => self.add_children().await,
            67..71 => self.wait_for_children().await,
            71..73 => self.close_flow().await,
            73..75 => self.cancel_flow().await,
            75..76 => self.tag_flow().await,
            76..81 => self.replay().await,
            81..83 => self.cascade().await,
            83..85 => self.suspend().await,
            85..87 => self.deliver().await,
            87..93 => {
                let partition = u16::try_from(self.chance.below(2)).unwrap();
                both!(self, pump(partition));
            }
            _ => self.clock.advance(self.chance.pick(&[1, 10, 500, 1_000, 5_000, 30_000])),
        }
    }

    async fn submit_flow(&mut self) {
        let header = self.header();
        let mut args = graph(&mut self.chance, header);
        if self.chance.one_in(8) {
            // Refused whole: what is at fault is found before anything is written.
            args.edges.push(ff_core::contracts::EdgeSpec { upstream: name(0), downstream: name(0), passes: None });
        }
        let nodes = args.nodes.len();
        if both!(self, submit_flow(args.clone())).is_some() {
            self.remember(args.header.flow_id, nodes);
        }
        if self.chance.one_in(3) {
            both!(self, submit_flow(args.clone()));
            args.nodes[0].payload = Payload::json("2");
            both!(self, submit_flow(args.clone()));
        }
    }

    async fn create_flow(&mut self) {
        let args = CreateFlowArgs { header: self.header() };
        if both!(self, create_flow(args.clone())).is_some() {
            self.remember(args.header.flow_id, 0);
        }
        both!(self, create_flow(args.clone()));
    }

    /// An id of the walk's own, so that a seed repeats.
    fn header(&mut self) -> FlowHeader {
        let nth = self.flows.len() as u128 + 1;
        let uuid = (0x0190_0000_0000_7000_8000 << 48) | (u128::from(self.seed) << 24) | nth;
        FlowHeader {
            flow_id: FlowId::from_uuid(Uuid::from_u128(uuid)),
            namespace: Namespace::parse(self.chance.pick(&["default", "default", "acme"])).unwrap(),
            ..FlowHeader::new(Kind::parse("etl").unwrap())
        }
    }

    fn remember(&mut self, id: FlowId, nodes: usize) {
        self.flows.push(Played { id, nodes: 0 });
        let nth = self.flows.len() - 1;
        self.enrol(nth, nodes);
    }

    /// Notes the next so many nodes of a flow.
    fn enrol(&mut self, flow: usize, count: usize) {
        let Played { id, nodes } = self.flows[flow];
        for n in nodes..nodes + count {
            let id = member_id(&id, &name(n), &PARTITIONS);
            self.jobs.push(Job { id, fences: vec![], granted: vec![] });
        }
        self.flows[flow].nodes += count;
    }

    async fn finish(&mut self) {
        let Some((_, execution_id, fence)) = self.held() else { return };
        if self.chance.one_in(3) {
            let permanent = !self.chance.one_in(3);
            let failure = Failure { category: Kind::parse("x").unwrap(), message: "no".into(), permanent };
            both!(self, fail(FailArgs { execution_id, fence, failure: failure.clone() }));
        } else {
            let result = self.chance.maybe(2, &[Payload::json("\"yes\""), Payload::bytes(vec![0xff, 0, 13, 10])]);
            both!(self, complete(CompleteArgs { execution_id, fence, result: result.clone() }));
        }
    }

    /// Nodes and edges from whoever, with all the mistakes one can make.
    async fn grow(&mut self) {
        let Some(flow) = self.lately() else { return };
        let Played { id, nodes } = self.flows[flow];
        let fresh = self.chance.below(3);
        let all = nodes + fresh;
        let mut args = GrowFlowArgs::new(id);
        args.nodes = (nodes..all).map(|n| node(&mut self.chance, n)).collect();
        for _ in 0..self.chance.below(4).min(all * all) {
            let (from, to) = (self.chance.below(all), self.chance.below(all));
            let forward = if self.chance.one_in(6) { (from, to) } else { (from.min(to), from.max(to)) };
            args.edges.push(GrownEdge {
                upstream: self.member(&id, forward.0),
                downstream: self.member(&id, forward.1),
                passes: passing(&mut self.chance, from, &mut false),
            });
        }
        if self.chance.one_in(4) && all > 0 {
            let member = self.chance.below(all);
            args.joins.push(JoinSpec { member: self.member(&id, member), join: join(&mut self.chance, 2) });
        }
        args.expected_graph_revision = self.chance.maybe(6, &[0, 1, 2]);
        args.idempotency_key = self.chance.maybe(4, &["x", "y z"]).map(|key| IdempotencyKey::parse(key).unwrap());
        self.grow_by(flow, args).await;
    }

    fn member(&mut self, flow: &FlowId, n: usize) -> MemberRef {
        match self.chance.below(2) {
            0 => MemberRef::Node(name(n)),
            _ => MemberRef::Execution(member_id(flow, &name(n), &PARTITIONS)),
        }
    }

    /// A holder adds members it may wait for.
    async fn add_children(&mut self) {
        let Some((_, execution_id, fence)) = self.held() else { return };
        let of =
            |played: &Played| (0..played.nodes).any(|n| member_id(&played.id, &name(n), &PARTITIONS) == execution_id);
        let Some(flow) = self.flows.iter().position(of) else { return };
        let Played { id, nodes } = self.flows[flow];
        let mut args = GrowFlowArgs { holder: Some((execution_id, fence)), ..GrowFlowArgs::new(id) };
        args.nodes = (nodes..nodes + 1 + self.chance.below(2)).map(|n| node(&mut self.chance, n)).collect();
        let downstream = MemberRef::Execution(execution_id);
        let mut injected = false;
        for n in nodes..nodes + args.nodes.len() {
            let passes = passing(&mut self.chance, n, &mut injected);
            args.edges.push(GrownEdge { upstream: MemberRef::Node(name(n)), downstream: downstream.clone(), passes });
        }
        if self.chance.one_in(3) {
            args.joins.push(JoinSpec { member: downstream, join: join(&mut self.chance, args.nodes.len()) });
        }
        self.grow_by(flow, args).await;
        if self.chance.one_in(2) {
            both!(self, wait_for_children(WaitForChildrenArgs { execution_id, fence }));
        }
    }

    async fn grow_by(&mut self, flow: usize, args: GrowFlowArgs) {
        let Some(grown) = both!(self, grow_flow(args.clone())) else { return };
        // What was asked for under a key that is known was given before.
        let new = args.nodes.first().map(|node| member_id(&args.flow_id, &node.name, &PARTITIONS));
        if new.is_some() && grown.members.first().copied() == new {
            self.enrol(flow, grown.members.len());
        }
        if self.chance.one_in(5) {
            both!(self, grow_flow(args.clone()));
        }
    }

    async fn wait_for_children(&mut self) {
        let Some((_, execution_id, fence)) = self.held() else { return };
        let args = WaitForChildrenArgs { execution_id, fence };
        let waited = both!(self, wait_for_children(args.clone()));
        self.seen.extend(waited.map(|waited| format!("children {}", waited.state)));
        both!(self, wait_for_children(args.clone()));
    }

    async fn close_flow(&mut self) {
        let Some(flow) = self.lately() else { return };
        let unknown = FlowId::from_uuid(Uuid::nil());
        let flow_id = self.chance.maybe(8, &[unknown]).unwrap_or(self.flows[flow].id);
        both!(self, close_flow(CloseFlowArgs { flow_id }));
    }

    async fn cancel_flow(&mut self) {
        let Some(flow) = self.lately() else { return };
        for _ in 0..self.chance.pick(&[1, 1, 2]) {
            let args = CancelFlowArgs {
                flow_id: self.flows[flow].id,
                policy: self.chance.pick(CancelPolicy::ALL),
                reason: self.chance.maybe(2, &[String::new(), "too\nlate é".into()]),
                requested_by: self.chance.maybe(2, &["ada".into()]),
            };
            let cancelled = both!(self, cancel_flow(args.clone()));
            self.seen.extend(cancelled.map(|cancelled| format!("cancelled by {}", cancelled.policy)));
        }
    }

    async fn tag_flow(&mut self) {
        let Some(flow) = self.lately() else { return };
        let value = TagValue::parse(self.chance.pick(&["data", "Zoë's: {1}"])).unwrap();
        let tags = [(TagKey::parse("team").unwrap(), value)].into();
        let args = SetFlowTagsArgs { flow_id: self.flows[flow].id, tags };
        both!(self, set_flow_tags(args.clone()));
    }

    async fn replay(&mut self) {
        let Some(execution_id) = self.some_member() else { return };
        let reopen_downstream = self.chance.one_in(2);
        let args = ReplayArgs { execution_id, reason: None, requested_by: None, reopen_downstream };
        both!(self, replay(args.clone()));
    }

    async fn cascade(&mut self) {
        let Some(execution_id) = self.some_member() else { return };
        both!(self, cascade(CascadeArgs { execution_id, owed_since: None }));
    }

    /// A flow of the last few.
    fn lately(&mut self) -> Option<usize> {
        let lately = self.flows.len().min(3);
        (lately > 0).then(|| self.flows.len() - 1 - self.chance.below(lately))
    }

    /// A member of one of them.
    fn some_member(&mut self) -> Option<ExecutionId> {
        let flow = self.lately()?;
        let Played { id, nodes } = self.flows[flow];
        (nodes > 0).then(|| member_id(&id, &name(self.chance.below(nodes)), &PARTITIONS))
    }

    /// Compares what callers read of flows.
    pub(super) async fn look_at_flows(&mut self) {
        let ids: Vec<_> = self.flows.iter().rev().take(2).map(|played| played.id).collect();
        for flow_id in ids {
            both!(self, describe_flow(&flow_id));
            both!(self, end_of_flow(&flow_id));
            let (mut from, mut after, mut seq) = (Some(0), None, 0);
            while let Some(at) = from {
                let page = both!(self, flow_members(FlowMembersArgs { flow_id, from: at, limit: 100 }));
                from = page.and_then(|page| page.next);
            }
            loop {
                let page = both!(self, flow_edges(FlowEdgesArgs { flow_id, after, limit: 3 }));
                after = page.and_then(|page| page.next);
                if after.is_none() {
                    break;
                }
            }
            while let Some(page) = both!(self, flow_events(FlowEventsArgs { flow_id, from: seq, limit: 7 })) {
                if page.next == seq {
                    break;
                }
                seq = page.next;
            }
        }
        let mut args = ListFlowsArgs {
            namespace: Namespace::parse(self.chance.pick(&["default", "acme"])).unwrap(),
            kind: None,
            state: self.chance.maybe(2, FlowState::ALL),
            tag: None,
            after: None,
            limit: 2,
        };
        while let Some(page) = both!(self, list_flows(args.clone())) {
            args.after = page.next;
            if args.after.is_none() {
                break;
            }
        }
    }
}
