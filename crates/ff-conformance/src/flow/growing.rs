//! A live flow can get more members and edges.

use crate::prelude::*;
use crate::world::graph::{grown, input, lenient, member, node, quorum};

pub(crate) async fn a_flow_that_is_held_open_ends_when_it_is_closed(world: World) {
    let flow = world.held_open().await;
    assert_eq!((flow.stands().await, flow.info().await.held_open), ("open", true));
    let first = flow.grow(&["a"], &[]).await;
    assert_eq!((first.graph_revision, first.members.as_slice()), (1, &[flow.member("a")][..]));
    flow.run().await;
    assert_eq!(flow.stands().await, "running", "more may come");
    let second = flow.grow(&["b", "c"], &[("b", "c")]).await;
    assert_eq!(second.graph_revision, 2);
    flow.run().await;
    assert_eq!((flow.stands().await, flow.info().await.ended_at), ("running", None));
    assert_eq!(flow.close().await.state, FlowState::Completed);
    assert_eq!((flow.counts().await, flow.info().await.held_open), (vec![("completed", 3)], false));
    let events = flow.flow_events().await;
    assert_eq!(events[1], FlowEventKind::Grown { nodes: 1, edges: 0, graph_revision: 1 });
    assert_eq!(events[3..], [FlowEventKind::Closed, FlowEventKind::Ended { state: FlowState::Completed }]);
}

pub(crate) async fn a_flow_closed_in_time_ends_with_its_last_member(world: World) {
    let flow = world.held_open().await;
    flow.grow(&["a", "b"], &[("a", "b")]).await;
    assert_eq!(flow.close().await.state, FlowState::Open);
    flow.run().await;
    assert_eq!(flow.stands().await, "completed");
}

pub(crate) async fn a_flow_that_never_had_a_member_may_be_closed(world: World) {
    let flow = world.held_open().await;
    let closed = flow.close().await;
    assert_eq!((closed.state, closed.already), (FlowState::Completed, false));
    assert!(flow.close().await.already);
}

pub(crate) async fn a_flow_is_created_once(world: World) {
    let header = FlowHeader::new(Kind::parse("etl").unwrap());
    let create = async |header: &FlowHeader| world.backend.create_flow(CreateFlowArgs { header: header.clone() }).await;
    assert!(!create(&header).await.unwrap().duplicate);
    let before = world.contents().await;
    assert!(create(&header).await.unwrap().duplicate);
    let other = FlowHeader { kind: Kind::parse("other").unwrap(), ..header };
    assert_refused!(create(&other).await, "idempotency_conflict", "flow_id");
    assert_eq!(world.contents().await, before);
    let submitted = world.graph("a").submit().await;
    let header = FlowHeader { flow_id: submitted.id, ..FlowHeader::new(Kind::parse("etl").unwrap()) };
    assert_refused!(create(&header).await, "idempotency_conflict");
}

pub(crate) async fn an_edge_onto_what_has_succeeded_is_settled_at_once(world: World) {
    let flow = world.graph("a x").submit().await;
    flow.start().await["a"].complete(b"rows").await.unwrap();
    let edge = EdgeAddition { passes: input("rows"), ..grown("a", "b") };
    let args = GrowFlowArgs { edges: vec![edge], ..flow.growth(&["b"], &[]) };
    let grown = world.backend.grow_flow(args).await.unwrap();
    assert_eq!(grown.edges, [(flow.edge("a", "b"), EdgeState::Satisfied)]);
    let held = flow.start_one().await;
    assert_eq!((held.node(), held.input("rows")), ("b", Some(&b"rows"[..])));
}

pub(crate) async fn an_edge_onto_what_has_ended_otherwise_skips_at_once(world: World) {
    let flow = world.graph("f>s c x").submit().await;
    let started = flow.start().await;
    started["f"].fail_for_good().await;
    world.cancel(&flow.member("c")).await.unwrap();
    for (upstream, state) in [("f", EdgeState::Failed), ("c", EdgeState::Failed), ("s", EdgeState::Skipped)] {
        let names = [format!("child-of-{upstream}"), format!("below-{upstream}")];
        let [child, below] = names.each_ref().map(String::as_str);
        let grown = flow.grow(&[child, below], &[(upstream, child), (child, below), ("x", below)]).await;
        assert_eq!(grown.edges[0], (flow.edge(upstream, child), state));
        assert_eq!(flow.states(&names.join(" ")).await, ["skipped", "skipped"]);
    }
}

