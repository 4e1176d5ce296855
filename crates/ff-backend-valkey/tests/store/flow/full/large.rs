//! A flow with the maximum number of members: no call about it occupies the server for long. The limit is relative to a
//! reference script on the same server in the same run, so that the speed of the machine does not matter.

use std::sync::Arc;

use ff_backend_valkey::ValkeyOptions;
use ff_core::backend::entropy::SeededEntropy;
use ff_core::contracts::{CancelFlowArgs, FlowEdgesArgs, FlowEventsArgs, FlowMembersArgs};
use ff_core::flow::{CancelPolicy, FlowState, Join, OnSatisfied};
use ff_core::limits;
use ff_engine::Orchestration;
use uuid::Uuid;

use crate::flow::slow::{calls_of_functions, reference_us, slow_calls, watched_server};
use crate::flow::*;
use crate::options;
use crate::support::Process;

/// Number of members that depend on the first one, and on which another member depends.
const WIDE: usize = 5_000;

#[tokio::test]
async fn no_call_about_ten_thousand_members_takes_long() {
    let server = watched_server();
    let unit = reference_us(&server);
    let calls = run(&server).await;
    let slow = slow_calls(&server, LONGEST * unit).await;
    println!("{calls} calls, {} of them longer than {LONGEST} times the {unit} us of the reference", slow.len());
    // A busy machine interrupts a few calls; a function that does too much is slow every time.
    assert!(slow.len() * 500 <= calls, "{} of {calls} calls took too long, in microseconds: {slow:#?}", slow.len());
}

/// Maximum duration of a call, as a multiple of the reference. The reference takes about a millisecond where a call may
/// take five.
const LONGEST: u64 = 5;

/// Submits, runs and reads one flow, and cancels another. Returns the number of function calls. Ids and randomness are
/// the same in every run, so that the same calls are made.
async fn run(server: &Process) -> usize {
    let options = ValkeyOptions { entropy: Arc::new(SeededEntropy::new(1)), ..options() };
    let store = ValkeyBackend::connect(&server.url(), options).await.unwrap();
    let first = store.submit_flow(graph(1)).await.unwrap().flow_id;
    to_its_end(&store, &first).await;
    assert_eq!(store.describe_flow(&first).await.unwrap().state, FlowState::Completed);
    read(&store, &first).await;

    let second = store.submit_flow(graph(2)).await.unwrap().flow_id;
    let partition = partition_of(&store, &second);
    settle(&store, partition).await;
    let hub = claim_some(&store, partition, 1).await;
    complete_together(&store, &hub).await;
    settle(&store, partition).await;
    let policy = CancelPolicy::CancelAll;
    let cancel = CancelFlowArgs { flow_id: second, policy, reason: None, requested_by: None };
    store.cancel_flow(cancel).await.unwrap();
    settle(&store, partition).await;
    assert!(claim_some(&store, partition, 1).await.is_empty(), "a cancelled flow starts nothing");
    let info = store.describe_flow(&second).await.unwrap();
    assert_eq!((info.state, info.counts.live()), (FlowState::Cancelled, 0));

    calls_of_functions(server)
}

/// Returns a flow with a node that all others depend on, a node that depends on a whole layer with an input from each,
/// and a tangle of other nodes.
fn graph(nth: u128) -> SubmitFlowArgs {
    let names: Vec<_> = (0..limits::FLOW_NODES).map(|n| format!("n{n}")).collect();
    let mut args = flow(names.iter().map(String::as_str));
    args.header.flow_id = FlowId::from_uuid(Uuid::from_u128((0x0190_0000_0000_7000_8000 << 48) | nth));
    for n in 1..WIDE {
        args.edges.push(edge(&names[0], &names[n]));
        args.edges.push(passing(&names[n], &names[WIDE]));
    }
    for n in WIDE + 1..names.len() {
        for upstream in [n / 2, n / 3, n / 5] {
            args.edges.push(edge(&names[upstream], &names[n]));
        }
        let on_satisfied = if n % 4 == 0 { OnSatisfied::CancelRemaining } else { OnSatisfied::LetRun };
        args.nodes[n].join = if n % 2 == 0 { Join::Quorum { k: 2, on_satisfied } } else { Join::AllOf };
    }
    args
}

/// Works until nothing is left, in alternating rounds of single calls and of several calls at once.
async fn to_its_end(store: &ValkeyBackend, id: &FlowId) {
    let partition = partition_of(store, id);
    for round in 0.. {
        settle(store, partition).await;
        let claimed = claim_some(store, partition, 64).await;
        if claimed.is_empty() {
            return;
        }
        if round % 2 == 0 {
            complete_together(store, &claimed).await;
        } else {
            for one in &claimed {
                complete(store, one, Some(Payload::json("1"))).await;
            }
        }
    }
}

/// Reads every member, edge and event of a flow.
async fn read(store: &ValkeyBackend, id: &FlowId) {
    let (flow_id, limit) = (*id, limits::PAGE);
    let (mut members, mut from) = (0, Some(0));
    while let Some(at) = from {
        let page = store.flow_members(FlowMembersArgs { flow_id, from: at, limit }).await.unwrap();
        (members, from) = (members + page.members.len(), page.next);
    }
    assert_eq!(members, limits::FLOW_NODES);
    let (mut edges, mut after) = (0, None);
    loop {
        let page = store.flow_edges(FlowEdgesArgs { flow_id, after, limit }).await.unwrap();
        (edges, after) = (edges + page.edges.len(), page.next);
        if after.is_none() {
            break;
        }
    }
    assert_eq!(edges, graph(0).edges.len());
    let mut page = store.flow_events(FlowEventsArgs { flow_id, from: 0, limit }).await.unwrap();
    while !page.ended {
        page = store.flow_events(FlowEventsArgs { flow_id, from: page.next, limit }).await.unwrap();
    }
}
