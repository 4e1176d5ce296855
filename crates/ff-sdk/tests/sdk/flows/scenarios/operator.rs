//! Calls on flows: following, finding, growing, cancelling and replaying them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ff_sdk::core::contracts::ListFlowsArgs;
use ff_sdk::core::engine_error::Code;
use ff_sdk::core::flow::{CancelPolicy, EdgeState, FlowEventKind, FlowState, GroupState};
use ff_sdk::core::state::PublicState;
use ff_sdk::core::types::{Kind, Namespace, TagKey, TagValue};
use ff_sdk::{Context, Fault, Flow, FlowFabric, Growth, Node, any_of};
use futures_util::TryStreamExt;

use super::{World, in_time, retries, states};

fn steady(ff: FlowFabric) -> World {
    World::start(ff, |worker| worker.on("ok", |_: Context| async { Ok::<_, Fault>(7) }))
}

pub(crate) async fn flow_events_are_read_in_order_until_the_end(ff: FlowFabric) {
    let world = steady(ff);
    let chain = Flow::new("chain").node("a", Node::empty("ok")).node("b", Node::empty("ok")).after("b", "a");
    let flow = world.submit(chain).await;
    let events: Vec<_> = in_time(flow.events().into_stream().try_collect()).await.unwrap();
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), (0..events.len() as u64).collect::<Vec<_>>());
    assert_eq!(events[0].what, FlowEventKind::Opened { nodes: 2, edges: 1 });
    assert_eq!(events.last().unwrap().what, FlowEventKind::Ended { state: FlowState::Completed });
    let moves: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.what {
            FlowEventKind::Moved { node, to, .. } => Some((node.as_str(), to.as_str())),
            _ => None,
        })
        .collect();
    let expected = [("a", "active"), ("a", "completed"), ("b", "waiting"), ("b", "active"), ("b", "completed")];
    assert_eq!(moves, expected);
    let mut rest = flow.events_from(events.len() as u64 - 1);
    assert_eq!(in_time(rest.next()).await.unwrap().unwrap(), *events.last().unwrap());
    assert!(in_time(rest.next()).await.is_none() && !rest.missed());
}

pub(crate) async fn flows_are_found_by_what_they_are(ff: FlowFabric) {
    let world = steady(ff);
    let client = world.ff.client();
    let node = || Node::empty("ok");
    let (done, _) = world.run(Flow::new("etl").tag("customer", "c-17").node("a", node())).await;
    let open = world.submit(Flow::new("etl").node("a", Node::empty("nobody"))).await;
    world.submit(Flow::new("other").namespace("acme").node("a", node())).await;
    let all = ListFlowsArgs { limit: 10, ..ListFlowsArgs::new(Namespace::default_name()) };
    let found = |args: ListFlowsArgs| {
        let client = client.clone();
        async move { client.list_flows(args).await.unwrap().flows.iter().map(|flow| flow.flow_id).collect::<Vec<_>>() }
    };
    let tag = |value: &str| Some((TagKey::parse("customer").unwrap(), TagValue::parse(value).unwrap()));
    let mut both = found(all.clone()).await;
    both.sort();
    let mut expected = [done.id(), open.id()];
    expected.sort();
    assert_eq!(both, expected);
    assert_eq!(found(ListFlowsArgs { state: Some(FlowState::Completed), ..all.clone() }).await, [done.id()]);
    assert_eq!(found(ListFlowsArgs { state: Some(FlowState::Open), ..all.clone() }).await, [open.id()]);
    assert_eq!(found(ListFlowsArgs { kind: Some(Kind::parse("x").unwrap()), ..all.clone() }).await, []);
    assert_eq!(found(ListFlowsArgs { tag: tag("c-17"), ..all.clone() }).await, [done.id()]);
    assert_eq!(found(ListFlowsArgs { tag: tag("c: 18"), ..all.clone() }).await, []);
    open.tag("customer", "c: 18").await.unwrap();
    assert_eq!(found(ListFlowsArgs { tag: tag("c: 18"), ..all.clone() }).await, [open.id()]);
    let first = client.list_flows(ListFlowsArgs { limit: 1, ..all.clone() }).await.unwrap();
    let second = client.list_flows(ListFlowsArgs { limit: 1, after: first.next, ..all }).await.unwrap();
    assert!(first.next.is_some() && first.flows[0].flow_id != second.flows[0].flow_id);
}

