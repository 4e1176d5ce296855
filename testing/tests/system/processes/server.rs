//! A server that is stopped during long polls.

use std::time::{Duration, Instant};

use ff_core::contracts::{ControlArgs, NextArgs};
use ff_core::lease::Holder;
use ff_core::types::{ExecutionId, Kind};
use ff_sdk::FlowFabric;
use ff_testing::processes::{ServerProcess, within};

use super::submit;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopping_server_answers_its_long_polls() {
    let mut server = ServerProcess::start().await;
    let flowfabric = server.connect().await;
    let id = submit(&flowfabric.client(), "nobody-does-this").await;
    let polls = long_polls(&flowfabric, id);
    // The answers to later requests show that the earlier requests have arrived.
    for _ in 0..20 {
        flowfabric.client().get(&id).await.unwrap();
    }
    assert!(polls.iter().all(|poll| !poll.is_finished()), "a long poll did not wait");

    let start = Instant::now();
    assert!(server.interrupt().await.success());
    let took = start.elapsed();
    assert!(took < Duration::from_secs(2), "it took {took:?} to stop");
    for poll in polls {
        within("a long poll is answered", poll).await.unwrap();
    }
}

/// Starts one long poll of each kind: for work, for control messages and for an end.
fn long_polls(flowfabric: &FlowFabric, id: ExecutionId) -> Vec<tokio::task::JoinHandle<()>> {
    let holder = Holder::parse("waiting", "waiting-1").unwrap();
    let (news, waits) = (holder.worker_instance_id.clone(), flowfabric.long_poll());
    let next =
        NextArgs { kinds: vec![Kind::parse("something-else").unwrap()], wait_ms: 60_000, ..NextArgs::new(holder) };
    let control = ControlArgs { worker_instance_id: news, after: None, wait_ms: 60_000 };
    let (for_work, for_news, for_end) = (waits.clone(), waits.clone(), waits.clone());
    // Each long poll must be answered, with any answer.
    vec![
        tokio::spawn(async move { drop(for_work.next(next).await) }),
        tokio::spawn(async move { drop(for_news.control(control).await) }),
        tokio::spawn(async move { drop(for_end.ended(&id, 60_000).await) }),
    ]
}