pub(crate) async fn an_edge_that_comes_while_its_upstream_ends_is_not_lost(world: World) {
    for _ in 0..10 {
        let flow = world.graph("a b keeps-it-open").submit().await;
        let held = flow.start().await.remove("a").unwrap();
        let growing = flow.clone();
        let (grown, ended) = tokio::join!(
            tokio::spawn(async move { growing.grow(&["c"], &[("a", "c")]).await }),
            held.complete(b"done")
        );
        grown.unwrap();
        ended.unwrap();
        assert_eq!(flow.state("c").await, "waiting");
        assert_eq!(flow.edge_state("a", "c").await, EdgeState::Satisfied);
        world.worker("hand").claim_up_to(100).await;
    }
}

pub(crate) async fn a_waiting_member_waits_for_an_upstream_added_later(world: World) {
    let flow = world.graph("a b").submit().await;
    flow.grow(&[], &[("a", "b")]).await;
    assert_eq!(flow.states("a b").await, ["waiting", "waiting_children"]);
    assert_eq!(flow.run().await, [["a"], ["b"]]);
}

pub(crate) async fn a_delayed_member_with_a_new_upstream_keeps_its_delay(world: World) {
    let flow = world.graph("a b").with("b", |node| node.start = Start::After(5_000)).submit().await;
    flow.grow(&[], &[("a", "b")]).await;
    assert_eq!(flow.state("b").await, "waiting_children");
    flow.start_one().await.complete(b"done").await.unwrap();
    assert_eq!(flow.state("b").await, "delayed");
    world.clock.advance(ms(4_999)).await;
    assert_eq!(flow.state("b").await, "delayed");
    world.clock.advance(ms(1)).await;
    assert_eq!(flow.state("b").await, "waiting");
}

pub(crate) async fn a_member_whose_delay_has_passed_starts_when_its_upstream_ends(world: World) {
    let flow = world.graph("a b").with("b", |node| node.start = Start::After(5_000)).submit().await;
    flow.grow(&[], &[("a", "b")]).await;
    world.clock.advance(ms(5_000)).await;
    assert_eq!(flow.state("b").await, "waiting_children", "its time has come, its upstream has not");
    flow.start_one().await.complete(b"done").await.unwrap();
    assert_eq!(flow.start_one().await.node(), "b");
}

pub(crate) async fn a_member_whose_join_was_satisfied_is_blocked_by_a_new_upstream(world: World) {
    let flow = world.graph("a>z b").submit().await;
    let started = flow.start().await;
    started["a"].complete(b"done").await.unwrap();
    assert_eq!(flow.state("z").await, "waiting");
    flow.grow(&[], &[("b", "z")]).await;
    assert_eq!((flow.state("z").await, flow.group("z").await.n), ("waiting_children", 2));
    assert!(flow.start().await.is_empty());
    started["b"].complete(b"done").await.unwrap();
    assert_eq!(flow.start_one().await.node(), "z");
}

pub(crate) async fn a_ready_member_receives_the_result_of_a_completed_new_upstream(world: World) {
    let flow = world.graph("a>z b").submit().await;
    for held in flow.start().await.into_values() {
        held.complete(b"done").await.unwrap();
    }
    let edge = EdgeAddition { passes: input("late"), ..grown("b", "z") };
    world.backend.grow_flow(GrowFlowArgs { edges: vec![edge], ..GrowFlowArgs::new(flow.id) }).await.unwrap();
    assert_eq!(flow.state("z").await, "waiting");
    assert_eq!(flow.start_one().await.input("late"), Some(&b"done"[..]));
}

pub(crate) async fn a_started_member_takes_no_more_edges(world: World) {
    let retried = |node: &mut NodeSpec| node.policy.retry_policy.max_retries = 3;
    let flow = world.graph("a running retried ended x").with("retried", retried).submit().await;
    let started = flow.start().await;
    started["retried"].fail("network").await.unwrap();
    started["ended"].complete(b"done").await.unwrap();
    for name in ["running", "retried", "ended"] {
        let answer = nothing_grows(&world, flow.growth(&[], &[("x", name)])).await;
        assert_refused!(answer, "not_runnable", format!("edges.x->{name}"));
    }
}

pub(crate) async fn new_members_join_as_they_say(world: World) {
    let flow = world.graph("a b c").submit().await;
    let joined = NodeSpec { join: lenient(2), ..node("d") };
    let edges = ["a", "b", "c"].map(|from| grown(from, "d")).to_vec();
    let args = GrowFlowArgs { nodes: vec![joined], edges, ..GrowFlowArgs::new(flow.id) };
    world.backend.grow_flow(args).await.unwrap();
    let joins = vec![JoinSpec { member: member("e"), join: lenient(1) }];
    let args = GrowFlowArgs { joins, ..flow.growth(&["e"], &[("a", "e"), ("b", "e")]) };
    world.backend.grow_flow(args).await.unwrap();
    let started = flow.start().await;
    started["a"].complete(b"done").await.unwrap();
    assert_eq!(flow.states("d e").await, ["waiting_children", "waiting"]);
    started["c"].complete(b"done").await.unwrap();
    assert_eq!(flow.state("d").await, "waiting");
}