pub(crate) async fn a_flow_held_open_grows_until_it_is_closed(ff: FlowFabric) {
    let world = steady(ff);
    let flow = world.ff.client().create_flow(Flow::new("grown").tag("a", "b")).await.unwrap();
    let grown = flow.grow(Growth::new().node("a", Node::empty("ok"))).await.unwrap();
    assert_eq!(grown.members, [flow.execution("a").unwrap()]);
    in_time(world.ff.client().wait(&grown.members[0])).await.unwrap();
    let more = || {
        let growth = Growth::new().node("b", Node::empty("ok")).node("c", Node::empty("ok")).after_each("b", ["a"]);
        growth.after_each("c", ["a", "b"]).join(any_of()).idempotency_key("more").expecting(1)
    };
    let grown = flow.grow(more()).await.unwrap();
    assert_eq!(grown.edges[0].1, EdgeState::Satisfied, "its upstream has ended");
    assert_eq!(flow.grow(more()).await.unwrap(), grown, "the same change again");
    let stale = flow.grow(Growth::new().node("d", Node::empty("ok")).expecting(1)).await.unwrap_err();
    assert_eq!(stale.code(), Some(Code::StaleGraphRevision));
    let unknown = flow.grow(Growth::new().after("c", "nobody")).await.unwrap_err();
    assert!(unknown.to_string().contains("nobody->c"), "{unknown}");
    assert!(!flow.describe().await.unwrap().state.is_terminal());
    assert!(!flow.close().await.unwrap().already);
    assert!(in_time(flow.wait()).await.unwrap().succeeded());
    let late = flow.grow(Growth::new().node("e", Node::empty("ok"))).await.unwrap_err();
    assert_eq!(late.code(), Some(Code::FlowAlreadyTerminal));
}

pub(crate) async fn a_cancelled_flow_ends_and_starts_nothing(ff: FlowFabric) {
    let world = World::start(ff, |worker| {
        worker.on("waits", |ctx: Context| async move {
            ctx.cancelled().await;
            Ok::<_, Fault>(())
        })
    });
    let flow = Flow::new("f").node("a", Node::empty("waits")).node("b", Node::empty("waits")).after("b", "a");
    let flow = world.submit(flow).await;
    let started = async {
        while flow.describe().await.unwrap().state != FlowState::Running {
            tokio::task::yield_now().await;
        }
    };
    in_time(started).await;
    let end = in_time(flow.cancel_and_wait(CancelPolicy::CancelAll, Some("enough"))).await.unwrap();
    assert_eq!((end.state(), end.counts().of(PublicState::Cancelled)), (FlowState::Cancelled, 2));
    assert!(flow.cancel(CancelPolicy::CancelAll, None).await.unwrap().already);
    assert_eq!(flow.describe().await.unwrap().cancel.unwrap().reason.as_deref(), Some("enough"));
}

pub(crate) async fn a_node_runs_again_with_what_depends_on_it(ff: FlowFabric) {
    let repaired = Arc::new(AtomicBool::new(false));
    let broken = repaired.clone();
    let world = World::start(ff, move |worker| {
        worker.on("ok", |_: Context| async { Ok::<_, Fault>(()) }).on("breaks", move |_: Context| {
            let fine = broken.load(Ordering::SeqCst);
            async move { if fine { Ok(()) } else { Err(Fault::permanent("broken", "not repaired")) } }
        })
    });
    let flow = Flow::new("f")
        .node("a", Node::empty("breaks").policy(retries(0)))
        .node("b", Node::empty("ok"))
        .node("c", Node::empty("ok"))
        .after("b", "a")
        .after("c", "b");
    let (flow, end) = world.run(flow).await;
    assert_eq!(end.state(), FlowState::Failed);
    let alone = flow.replay("c", None).await.unwrap_err();
    assert_eq!(alone.code(), Some(Code::DepsNotSatisfied));
    repaired.store(true, Ordering::SeqCst);
    flow.replay_from("a", Some("repaired")).await.unwrap();
    assert!(in_time(flow.wait()).await.unwrap().succeeded());
    assert_eq!(states(&flow).await, ["a", "b", "c"].map(|node| (node.to_owned(), "completed")));
    flow.replay("b", None).await.unwrap();
    assert!(in_time(flow.wait()).await.unwrap().succeeded());
    let replays: Vec<_> = flow.members().await.unwrap().iter().map(|member| member.replays).collect();
    assert_eq!(replays, [1, 2, 1], "by itself it runs alone");
}

pub(crate) async fn members_and_edges_are_shown(ff: FlowFabric) {
    let world = steady(ff);
    let flow = Flow::new("f")
        .node("a", Node::empty("ok"))
        .node("b", Node::empty("nobody"))
        .node("c", Node::empty("nobody").lane("slow"))
        .after_each("c", ["a", "b"])
        .join(any_of());
    let flow = world.submit(flow).await;
    in_time(world.ff.client().wait(&flow.execution("a").unwrap())).await.unwrap();
    let members = flow.members().await.unwrap();
    let c = members.iter().find(|member| member.node.as_str() == "c").unwrap();
    assert_eq!((c.lane_id.as_str(), c.execution_id), ("slow", flow.execution("c").unwrap()));
    let group = c.group.unwrap();
    assert_eq!((group.join, group.n, group.succeeded, group.state), (any_of().into(), 2, 1, GroupState::Satisfied));
    let mut edges: Vec<_> = flow.edges().await.unwrap().into_iter().map(|edge| edge.state.as_str()).collect();
    edges.sort_unstable();
    assert_eq!(edges, ["pending", "satisfied"]);
    let info = world.ff.client().get(&flow.execution("a").unwrap()).await.unwrap();
    assert_eq!((info.flow_id, info.node.unwrap().as_str()), (Some(flow.id()), "a"));
}
