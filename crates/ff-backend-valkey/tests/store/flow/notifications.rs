//! Waiting for the end of a flow and passing results on to members, on a server and on a cluster.

use ff_core::backend::hint::{Hint, Hints};
use ff_core::contracts::FlowEventsArgs;
use ff_core::flow::FlowState;
use ff_engine::Orchestration;
use futures_util::StreamExt;

use super::*;
use crate::support::{Cluster, Flavour, Process};
use crate::{PATIENCE, connect, findings};

#[tokio::test]
async fn flow_hints_reach_processes_that_read_the_flow() {
    let server = Process::start(Flavour::Valkey, &[]);
    let (here, there) = (connect(&server.url()).await, connect(&server.url()).await);
    let mut args = flow(["a", "b"]);
    args.edges = vec![edge("a", "b")];
    let flow_id = here.submit_flow(args).await.unwrap().flow_id;
    let partition = partition_of(&here, &flow_id);
    let mut hints = there.hints();
    assert_eq!(there.end_of_flow(&flow_id).await.unwrap(), None);
    let page = there.flow_events(FlowEventsArgs { flow_id, from: 0, limit: 10 }).await.unwrap();
    let first = claim_some(&here, partition, 1).await;
    wait_for(&mut hints, Hint::FlowMoved { flow_id }).await;
    let more = there.flow_events(FlowEventsArgs { flow_id, from: page.next, limit: 10 }).await.unwrap();
    assert!(!more.events.is_empty());

    complete_together(&here, &first).await;
    complete_together(&here, &claim_some(&here, partition, 1).await).await;
    wait_for(&mut hints, Hint::FlowEnded { flow_id }).await;
    assert_eq!(there.end_of_flow(&flow_id).await.unwrap().map(|end| end.state), Some(FlowState::Completed));
}

#[tokio::test]
async fn a_flow_runs_on_a_cluster_wherever_its_partition_is() {
    let cluster = Cluster::start();
    let store = connect(&cluster.url()).await;
    let mut partitions = std::collections::BTreeSet::new();
    while partitions.len() < 4 {
        let mut args = flow(["a", "b", "c", "d"]);
        args.edges = vec![passing("a", "b"), edge("a", "c"), passing("b", "d"), passing("c", "d")];
        let id = store.submit_flow(args).await.unwrap().flow_id;
        let partition = partition_of(&store, &id);
        partitions.insert(partition);
        let bytes = |n: usize| Payload::bytes(vec![0, 255, u8::try_from(n).unwrap()]);
        for (round, expected) in [1, 2, 1].into_iter().enumerate() {
            let claimed = claim_some(&store, partition, 10).await;
            assert_eq!(claimed.len(), expected);
            for one in &claimed {
                let inputs: Vec<_> = one.inputs.iter().filter_map(|input| input.payload.clone()).collect();
                let passed = if one.task.flow.as_ref().unwrap().node == name("c") { 0 } else { round };
                assert_eq!(inputs, vec![bytes(round.saturating_sub(1)); passed]);
                complete(&store, one, Some(bytes(round))).await;
            }
        }
        assert_eq!(store.describe_flow(&id).await.unwrap().state, FlowState::Completed);
    }
    assert_eq!(findings(&store).await, []);
}

async fn wait_for(hints: &mut Hints, wanted: Hint) {
    let next = async { while hints.next().await.expect("hints go on") != wanted {} };
    tokio::time::timeout(PATIENCE, next).await.expect("a hint comes");
}
