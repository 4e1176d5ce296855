//! The domain of flows, over the model.

use std::cmp::Reverse;

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{
    EdgeInfo, EdgesPage, FlowCursor, FlowEdgesArgs, FlowEnd, FlowEventsArgs, FlowEventsPage, FlowInfo, FlowMembersArgs,
    FlowsPage, Input, ListFlowsArgs, MemberInfo, MembersPage,
};
use ff_core::engine_error::Code;
use ff_core::flow::{Edge, Flow};
use ff_core::model::Model;
use ff_core::query::{DescribeFlow, EndOfFlow, NamespaceOfFlow};
use ff_core::types::{ExecutionId, FlowId, Namespace};
use ff_core::view::{EdgesOf, MembersOf, Side, View};

use crate::MemoryBackend;

impl Handle<DescribeFlow, FlowInfo> for MemoryBackend {
    async fn handle(&self, DescribeFlow { flow_id: ref id }: DescribeFlow) -> Answer<FlowInfo> {
        self.look_at_flow(id, |_, flow| Ok(flow.info()))
    }
}

impl Handle<EndOfFlow, Option<FlowEnd>> for MemoryBackend {
    async fn handle(&self, EndOfFlow { flow_id: ref id }: EndOfFlow) -> Answer<Option<FlowEnd>> {
        self.look_at_flow(id, |_, flow| Ok(flow.info().end()))
    }
}

impl Handle<NamespaceOfFlow, Option<Namespace>> for MemoryBackend {
    async fn handle(&self, NamespaceOfFlow { flow_id: ref id }: NamespaceOfFlow) -> Answer<Option<Namespace>> {
        Ok(self.model()?.find_flow(id).map(|flow| flow.namespace.clone()))
    }
}

impl Handle<FlowMembersArgs, MembersPage> for MemoryBackend {
    async fn handle(&self, args: FlowMembersArgs) -> Answer<MembersPage> {
        self.look_at_flow(&args.flow_id, |model, flow| {
            let all = model.members(&MembersOf { flow: flow.id, after: None, limit: usize::MAX }).unwrap_or_default();
            let info = |id: &ExecutionId| MemberInfo::of(model.find(id)?, model.group(id).ok().flatten());
            let mut members: Vec<_> = all.iter().filter_map(info).filter(|info| info.position >= args.from).collect();
            members.sort_unstable_by_key(|info| info.position);
            let next = members.get(args.limit).map(|info| info.position);
            members.truncate(args.limit);
            Ok(MembersPage { members, next })
        })
    }
}

impl Handle<FlowEdgesArgs, EdgesPage> for MemoryBackend {
    async fn handle(&self, args: FlowEdgesArgs) -> Answer<EdgesPage> {
        self.look_at_flow(&args.flow_id, |model, flow| {
            let mut rest = model.edges_after(&flow.id, args.after);
            let edges: Vec<EdgeInfo> = rest.by_ref().take(args.limit).map(EdgeInfo::from).collect();
            let next = edges.last().map(|edge| edge.edge_id).filter(|_| rest.next().is_some());
            Ok(EdgesPage { edges, next })
        })
    }
}

impl Handle<ListFlowsArgs, FlowsPage> for MemoryBackend {
    async fn handle(&self, args: ListFlowsArgs) -> Answer<FlowsPage> {
        Ok(page(&*self.model()?, &args))
    }
}

impl Handle<FlowEventsArgs, FlowEventsPage> for MemoryBackend {
    async fn handle(&self, args: FlowEventsArgs) -> Answer<FlowEventsPage> {
        self.look_at_flow(&args.flow_id, |model, flow| Ok(FlowEventsPage::of(flow, model.flow_events(&flow.id), &args)))
    }
}

impl MemoryBackend {
    /// Reads one flow, and whatever is kept beside it, as they stand together.
    fn look_at_flow<T>(&self, id: &FlowId, read: impl FnOnce(&Model, &Flow) -> Answer<T>) -> Answer<T> {
        let model = self.model()?;
        let flow = model.find_flow(id).ok_or(Code::FlowNotFound)?;
        read(&model, flow)
    }
}

/// The named inputs a worker is handed with its claim.
pub(crate) fn handed(model: &Model, flow: &FlowId, id: &ExecutionId) -> Vec<Input> {
    let query = EdgesOf { flow: *flow, member: *id, side: Side::Incoming, after: None, limit: usize::MAX };
    let ids = model.edges(&query).unwrap_or_default();
    let edges: Vec<&Edge> = ids.iter().filter_map(|edge| model.edge(flow, edge).ok().flatten()).collect();
    Input::handed(edges, |upstream| model.result(upstream).cloned())
}

