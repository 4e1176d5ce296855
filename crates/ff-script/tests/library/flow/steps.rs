//! The effects of a step, observed in the store.

use std::collections::BTreeMap;

use ff_core::backend::entropy::{Entropy, SystemEntropy};
use ff_core::backend::hint::Hint;
use ff_core::contracts::CancelFlowArgs;
use ff_core::flow::CancelPolicy;
use ff_core::keys::FlowKeyContext;
use ff_core::limits;
use ff_core::partition::flow_partition;
use ff_core::types::FlowId;
use ff_script::engine::ff_pump;
use ff_script::flow::ff_cancel_flow;
use ff_script::{LibraryClock, hints};
use futures_util::StreamExt;
use redis::cmd;

use super::scene::{claim, complete, fail, graph, submit};
use crate::situation::ONE_PARTITION;
use crate::wire::Wire;

/// Pumps once, and returns whether more is due now.
pub(crate) async fn pump(wire: &Wire) -> bool {
    let pumped = ff_pump(wire, 0, &SystemEntropy.nonce()).await.unwrap();
    pumped.next_due.is_some_and(|at| at.0.unsigned_abs() <= wire.now())
}

pub(crate) async fn drain(wire: &Wire) -> usize {
    let mut pumps = 1;
    while pump(wire).await {
        pumps += 1;
        assert!(pumps < 1_000, "this does not end");
    }
    pumps
}

pub(crate) async fn cancel(wire: &Wire, flow_id: FlowId) {
    let args = CancelFlowArgs { flow_id, policy: CancelPolicy::CancelAll, reason: None, requested_by: None };
    ff_cancel_flow(wire, &ONE_PARTITION, args).await.unwrap();
}

async fn counts(wire: &Wire, flow_id: &FlowId) -> BTreeMap<String, usize> {
    let keys = FlowKeyContext::new(&flow_partition(flow_id, &ONE_PARTITION), flow_id);
    wire.ask(cmd("HGETALL").arg(keys.summary())).await
}

#[tokio::test]
async fn a_step_notifies_up_to_its_limit_and_the_pump_notifies_the_rest() {
    let wire = Wire::start(LibraryClock::Test).await;
    let names: Vec<_> = (0..limits::FLOW_STEP + 6).map(|n| format!("n{n}")).collect();
    let mut nodes = vec!["a"];
    nodes.extend(names.iter().map(String::as_str));
    let edges: Vec<_> = names.iter().map(|name| ("a", name.as_str())).collect();
    let flow_id = submit(&wire, graph(&nodes, &edges, &[])).await;
    drain(&wire).await;
    let task = claim(&wire, 1).await.remove(0);
    complete(&wire, &task).await;
    assert_eq!(counts(&wire, &flow_id).await["waiting"], limits::FLOW_STEP);
    assert_eq!(drain(&wire).await, 1);
    assert_eq!(counts(&wire, &flow_id).await["waiting"], names.len());
}

#[tokio::test]
async fn a_chain_of_skips_goes_no_deeper_than_one_step() {
    let wire = Wire::start(LibraryClock::Test).await;
    let names: Vec<_> = (0..limits::FLOW_STEP + 10).map(|n| format!("n{n}")).collect();
    let nodes: Vec<_> = names.iter().map(String::as_str).collect();
    let edges: Vec<_> = nodes.windows(2).map(|pair| (pair[0], pair[1])).collect();
    let flow_id = submit(&wire, graph(&nodes, &edges, &[])).await;
    drain(&wire).await;
    let task = claim(&wire, 1).await.remove(0);
    fail(&wire, &task).await;
    assert_eq!(counts(&wire, &flow_id).await["skipped"], limits::FLOW_STEP);
    assert_eq!(drain(&wire).await, 1);
    assert_eq!(counts(&wire, &flow_id).await["skipped"], names.len() - 1);
}

/// The end of a flow is published once if a caller waits for it, and not at all otherwise.
#[tokio::test]
async fn the_end_of_a_flow_is_published_only_for_a_waiting_caller() {
    let wire = Wire::start(LibraryClock::Test).await;
    for awaited in [false, true] {
        let flow_id = submit(&wire, graph(&["a"], &[], &[])).await;
        let look = ff_script::flow::FlowQuery { staged: false, awaited };
        ff_script::flow::ff_read_flow(&wire, &ONE_PARTITION, &flow_id, look).await.unwrap();
        let mut listening = wire.listen("ff:hints").await;
        let task = claim(&wire, 1).await.remove(0);
        complete(&wire, &task).await;
        wire.ask::<usize>(cmd("PUBLISH").arg("ff:hints").arg("enough")).await;
        let (mut sent, mut messages) = (Vec::new(), listening.on_message());
        while let Some(message) = messages.next().await.filter(|message| message.get_payload_bytes() != b"enough") {
            sent.extend(hints(message.get_payload_bytes()));
        }
        assert_eq!(sent.contains(&Hint::FlowEnded { flow_id }), awaited, "{sent:?}");
    }
}
