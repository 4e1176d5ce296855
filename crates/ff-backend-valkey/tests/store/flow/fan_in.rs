//! The cost of a completion must not depend on the number of upstreams that its join waits for.

use ff_engine::Orchestration;

use super::slow::{count_from_zero, time_in_functions};
use super::*;
use crate::connect;
use crate::support::{Flavour, Process};

/// Number of upstreams of all joins together.
const UPSTREAMS: usize = 1_000;

/// Number of measurements of each width. A busy machine makes a measurement longer, never shorter, so the shortest
/// counts.
const ROUNDS: usize = 5;

#[tokio::test]
async fn a_completion_costs_the_same_however_many_its_join_waits_for() {
    let server = Process::start(Flavour::Valkey, &["--appendonly", "no"]);
    let store = connect(&server.url()).await;
    let (mut narrow, mut wide) = (u64::MAX, u64::MAX);
    for _ in 0..ROUNDS {
        narrow = narrow.min(time_of(&server, &store, 10).await);
        wide = wide.min(time_of(&server, &store, UPSTREAMS).await);
    }
    println!("{UPSTREAMS} completions: {narrow} us into joins of 10, {wide} us into one of {UPSTREAMS}");
    assert!(wide * 2 <= narrow * 3, "into a wide join {wide} us, into narrow ones {narrow} us");
}

/// Returns the server's time for completing all upstreams, when they lead into joins of this width.
async fn time_of(server: &Process, store: &ValkeyBackend, width: usize) -> u64 {
    let names: Vec<_> = (0..UPSTREAMS).map(|n| format!("n{n}")).collect();
    let joins: Vec<_> = (0..UPSTREAMS / width).map(|n| format!("join{n}")).collect();
    let mut args = flow(names.iter().chain(&joins).map(String::as_str));
    for (nth, upstreams) in names.chunks(width).enumerate() {
        args.edges.extend(upstreams.iter().map(|from| edge(from, &joins[nth])));
    }
    let id = store.submit_flow(args).await.unwrap().flow_id;
    let partition = partition_of(store, &id);
    settle(store, partition).await;
    let claimed = claim_some(store, partition, UPSTREAMS).await;
    assert_eq!(claimed.len(), UPSTREAMS);
    count_from_zero(server);
    for one in &claimed {
        complete(store, one, None).await;
    }
    let spent = time_in_functions(server);
    let released = claim_some(store, partition, UPSTREAMS).await;
    assert_eq!(released.len(), joins.len());
    complete_together(store, &released).await;
    assert!(store.end_of_flow(&id).await.unwrap().is_some());
    spent
}