fn page(model: &Model, args: &ListFlowsArgs) -> FlowsPage {
    let begins = |flow: &&Flow| args.after.is_none_or(|after| FlowCursor::of(flow) < after);
    let mut rows: Vec<_> = model.flows().filter(|flow| args.wants(flow)).filter(begins).collect();
    rows.sort_unstable_by_key(|flow| Reverse(FlowCursor::of(flow)));
    let more = rows.len() > args.limit;
    rows.truncate(args.limit);
    FlowsPage {
        next: rows.last().filter(|_| more).map(|flow| FlowCursor::of(flow)),
        flows: rows.into_iter().map(Flow::info).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ff_core::backend::{EngineStore, Perform};
    use ff_core::clock::ManualClock;
    use ff_core::contracts::{
        CancelFlowArgs, CascadeArgs, Cascaded, ClaimArgs, Claimed, CompleteArgs, EdgeSpec, Filter, FlowHeader,
        ListArgs, NodeSpec, ReplayArgs, SetFlowTagsArgs, SubmitArgs, SubmitFlowArgs,
    };
    use ff_core::doctor::examine;
    use ff_core::entropy::SeededEntropy;
    use ff_core::flow::{CancelPolicy, EdgeState, FlowEventKind, FlowState, Join, OnSatisfied, PassMode, member_id};
    use ff_core::lease::Holder;
    use ff_core::limits;
    use ff_core::partition::{PartitionConfig, flow_partition};
    use ff_core::payload::Payload;
    use ff_core::state::PublicState;
    use ff_core::types::{InputName, Kind, Namespace, NodeName, TagKey, TagValue, TimestampMs};
    use ff_engine::Orchestration;

    use super::*;

    fn name(text: &str) -> NodeName {
        NodeName::parse(text).unwrap()
    }

    fn node(text: &str) -> NodeSpec {
        NodeSpec::new(name(text), Kind::parse("work").unwrap(), Payload::json("1"))
    }

    fn edge(from: &str, to: &str) -> EdgeSpec {
        EdgeSpec { upstream: name(from), downstream: name(to), passes: None }
    }

    fn flow(nodes: &[&str], edges: &[(&str, &str)]) -> SubmitFlowArgs {
        SubmitFlowArgs {
            header: FlowHeader::new(Kind::parse("etl").unwrap()),
            nodes: nodes.iter().map(|text| node(text)).collect(),
            edges: edges.iter().map(|(from, to)| edge(from, to)).collect(),
        }
    }

    fn partition_of(id: &FlowId) -> u16 {
        flow_partition(id, &PartitionConfig::default()).index
    }

    async fn claim(store: &MemoryBackend, id: &FlowId, max: usize) -> Vec<Claimed> {
        let args = ClaimArgs { max, ..ClaimArgs::new(partition_of(id), Holder::parse("w", "w-1").unwrap()) };
        store.claim(args).await.unwrap().claimed
    }

    async fn complete(store: &MemoryBackend, claimed: &Claimed, result: Option<Payload>) {
        let (execution_id, fence) = (claimed.task.execution_id, claimed.task.fence);
        store.complete(CompleteArgs { execution_id, fence, result }).await.unwrap();
    }

    /// Works until there is nothing left to do, so many at once, and pumps what is owed.
    async fn run(store: &MemoryBackend, id: &FlowId, at_once: usize) {
        let partition = partition_of(id);
        loop {
            while propagation(store, partition).await && claim_nothing(store, id).await {
                store.pump(partition).await.unwrap();
            }
            let claimed = claim(store, id, at_once).await;
            if claimed.is_empty() {
                return;
            }
            for one in claimed {
                complete(store, &one, None).await;
            }
        }
    }

    async fn propagation(store: &MemoryBackend, partition: u16) -> bool {
        let now = store.now().await.unwrap();
        store.sweep(partition).await.unwrap().next_due.is_some_and(|at| at <= now)
    }

    async fn claim_nothing(store: &MemoryBackend, id: &FlowId) -> bool {
        store.sweep(partition_of(id)).await.unwrap().ready.is_empty()
    }

    async fn healthy(store: &MemoryBackend, id: &FlowId) {
        let partition = partition_of(id);
        let snapshot = store.snapshot(partition).await.unwrap();
        assert_eq!(examine(&snapshot, partition, store.now().await.unwrap()), []);
    }

    #[tokio::test]
    async fn a_flow_is_seen_whole_with_its_members_edges_and_events() {
        let store = MemoryBackend::default();
        let args = flow(&["a", "b", "c"], &[("a", "b"), ("a", "c")]);
        let id = store.submit_flow(args.clone()).await.unwrap().flow_id;
        assert!(store.submit_flow(args).await.unwrap().duplicate);
        run(&store, &id, 1).await;
        let info = store.describe_flow(&id).await.unwrap();
        assert_eq!((info.state, info.nodes, info.edges), (FlowState::Completed, 3, 2));
        assert_eq!(info.counts.iter().collect::<Vec<_>>(), [(PublicState::Completed, 3)]);
        assert_eq!(store.end_of_flow(&id).await.unwrap().map(|end| end.state), Some(FlowState::Completed));

        let first = store.flow_members(FlowMembersArgs { flow_id: id, from: 0, limit: 2 }).await.unwrap();
        assert_eq!(first.members.iter().map(|member| member.node.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        let rest = store.flow_members(FlowMembersArgs { flow_id: id, from: first.next.unwrap(), limit: 2 }).await;
        assert_eq!(rest.unwrap().members[0].group.unwrap().succeeded, 1);
        let first = store.flow_edges(FlowEdgesArgs { flow_id: id, after: None, limit: 1 }).await.unwrap();
        let rest = store.flow_edges(FlowEdgesArgs { flow_id: id, after: first.next, limit: 1 }).await.unwrap();
        assert!(first.edges.iter().chain(&rest.edges).all(|edge| edge.state == EdgeState::Satisfied));
        assert_eq!(rest.next, None);

        let mut events = Vec::new();
        loop {
            let args = FlowEventsArgs { flow_id: id, from: events.len() as u64, limit: 3 };
            let page = store.flow_events(args).await.unwrap();
            events.extend(page.events);
            if page.ended {
                break;
            }
        }
        assert_eq!(events[0].what, FlowEventKind::Opened { nodes: 3, edges: 2 });
        assert_eq!(events.last().unwrap().what, FlowEventKind::Ended { state: FlowState::Completed });
        healthy(&store, &id).await;
    }

    #[tokio::test]
    async fn a_worker_is_handed_the_results_of_its_upstreams_byte_for_byte() {
        let store = MemoryBackend::default();
        let bytes = Payload::bytes(vec![0, 159, 146, 150, 255, 10]);
        let mut args = flow(&["a", "b"], &[("a", "b")]);
        args.edges[0].passes = Some(PassMode::Input(InputName::parse("image").unwrap()));
        let id = store.submit_flow(args).await.unwrap().flow_id;
        let upstream = claim(&store, &id, 1).await.remove(0);
        assert!(upstream.inputs.is_empty());
        complete(&store, &upstream, Some(bytes.clone())).await;
        let downstream = claim(&store, &id, 1).await.remove(0);
        let [input] = &downstream.inputs[..] else { panic!("not one input") };
        assert_eq!((input.name.as_str(), input.from), ("image", upstream.task.execution_id));
        assert_eq!((input.payload.as_ref(), &downstream.payload), (Some(&bytes), &Payload::json("1")));
    }

    #[tokio::test]
    async fn inputs_past_what_a_claim_carries_are_named_without_their_bytes() {
        let store = MemoryBackend::default();
        let names: Vec<_> = (0..5).map(|n| format!("n{n}")).collect();
        let nodes: Vec<_> = names.iter().map(String::as_str).chain(["z"]).collect();
        let mut args = flow(&nodes, &[]);
        for from in &names {
            let passes = Some(PassMode::Input(InputName::parse(from).unwrap()));
            args.edges.push(EdgeSpec { passes, ..edge(from, "z") });
        }
        let id = store.submit_flow(args).await.unwrap().flow_id;
        let large = Payload::bytes(vec![7; limits::PAYLOAD_BYTES]);
        for one in claim(&store, &id, 5).await {
            complete(&store, &one, Some(large.clone())).await;
        }
        let inputs = claim(&store, &id, 1).await.remove(0).inputs;
        assert_eq!(inputs.iter().filter(|input| input.payload.is_some()).count(), 4);
        assert_eq!(store.result(&inputs[4].from).await.unwrap().result, Some(large));
    }

    #[tokio::test]
    async fn a_flow_of_ten_thousand_members_is_submitted_run_and_listed() {
        let store = MemoryBackend::default();
        let mut args = flow(&[], &[]);
        args.nodes = (0..limits::FLOW_NODES).map(|n| node(&format!("n{n}"))).collect();
        let id = store.submit_flow(args).await.unwrap().flow_id;
        let listing = ListArgs { filter: Filter::everything(Namespace::default_name()), after: None, limit: 10 };
        assert_eq!(store.describe_flow(&id).await.unwrap().nodes, 10_000);
        let one = member_id(&id, &name("n77"), &PartitionConfig::default());
        assert_eq!(store.describe(&one).await.unwrap().public_state, PublicState::WaitingChildren);
        run(&store, &id, 500).await;
        assert_eq!(store.describe_flow(&id).await.unwrap().state, FlowState::Completed);
        assert_eq!(store.list(listing).await.unwrap().executions.len(), 10);
    }

    #[tokio::test]
    async fn a_submission_that_stopped_half_way_is_not_there() {
        let clock = Arc::new(ManualClock::at(TimestampMs(1_000)));
        let store = MemoryBackend::new(PartitionConfig::default(), clock.clone(), Arc::new(SeededEntropy::new(1)));
        let mut args = flow(&[], &[]);
        args.nodes = (0..500).map(|n| node(&format!("n{n}"))).collect();
        let (id, first) = (args.header.flow_id, args.clone().plan().unwrap().remove(0));
        store.stage_flow(first).await.unwrap();
        assert_eq!(store.describe_flow(&id).await.unwrap_err().code(), Code::FlowNotFound);
        let staged = member_id(&id, &name("n0"), &PartitionConfig::default());
        assert_eq!(store.describe(&staged).await.unwrap_err().code(), Code::ExecutionNotFound);
        assert!(claim(&store, &id, 10).await.is_empty());
        clock.advance(limits::STAGING_MS);
        for _ in 0..3 {
            store.pump(partition_of(&id)).await.unwrap();
        }
        assert!(store.snapshot(partition_of(&id)).await.unwrap().executions.is_empty());
        assert!(!store.submit_flow(args).await.unwrap().duplicate);
    }

    #[tokio::test]
    async fn flows_are_listed_newest_first_by_what_is_asked_for() {
        let clock = Arc::new(ManualClock::at(TimestampMs(1_000)));
        let store = MemoryBackend::new(PartitionConfig::default(), clock.clone(), Arc::new(SeededEntropy::new(1)));
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.push(store.submit_flow(flow(&["a"], &[])).await.unwrap().flow_id);
            clock.advance(1);
        }
        let (key, value) = (TagKey::parse("team").unwrap(), TagValue::parse("data").unwrap());
        let tags = [(key.clone(), value.clone())].into();
        store.set_flow_tags(SetFlowTagsArgs { flow_id: ids[0], tags }).await.unwrap();
        run(&store, &ids[1], 1).await;
        let args = ListFlowsArgs { limit: 2, ..ListFlowsArgs::new(Namespace::default_name()) };
        let listed = async |args: ListFlowsArgs| {
            let page = store.list_flows(args).await.unwrap();
            (page.flows.iter().map(|flow| flow.flow_id).collect::<Vec<_>>(), page.next)
        };
        let (first, next) = listed(args.clone()).await;
        assert_eq!(first, [ids[2], ids[1]]);
        assert_eq!(listed(ListFlowsArgs { after: next, ..args.clone() }).await, (vec![ids[0]], None));
        assert_eq!(listed(ListFlowsArgs { tag: Some((key, value)), ..args.clone() }).await.0, [ids[0]]);
        assert_eq!(listed(ListFlowsArgs { state: Some(FlowState::Completed), ..args }).await.0, [ids[1]]);
    }

    #[tokio::test]
    async fn a_cancelled_flow_starts_nothing_and_a_member_of_an_ended_one_can_be_replayed() {
        let store = MemoryBackend::default();
        let id = store.submit_flow(flow(&["a", "b"], &[("a", "b")])).await.unwrap().flow_id;
        let cancel = CancelFlowArgs { flow_id: id, policy: CancelPolicy::CancelAll, reason: None, requested_by: None };
        assert_eq!(store.cancel_flow(cancel).await.unwrap().cancelled, 2);
        assert!(claim(&store, &id, 10).await.is_empty());

        let mut args = flow(&["a", "b", "c"], &[("a", "c"), ("b", "c")]);
        args.nodes[2].join = Join::AnyOf { on_satisfied: OnSatisfied::CancelRemaining };
        let id = store.submit_flow(args).await.unwrap().flow_id;
        run(&store, &id, 1).await;
        let execution_id = member_id(&id, &name("c"), &PartitionConfig::default());
        let replay = ReplayArgs { reopen_downstream: true, ..ReplayArgs::new(execution_id) };
        store.replay(replay).await.unwrap();
        assert_eq!(store.describe_flow(&id).await.unwrap().state, FlowState::Running);
        run(&store, &id, 1).await;
        assert_eq!(store.describe_flow(&id).await.unwrap().state, FlowState::Completed);
        healthy(&store, &id).await;
    }

    #[tokio::test]
    async fn work_in_no_flow_knows_nothing_of_flows() {
        let store = MemoryBackend::default();
        let id = store.submit(SubmitArgs::new(Kind::parse("work").unwrap(), Payload::json("1"))).await.unwrap();
        let info = store.describe(&id.execution_id).await.unwrap();
        assert_eq!((info.flow_id, info.node), (None, None));
        assert_eq!(
            store.cascade(CascadeArgs { execution_id: id.execution_id, owed_since: None }).await,
            Ok(Cascaded::default())
        );
    }
}
