//! Queries show the exact state of a flow, its members and its edges at every moment.

use std::collections::{BTreeMap, BTreeSet};

use crate::prelude::*;
use crate::world::graph::{input, lenient};

pub(crate) async fn a_flow_is_what_was_submitted(world: World) {
    let created = world.clock.now();
    let flow = world.graph("a>b a>c").submit().await;
    let info = flow.info().await;
    assert_eq!((info.flow_id, info.kind.as_str(), info.namespace), (flow.id, "etl", Namespace::default_name()));
    assert_eq!((info.nodes, info.edges, info.graph_revision, info.held_open), (3, 2, 1, false));
    assert_eq!((info.created_at, info.started_at, info.ended_at, info.cancel), (created, None, None, None));
    world.clock.advance(ms(7)).await;
    let held = flow.start_one().await;
    world.clock.advance(ms(5)).await;
    held.complete(b"done").await.unwrap();
    flow.run().await;
    let info = flow.info().await;
    assert_eq!(info.started_at.map(|at| at.0 - created.0), Some(7));
    assert_eq!(info.ended_at.map(|at| at.0 - created.0), Some(12));
}

pub(crate) async fn members_are_read_in_order_a_page_at_a_time(world: World) {
    let names: Vec<_> = (0..25).map(|nth| format!("n{nth}")).collect();
    let flow = world.graph(&names.join(">")).submit().await;
    flow.start_one().await.complete(b"done").await.unwrap();
    let whole = flow.members_by(1_000).await;
    assert_eq!(whole.iter().map(|member| member.node.as_str()).collect::<Vec<_>>(), names);
    assert!(whole.iter().zip(0..).all(|(member, position)| member.position == position));
    for limit in [1, 7, 24, 25] {
        assert_eq!(flow.members_by(limit).await, whole);
    }
    let first = &whole[0];
    assert_eq!(
        (first.execution_id, first.public_state, first.attempts_made),
        (flow.member("n0"), PublicState::Completed, 1)
    );
    assert_eq!((first.started_at, first.finished_at), (Some(world.clock.now()), Some(world.clock.now())));
    assert_eq!((first.group, first.replays, first.kind.as_str(), first.lane_id.as_str()), (None, 0, "work", "default"));
    let second = whole[1].group.unwrap();
    assert_eq!((second.join, second.state, second.n, second.succeeded), (Join::AllOf, GroupState::Satisfied, 1, 1));
}

pub(crate) async fn a_member_shows_what_went_wrong(world: World) {
    let flow = world.graph("a>b").submit().await;
    flow.start_one().await.fail_for_good().await;
    let [failed, skipped] = &flow.members_by(10).await[..] else { panic!("not two members") };
    let failure = failed.failure.as_ref().unwrap();
    assert_eq!((failure.category.as_str(), failure.message.as_str()), ("error", "it went wrong"));
    assert_eq!(skipped.failure, None);
    flow.replay("a", true).await.unwrap();
    assert!(flow.members_by(10).await.iter().all(|member| member.failure.is_none()));
}

pub(crate) async fn edges_are_read_a_page_at_a_time(world: World) {
    let edges: Vec<_> = (0..30).map(|nth| format!("a>n{nth}")).collect();
    let flow = world.graph(&edges.join(" ")).passing("a", "n3", input("rows")).submit().await;
    let whole = flow.edges_by(1_000).await;
    assert_eq!(whole.len(), 30);
    assert!(whole.is_sorted_by_key(|edge| edge.edge_id), "in the order of their ids");
    for limit in [1, 7, 29, 30] {
        assert_eq!(flow.edges_by(limit).await, whole);
    }
    let passing = whole.iter().find(|edge| edge.passes.is_some()).unwrap();
    assert_eq!((passing.edge_id, passing.passes.clone()), (flow.edge("a", "n3"), input("rows")));
    assert_eq!((passing.upstream_execution_id, passing.downstream_execution_id), (flow.member("a"), flow.member("n3")));
    assert!(whole.iter().all(|edge| edge.state == EdgeState::Pending));
}

pub(crate) async fn the_numbers_of_a_flow_are_exact_at_every_step(world: World) {
    let graph = world.graph("a>c b>c c>d b>e x>e").join("c", lenient(1)).join("e", lenient(1));
    let flow = graph.with("x", |node| node.policy.retry_policy.max_retries = 1).submit().await;
    exact(&flow).await;
    let started = flow.start().await;
    exact(&flow).await;
    started["x"].fail("network").await.unwrap();
    exact(&flow).await;
    started["b"].fail_for_good().await;
    exact(&flow).await;
    started["a"].wait_on("approval").await;
    exact(&flow).await;
    world.decide(&flow.member("a"), OperatorDecision::Resume).await.unwrap();
    exact(&flow).await;
    flow.grow(&["late"], &[("d", "late")]).await;
    exact(&flow).await;
    flow.start().await["a"].complete(b"done").await.unwrap();
    exact(&flow).await;
    flow.cancel(CancelPolicy::CancelPending).await.unwrap();
    exact(&flow).await;
    assert_eq!(flow.info().await.counts.all(), 7);
}