pub(crate) async fn a_join_is_fixed_with_its_first_edge(world: World) {
    let flow = world.graph("a>z b>z c").join("z", lenient(1)).submit().await;
    let joined =
        |join| GrowFlowArgs { joins: vec![JoinSpec { member: member("z"), join }], ..flow.growth(&[], &[("c", "z")]) };
    for other in [lenient(2), quorum(1), Join::AllOf] {
        assert_refused!(nothing_grows(&world, joined(other)).await, "invalid_input", "joins.z");
    }
    world.backend.grow_flow(joined(lenient(1))).await.unwrap();
    assert_eq!(flow.group("z").await.n, 3, "saying the same again changes nothing");
}

pub(crate) async fn an_invalid_growth_is_refused_with_its_field(world: World) {
    let flow = world.graph("a>b>c x").submit().await;
    let stranger = world.submit("resize", b"cat.png").await;
    let by_id = |id| EdgeAddition { upstream: MemberRef::Execution(id), ..grown("x", "c") };
    let growth = |edges| GrowFlowArgs { edges, ..GrowFlowArgs::new(flow.id) };
    let cases = [
        (vec![grown("c", "c")], "self_referencing_edge", "edges.c->c".to_owned()),
        (vec![grown("x", "c"), grown("unknown", "c")], "execution_not_in_flow", "edges.unknown->c".into()),
        (vec![grown("x", "unknown")], "execution_not_in_flow", "edges.x->unknown".into()),
        (vec![grown("b", "c")], "dependency_already_exists", "edges.b->c".into()),
        (vec![grown("x", "c"), grown("x", "c")], "dependency_already_exists", "edges.x->c".into()),
        (vec![grown("c", "a")], "cycle_detected", "edges.c->a".into()),
        (vec![by_id(stranger)], "execution_not_in_flow", format!("edges.{stranger}->c")),
    ];
    for (edges, code, field) in cases {
        assert_refused!(nothing_grows(&world, growth(edges)).await, code, field);
    }
    let twice = flow.growth(&["y", "a"], &[]);
    assert_refused!(nothing_grows(&world, twice).await, "execution_already_in_flow", "nodes.a");
    let circle = flow.growth(&["y", "z"], &[("a", "y"), ("y", "z"), ("z", "y")]);
    assert_refused!(nothing_grows(&world, circle).await, "cycle_detected", "edges.z->y");
    assert_refused!(nothing_grows(&world, flow.growth(&[], &[])).await, "invalid_input", "nodes");
    let joins = vec![JoinSpec { member: member("y"), join: lenient(2) }];
    let short = GrowFlowArgs { joins, ..flow.growth(&["y"], &[("a", "y")]) };
    assert_refused!(nothing_grows(&world, short).await, "invalid_input", "nodes.y.join");
}

/// A caller that grows a flow must learn nothing about other flows, which may belong to another tenant: neither which flow an
/// execution is in nor whether the execution exists.
pub(crate) async fn a_member_of_another_flow_is_answered_as_one_that_does_not_exist(world: World) {
    let (other, flow) = (world.graph("a").submit().await, world.graph("b").submit().await);
    let fence = other.start_one().await.fence();
    let foreign = other.member("a");
    let unknown = ExecutionId::new(foreign.partition(), Uuid::now_v7());
    let growths = |id: ExecutionId| {
        let named = || MemberRef::Execution(id);
        let args = flow.growth(&["c"], &[]);
        let joins = vec![JoinSpec { member: named(), join: lenient(1) }];
        let upstream = vec![EdgeAddition { upstream: named(), ..grown("b", "b") }];
        let downstream = vec![EdgeAddition { downstream: named(), ..grown("b", "b") }];
        [
            GrowFlowArgs { edges: upstream, ..args.clone() },
            GrowFlowArgs { edges: downstream, ..args.clone() },
            GrowFlowArgs { joins, ..args.clone() },
            GrowFlowArgs { holder: Some((id, fence)), ..args },
        ]
    };
    for (of_foreign, of_unknown) in growths(foreign).into_iter().zip(growths(unknown)) {
        let refusal = assert_refused!(nothing_grows(&world, of_foreign).await, "execution_not_in_flow");
        let expected = assert_refused!(nothing_grows(&world, of_unknown).await, "execution_not_in_flow");
        assert_eq!(refusal.detail, expected.detail);
        let named_alike = refusal.field.map(|field| field.replace(&foreign.to_string(), &unknown.to_string()));
        assert_eq!(named_alike, expected.field);
    }
}

