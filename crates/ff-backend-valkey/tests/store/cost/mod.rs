//! The cost of calls for a server: none blocks it for long, and the cost of a listing depends on its rows.

/// These tests take too long to run on every change.
mod full {
    mod large;
}

use std::collections::BTreeSet;

use ff_backend_valkey::{ValkeyBackend, ValkeyOptions};
use ff_core::backend::Perform;
use ff_core::contracts::{CancelArgs, ListLanesArgs, SubmitArgs};
use ff_core::types::{LaneId, Namespace};
use futures_util::future::join_all;
use uuid::Uuid;

use crate::flow::slow::{calls_of_functions, count_from_zero, total_calls};
use crate::support::{Flavour, Process};
use crate::{connect, options, work};

/// Most lanes have nothing or only finished work on most partitions, so the cost of a listing must depend on its rows.
#[tokio::test]
async fn listing_lanes_asks_little_where_there_is_nothing() {
    let server = Process::start(Flavour::Valkey, &["--appendonly", "no"]);
    let store = connect(&server.url()).await;
    let (lanes, partitions) = (200, u64::from(store.partitions().num_flow_partitions));
    for nth in 0..lanes {
        // Every second lane has only finished work.
        let id = store.submit(in_lane(nth)).await.unwrap().execution_id;
        if nth % 2 == 0 {
            store.cancel(CancelArgs { execution_id: id, reason: None, requested_by: None }).await.unwrap();
        }
    }
    for (finished, found, per_lane_and_partition) in [(true, 200, 3), (false, 100, 2)] {
        count_from_zero(&server);
        let page = store.list_lanes(listing(finished, 1_000)).await.unwrap();
        let calls = total_calls(&server);
        assert_eq!((page.lanes.len(), page.next), (found, None));
        assert!(page.lanes.iter().all(|lane| lane.depths.values().map(|depth| depth.count).sum::<u64>() == 1));
        let most = lanes as u64 * partitions * per_lane_and_partition;
        assert!(calls < most, "{calls} commands for {lanes} lanes on {partitions} partitions");
    }
}

/// Requests at the same time share one count.
#[tokio::test]
async fn several_who_list_lanes_at_once_cost_little_more_than_one() {
    let server = Process::start(Flavour::Valkey, &["--appendonly", "no"]);
    let store = connect(&server.url()).await;
    for nth in 0..100 {
        store.submit(in_lane(nth)).await.unwrap();
    }
    let cost = async |callers: usize| {
        count_from_zero(&server);
        let pages = join_all((0..callers).map(|_| store.list_lanes(listing(true, 1_000)))).await;
        assert!(pages.iter().all(|page| page.as_ref().is_ok_and(|page| page.lanes.len() == 100)));
        calls_of_functions(&server)
    };
    let (one, eight) = (cost(1).await, cost(8).await);
    assert!(eight < 3 * one, "{eight} calls for eight, {one} for one");
}

/// A page looks at a bounded number of lanes, however many are empty, and says where to continue.
#[tokio::test]
async fn a_page_of_lanes_looks_at_a_bounded_number() {
    let server = Process::start(Flavour::Valkey, &["--appendonly", "no"]);
    let one = ff_core::partition::PartitionConfig { num_flow_partitions: 1, ..crate::FEW_PARTITIONS };
    let options = ValkeyOptions { partitions: Some(one), ..options() };
    let store = ValkeyBackend::connect(&server.url(), options).await.unwrap();
    let known: Vec<_> = (0..ff_core::limits::LANES_EXAMINED + 10).map(|nth| format!("idle-{nth:05}")).collect();
    let words: Vec<_> = ["SADD", "ff:idx:lanes"].into_iter().chain(known.iter().map(String::as_str)).collect();
    server.ask(&words);
    store.submit(SubmitArgs { lane: LaneId::parse("last").unwrap(), ..work() }).await.unwrap();
    let first = store.list_lanes(listing(true, 10)).await.unwrap();
    assert_eq!((first.lanes.len(), first.next.is_some()), (0, true));
    let second = store.list_lanes(ListLanesArgs { after: first.next, ..listing(true, 10) }).await.unwrap();
    let names: Vec<_> = second.lanes.iter().map(|lane| lane.lane_id.as_str()).collect();
    assert_eq!((names, second.next), (vec!["last"], None));
}

/// Returns work in one of many lanes, on any partition.
fn in_lane(nth: usize) -> SubmitArgs {
    SubmitArgs { uuid: Uuid::now_v7(), lane: LaneId::parse(&format!("lane-{nth:04}")).unwrap(), ..work() }
}

fn listing(finished: bool, limit: usize) -> ListLanesArgs {
    ListLanesArgs { namespace: Some(Namespace::default_name()), after: None, limit, finished }
}

/// Returns the lanes of all pages.
async fn all_pages(store: &ValkeyBackend, finished: bool) -> BTreeSet<LaneId> {
    let mut args = listing(finished, 1_000);
    let mut lanes = BTreeSet::new();
    loop {
        let page = store.list_lanes(args.clone()).await.unwrap();
        lanes.extend(page.lanes.into_iter().map(|lane| lane.lane_id));
        if page.next.is_none() {
            return lanes;
        }
        args.after = page.next;
    }
}