pub(crate) async fn a_blocked_member_shows_its_reason_and_is_listed_by_state(world: World) {
    let flow = world.graph("a>b").submit().await;
    let info = world.describe(&flow.member("b")).await;
    assert_eq!(
        (info.public_state, info.state.blocking_reason.as_str()),
        (PublicState::WaitingChildren, "waiting_for_children")
    );
    assert_eq!(info.state.eligibility_state.as_str(), "blocked_by_dependencies");
    let (namespace, state) = (Namespace::default_name(), Some(PublicState::WaitingChildren));
    let args = ListArgs { filter: Filter { state, ..Filter::everything(namespace) }, after: None, limit: 10 };
    let listed = world.backend.list(args).await.unwrap().executions;
    assert_eq!(listed.iter().map(|info| info.execution_id).collect::<Vec<_>>(), [flow.member("b")]);
}

pub(crate) async fn a_flow_that_is_not_there_is_not_found(world: World) {
    let flow_id = FlowId::new();
    assert_refused!(world.backend.describe_flow(&flow_id).await, "flow_not_found");
    let members = FlowMembersArgs { flow_id, from: 0, limit: 1 };
    assert_refused!(world.backend.flow_members(members).await, "flow_not_found");
    assert_refused!(world.backend.flow_edges(FlowEdgesArgs { flow_id, after: None, limit: 1 }).await, "flow_not_found");
    assert_refused!(world.backend.flow_events(FlowEventsArgs { flow_id, from: 0, limit: 1 }).await, "flow_not_found");
    assert_refused!(world.long_poll.flow_ended(&flow_id, 0).await, "flow_not_found");
    let close = CloseFlowArgs { flow_id };
    assert_refused!(world.backend.close_flow(close).await, "flow_not_found");
}

pub(crate) async fn a_page_has_one_to_a_thousand_rows(world: World) {
    let flow = world.graph("a>b").submit().await;
    let flow_id = flow.id;
    for (limit, code) in [(0, "invalid_input"), (1_001, "limit_exceeded")] {
        let refusals = [
            assert_refused!(world.backend.flow_members(FlowMembersArgs { flow_id, from: 0, limit }).await, code),
            assert_refused!(world.backend.flow_edges(FlowEdgesArgs { flow_id, after: None, limit }).await, code),
            assert_refused!(world.backend.flow_events(FlowEventsArgs { flow_id, from: 0, limit }).await, code),
        ];
        assert!(refusals.iter().all(|refusal| refusal.field.as_deref() == Some("limit")), "{refusals:?}");
    }
}

/// Checks that the flow counts its members by state, and that each edge matches the end of its upstream.
async fn exact(flow: &Flow) {
    let (info, members) = (flow.info().await, flow.members_by(3).await);
    let mut counted = BTreeMap::new();
    members.iter().for_each(|member| *counted.entry(member.public_state).or_insert(0) += 1);
    assert_eq!(info.counts.iter().collect::<BTreeMap<_, _>>(), counted);
    assert_eq!((info.nodes as usize, info.counts.all() as usize), (members.len(), members.len()));
    let names: BTreeSet<_> = members.iter().map(|member| &member.node).collect();
    assert_eq!(names.len(), members.len());
    for edge in flow.edges_by(2).await {
        let upstream = members.iter().find(|member| member.execution_id == edge.upstream_execution_id).unwrap();
        let expected = match upstream.public_state {
            PublicState::Completed => EdgeState::Satisfied,
            PublicState::Skipped => EdgeState::Skipped,
            state if state.is_terminal() => EdgeState::Failed,
            _ => EdgeState::Pending,
        };
        assert_eq!(edge.state, expected, "the edge out of {}", upstream.node);
    }
}

pub(crate) async fn whose_a_flow_is_follows_from_its_id(world: World) {
    let flow = world.graph("a>b").submit().await;
    assert_eq!(world.engine_store.namespace_of_flow(&flow.id).await, Ok(Some(Namespace::default_name())));
    assert_eq!(world.engine_store.namespace_of_flow(&FlowId::new()).await, Ok(None));
}