pub(crate) async fn a_change_to_a_graph_that_has_changed_meanwhile_is_refused(world: World) {
    let flow = world.graph("a").submit().await;
    let based_on =
        |revision, name: &str| GrowFlowArgs { expected_graph_revision: Some(revision), ..flow.growth(&[name], &[]) };
    let grown = world.backend.grow_flow(based_on(1, "b")).await.unwrap();
    assert_eq!((grown.graph_revision, flow.info().await.graph_revision), (2, 2));
    for stale in [0, 1, 3] {
        let answer = nothing_grows(&world, based_on(stale, "c")).await;
        let refusal = assert_refused!(answer, "stale_graph_revision", "expected_graph_revision");
        assert!(refusal.detail.as_deref().is_some_and(|detail| detail.contains('2')), "{refusal:?}");
    }
    world.backend.grow_flow(based_on(2, "c")).await.unwrap();
}

pub(crate) async fn a_change_under_a_key_is_made_once(world: World) {
    let flow = world.graph("a").submit().await;
    let key = Some(IdempotencyKey::parse("once").unwrap());
    let growth = GrowFlowArgs { idempotency_key: key, ..flow.growth(&["b"], &[("a", "b")]) };
    let first = world.backend.grow_flow(growth.clone()).await.unwrap();
    assert_eq!(world.writes_nothing(world.backend.grow_flow(growth.clone())).await.unwrap(), first);
    flow.run().await;
    assert_eq!(world.backend.grow_flow(growth.clone()).await.unwrap(), first, "also after the flow has ended");
    world.clock.advance(ms(limits::FLOW_DEDUP_MS)).await;
    assert_refused!(world.backend.grow_flow(growth).await, "flow_already_terminal");
}

pub(crate) async fn a_key_belongs_to_its_flow(world: World) {
    for flow in [world.graph("a").submit().await, world.graph("a").submit().await] {
        let key = Some(IdempotencyKey::parse("same").unwrap());
        let growth = GrowFlowArgs { idempotency_key: key, ..flow.growth(&["b"], &[]) };
        assert_eq!(world.backend.grow_flow(growth).await.unwrap().members, [flow.member("b")]);
    }
}

pub(crate) async fn a_flow_that_has_ended_takes_no_more(world: World) {
    let (completed, failed) = (world.graph("a").submit().await, world.graph("a").submit().await);
    let cancelled = world.held_open().await;
    completed.run().await;
    failed.start_one().await.fail_for_good().await;
    cancelled.cancel(CancelPolicy::CancelAll).await.unwrap();
    for flow in [completed, failed, cancelled] {
        let refusal = assert_refused!(nothing_grows(&world, flow.growth(&["b"], &[])).await, "flow_already_terminal");
        assert!(refusal.detail.as_deref().is_some_and(|detail| detail.contains("the flow is ")), "{refusal:?}");
    }
    let unknown = GrowFlowArgs { nodes: vec![node("a")], ..GrowFlowArgs::new(FlowId::new()) };
    assert_refused!(nothing_grows(&world, unknown).await, "flow_not_found");
}

pub(crate) async fn a_flow_change_has_limits_on_nodes_and_edges(world: World) {
    let flow = world.held_open().await;
    let (most, most_edges) = (limits::FLOW_CALL_NODES, limits::FLOW_CALL_EDGES);
    let names = |count: usize| (0..count).map(|nth| node(&format!("n{nth}"))).collect::<Vec<_>>();
    let sized = |count| GrowFlowArgs { nodes: names(count), ..GrowFlowArgs::new(flow.id) };
    let over = nothing_grows(&world, sized(most + 1)).await;
    assert_refused!(over, "limit_exceeded", "nodes", most as u64, most as u64 + 1);
    assert_eq!(world.backend.grow_flow(sized(most)).await.unwrap().members.len(), most);
    let edges = |count: usize| (0..count).map(|nth| grown(&format!("n{nth}"), "z")).collect::<Vec<_>>();
    let entered = |count| GrowFlowArgs { edges: edges(count), nodes: vec![node("z")], ..GrowFlowArgs::new(flow.id) };
    let over = nothing_grows(&world, entered(most_edges + 1)).await;
    assert_refused!(over, "limit_exceeded", "edges", most_edges as u64, most_edges as u64 + 1);
    assert_eq!(world.backend.grow_flow(entered(most_edges)).await.unwrap().edges.len(), most_edges);
    flow.run().await;
    assert_eq!(flow.close().await.state, FlowState::Completed);
}

/// Grows a flow, and checks that nothing is written.
async fn nothing_grows(world: &World, args: GrowFlowArgs) -> Answer<GrownFlow> {
    world.writes_nothing(world.backend.grow_flow(args)).await
}
