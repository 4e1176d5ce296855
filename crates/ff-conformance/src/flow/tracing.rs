//! Every member of a flow keeps the trace context of the flow's submission.

use crate::execution::tracing::trace;
use crate::prelude::*;

pub(crate) async fn every_member_is_in_the_trace_of_its_flow(world: World) {
    let trace = trace(1, Some("vendor=1"));
    let flow = world.graph("a>b x").trace(&trace).submit().await;
    assert_eq!(flow.info().await.trace.as_deref(), Some(&trace));
    for held in flow.start().await.into_values() {
        assert_eq!(held.task.trace.as_deref(), Some(&trace));
        held.complete(b"done").await.unwrap();
    }
    assert_eq!(flow.start_one().await.task.trace.as_deref(), Some(&trace), "and what came after");
}

pub(crate) async fn members_added_to_a_flow_are_in_its_trace(world: World) {
    let trace = trace(1, None);
    let flow = world.held_open_in(Some(&trace)).await;
    flow.grow(&["x", "y"], &[("x", "y")]).await;
    for name in ["x", "y"] {
        assert_eq!(world.describe(&flow.member(name)).await.trace.as_deref(), Some(&trace));
    }
    assert_eq!(flow.start_one().await.task.trace.as_deref(), Some(&trace));
}

pub(crate) async fn a_large_flow_is_in_one_trace(world: World) {
    let trace = trace(1, Some("vendor=1"));
    let names: Vec<_> = (0..100).map(|nth| format!("n{nth}")).collect();
    let graph = world.graph(&names.join(" "));
    let flow = graph.clone().trace(&trace).submit().await;
    let started = flow.start().await;
    assert_eq!(started.len(), 100);
    assert!(started.values().all(|held| held.task.trace.as_deref() == Some(&trace)));
    assert!(graph.try_submit().await.unwrap().duplicate, "the trace is not part of what makes it the same");
    assert_eq!(flow.info().await.trace.as_deref(), Some(&trace));
}

pub(crate) async fn a_flow_without_a_trace_has_none(world: World) {
    let flow = world.graph("a").submit().await;
    assert_eq!(flow.info().await.trace, None);
    assert_eq!(flow.start_one().await.task.trace, None);
}
