//! Flows in a file: they are visible completely or not at all, run to their end, and survive a restart.

use ff_backend_sqlite::{SqliteBackend, SqliteOptions};
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{
    ClaimArgs, ClaimedExecution, CompleteArgs, EdgeSpec, Filter, FlowCursor, FlowEdgesArgs, FlowEventsArgs, FlowHeader,
    FlowMembersArgs, ListArgs, ListFlowsArgs, NodeSpec, Start, SubmitArgs, SubmitFlowArgs,
};
use ff_core::engine_error::Code;
use ff_core::flow::{FlowEventKind, FlowState, PassMode, member_id};
use ff_core::limits;
use ff_core::partition::flow_partition;
use ff_core::payload::Payload;
use ff_core::snapshot::Snapshot;
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, FlowId, InputName, Kind, Namespace, NodeName, TagKey, TagValue};
use ff_engine::Orchestration;
use futures_util::FutureExt;
use uuid::Uuid;

use crate::{StoreLocation, claim_on, findings, options, stopped_clock, work};

pub(crate) fn name(n: usize) -> NodeName {
    NodeName::parse(&format!("n{n}")).unwrap()
}

pub(crate) fn edge(from: usize, to: usize) -> EdgeSpec {
    EdgeSpec { upstream: name(from), downstream: name(to), passes: None }
}

/// Returns a flow with this number of nodes, and edges between them.
pub(crate) fn graph(nodes: usize, edges: impl IntoIterator<Item = EdgeSpec>) -> SubmitFlowArgs {
    let node = |n| NodeSpec::new(name(n), Kind::parse("work").unwrap(), Payload::json("1"));
    SubmitFlowArgs {
        header: FlowHeader::new(Kind::parse("etl").unwrap()),
        nodes: (0..nodes).map(node).collect(),
        edges: edges.into_iter().collect(),
    }
}

/// Returns a flow whose nodes follow each other.
pub(crate) fn chain(nodes: usize) -> SubmitFlowArgs {
    graph(nodes, (1..nodes).map(|n| edge(n - 1, n)))
}

/// Returns a flow with one node that waits for all others.
pub(crate) fn fan_in(width: usize) -> SubmitFlowArgs {
    graph(width + 1, (0..width).map(|n| edge(n, width)))
}

pub(crate) fn partition_of(store: &SqliteBackend, id: &FlowId) -> u16 {
    flow_partition(id, &store.partitions()).index
}

pub(crate) async fn claim(store: &SqliteBackend, id: &FlowId, max: usize) -> Vec<ClaimedExecution> {
    let on_partition = ExecutionId::new(partition_of(store, id), Uuid::nil());
    store.claim(ClaimArgs { max, ..claim_on(&on_partition) }).await.unwrap().claimed
}

pub(crate) async fn complete(store: &SqliteBackend, claimed: &ClaimedExecution, result: Option<Payload>) {
    let (execution_id, fence) = (claimed.task.execution_id, claimed.task.fence);
    store.complete(CompleteArgs { execution_id, fence, result }).await.unwrap();
}

/// Pumps until nothing is pending.
pub(crate) async fn drain(store: &SqliteBackend, id: &FlowId) {
    let partition = partition_of(store, id);
    while store.pump(partition).await.unwrap().fired > 0 {}
}

/// Works until there is nothing left to do.
pub(crate) async fn run(store: &SqliteBackend, id: &FlowId) {
    loop {
        drain(store, id).await;
        let claimed = claim(store, id, 100).await;
        if claimed.is_empty() {
            return;
        }
        for one in claimed {
            complete(store, &one, None).await;
        }
    }
}

fn member(store: &SqliteBackend, id: &FlowId, n: usize) -> ExecutionId {
    member_id(id, &name(n), &store.partitions())
}

fn everything() -> ListArgs {
    ListArgs { filter: Filter::everything(Namespace::default_name()), after: None, limit: 1_000 }
}

#[tokio::test]
async fn a_flow_is_seen_whole_with_its_members_edges_and_events() {
    let place = StoreLocation::new();
    let store = place.open();
    let args = graph(4, [edge(0, 1), edge(0, 2), edge(1, 3), edge(2, 3)]);
    let id = store.submit_flow(args.clone()).await.unwrap().flow_id;
    assert!(store.submit_flow(args).await.unwrap().duplicate);
    run(&store, &id).await;
    let info = store.describe_flow(&id).await.unwrap();
    assert_eq!((info.state, info.nodes, info.edges), (FlowState::Completed, 4, 4));

    let page = |from, limit| store.flow_members(FlowMembersArgs { flow_id: id, from, limit });
    let first = page(0, 3).await.unwrap();
    let rest = page(first.next.unwrap(), 3).await.unwrap();
    let names: Vec<_> = first.members.iter().chain(&rest.members).map(|member| member.node.clone()).collect();
    assert_eq!(names, [0, 1, 2, 3].map(name));
    assert_eq!((rest.members[0].group.unwrap().succeeded, rest.next), (2, None));
    let page = |after, limit| store.flow_edges(FlowEdgesArgs { flow_id: id, after, limit });
    let first = page(None, 3).await.unwrap();
    let rest = page(first.next, 3).await.unwrap();
    assert_eq!((first.edges.len(), rest.edges.len(), rest.next), (3, 1, None));

    let (mut events, mut ended) = (Vec::new(), false);
    while !ended {
        let page =
            store.flow_events(FlowEventsArgs { flow_id: id, from: events.len() as u64, limit: 3 }).await.unwrap();
        assert!(!page.missed);
        events.extend(page.events);
        ended = page.ended;
    }
    assert_eq!(events[0].what, FlowEventKind::Opened { nodes: 4, edges: 4 });
    assert_eq!(events.last().unwrap().what, FlowEventKind::Ended { state: FlowState::Completed });
    assert!(events.iter().map(|event| event.seq).eq(0..events.len() as u64));
    assert_eq!(findings(&store).await, []);
}

/// Most of a full list of events is written without the store. New events then push the oldest ones out.
#[tokio::test]
async fn the_newest_flow_events_are_kept_and_missed_ones_are_reported() {
    let place = StoreLocation::new();
    let store = place.open();
    let id = store.submit_flow(chain(2)).await.unwrap().flow_id;
    let before = store.flow_events(FlowEventsArgs { flow_id: id, from: 0, limit: 9 }).await.unwrap().next;
    store.close().await;
    drop(store);
    let (sqlite, full) = (place.look(), i64::try_from(limits::FLOW_EVENTS).unwrap());
    let fill = "
        WITH RECURSIVE more (seq) AS (SELECT ?1 UNION ALL SELECT seq + 1 FROM more WHERE seq < ?2 - 1)
        INSERT INTO flow_event
        SELECT flow_id, more.seq, json_set(record, '$.seq', more.seq) FROM flow_event, more WHERE flow_event.seq = 0";
    sqlite.execute(fill, [i64::try_from(before).unwrap(), full]).unwrap();
    sqlite.execute("UPDATE flow SET record = json_set(record, '$.events', ?1)", [full]).unwrap();
    drop(sqlite);

    let store = place.open();
    run(&store, &id).await;
    let events = store.snapshot(partition_of(&store, &id)).await.unwrap().flow_events.remove(&id).unwrap();
    assert_eq!(events.len(), limits::FLOW_EVENTS);
    assert!(events[0].seq > 0 && events.windows(2).all(|two| two[0].seq + 1 == two[1].seq));
    let page = store.flow_events(FlowEventsArgs { flow_id: id, from: 0, limit: 1 }).await.unwrap();
    assert!(page.missed && page.events == events[..1]);
}

#[tokio::test]
async fn results_are_handed_on_byte_for_byte() {
    let place = StoreLocation::new();
    let store = place.open();
    let bytes = Payload::bytes(vec![0, 159, 146, 150, 255, 10]);
    let mut args = graph(3, [edge(0, 1), edge(0, 2)]);
    args.edges[0].passes = Some(PassMode::Input(InputName::parse("image").unwrap()));
    args.edges[1].passes = Some(PassMode::Payload);
    let id = store.submit_flow(args).await.unwrap().flow_id;
    let upstream = claim(&store, &id, 1).await.remove(0);
    assert!(upstream.inputs.is_empty());
    complete(&store, &upstream, Some(bytes.clone())).await;
    let mut children = claim(&store, &id, 2).await;
    children.sort_by_key(|claimed| claimed.task.flow.as_ref().unwrap().node.clone());
    let [named, injected] = &children[..] else { panic!("not two children") };
    assert_eq!((named.inputs[0].payload.as_ref(), &named.payload), (Some(&bytes), &Payload::json("1")));
    assert_eq!((&injected.payload, injected.inputs.len()), (&bytes, 0));
    assert_eq!(store.payload(&injected.task.execution_id).await.unwrap(), bytes);
    assert_eq!(findings(&store).await, []);
}

#[tokio::test]
async fn a_submission_that_stopped_half_way_is_not_there_and_then_gone() {
    let place = StoreLocation::new();
    let clock = stopped_clock();
    let store = ff_backend_sqlite::open(&place.path(), SqliteOptions { clock: clock.clone(), ..options() }).unwrap();
    let large = graph(500, (1..500).map(|n| edge(0, n)));
    let id = large.header.flow_id;
    let mut submission = Box::pin(store.submit_flow(large.clone()));
    assert!(submission.as_mut().now_or_never().is_none());
    // This operation is queued behind the first parts of the submission, so they are done when it is answered. The submission is
    // dropped before its last part.
    store.submit(SubmitArgs { start: Start::After(2 * limits::STAGING_MS), ..work() }).await.unwrap();
    drop(submission);
    let partition = partition_of(&store, &id);
    let members = |snapshot: Snapshot| snapshot.executions.values().filter(|one| one.membership.is_some()).count();
    assert!((1..500).contains(&members(store.snapshot(partition).await.unwrap())));
    assert_eq!(store.describe_flow(&id).await.unwrap_err().code(), Code::FlowNotFound);
    let staged = member(&store, &id, 0);
    assert_eq!(store.describe(&staged).await.unwrap_err().code(), Code::ExecutionNotFound);
    assert_eq!(store.payload(&staged).await.unwrap_err().code(), Code::ExecutionNotFound);
    assert_eq!(store.list(everything()).await.unwrap().executions.len(), 1);
    assert!(claim(&store, &id, 10).await.is_empty());
    assert_eq!(findings(&store).await, []);
    clock.advance(limits::STAGING_MS);
    drain(&store, &id).await;
    let left = store.snapshot(partition).await.unwrap();
    assert!(left.edges.is_empty() && left.groups.is_empty() && left.flows.is_empty());
    assert_eq!(left.executions.len(), left.payloads.len());
    assert_eq!(members(left), 0);
    assert!(!store.submit_flow(large).await.unwrap().duplicate);
}

#[tokio::test]
async fn a_large_flow_is_there_at_once_and_listed_as_its_members_are_opened() {
    let place = StoreLocation::new();
    let store = place.open();
    let id = store.submit_flow(graph(450, (1..450).map(|n| edge(0, n)))).await.unwrap().flow_id;
    assert_eq!(store.describe_flow(&id).await.unwrap().nodes, 450);
    let last = member(&store, &id, 449);
    assert_eq!(store.describe(&last).await.unwrap().public_state, PublicState::WaitingChildren);
    assert!(store.list(everything()).await.unwrap().executions.is_empty());
    drain(&store, &id).await;
    assert_eq!(store.list(everything()).await.unwrap().executions.len(), 450);
    run(&store, &id).await;
    assert_eq!(store.describe_flow(&id).await.unwrap().state, FlowState::Completed);
    assert_eq!(findings(&store).await, []);
}

#[tokio::test]
async fn flows_are_listed_newest_first_and_filtered() {
    let place = StoreLocation::new();
    let clock = stopped_clock();
    let store = ff_backend_sqlite::open(&place.path(), SqliteOptions { clock: clock.clone(), ..options() }).unwrap();
    let mut ids = Vec::new();
    for n in 0..7 {
        let mut args = chain(1);
        let team = TagValue::parse(if n % 3 == 0 { "data" } else { "mail" }).unwrap();
        args.header.tags.insert(TagKey::parse("team").unwrap(), team);
        ids.insert(0, store.submit_flow(args).await.unwrap().flow_id);
        clock.advance(u64::from(n % 2 == 0));
    }
    // Some flows were made in the same moment; their ids decide the order.
    ids[1..3].sort_unstable_by(|one, other| other.cmp(one));
    ids[3..5].sort_unstable_by(|one, other| other.cmp(one));
    ids[5..].sort_unstable_by(|one, other| other.cmp(one));
    run(&store, &ids[2]).await;
    let all = ListFlowsArgs { limit: 3, ..ListFlowsArgs::new(Namespace::default_name()) };
    let mut listed = Vec::new();
    let mut after: Option<FlowCursor> = None;
    loop {
        let page = store.list_flows(ListFlowsArgs { after, ..all.clone() }).await.unwrap();
        listed.extend(page.flows.iter().map(|flow| flow.flow_id));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(listed.len(), 7);
    assert_eq!(listed, ids);
    let completed = ListFlowsArgs { state: Some(FlowState::Completed), ..all.clone() };
    let completed = store.list_flows(completed).await.unwrap().flows;
    assert!(completed.iter().all(|flow| flow.state == FlowState::Completed));
    // Another flow on the same partition has run as well.
    assert!(completed.iter().any(|flow| flow.flow_id == ids[2]) && completed.len() < 3, "{completed:?}");
    let team = Some((TagKey::parse("team").unwrap(), TagValue::parse("data").unwrap()));
    let data = store.list_flows(ListFlowsArgs { tag: team, limit: 2, ..all.clone() }).await.unwrap();
    assert_eq!((data.flows.len(), data.next.is_some()), (2, true));
    let elsewhere = ListFlowsArgs { namespace: Namespace::parse("acme").unwrap(), ..all };
    assert!(store.list_flows(elsewhere).await.unwrap().flows.is_empty());
}

/// A process is killed while many notifications of dependents are pending.
#[tokio::test]
async fn notifications_pending_at_a_kill_are_sent_by_the_next_process() {
    let (living, killed) = (StoreLocation::new(), StoreLocation::new());
    let store = living.open();
    let id = store.submit_flow(graph(300, (1..300).map(|n| edge(0, n)))).await.unwrap().flow_id;
    drain(&store, &id).await;
    let root = claim(&store, &id, 1).await.remove(0);
    complete(&store, &root, None).await;
    std::fs::copy(living.path(), killed.path()).unwrap();
    std::fs::copy(crate::beside(&living.path(), "-wal"), crate::beside(&killed.path(), "-wal")).unwrap();

    let store = killed.open();
    let partition = partition_of(&store, &id);
    let counts = store.describe_flow(&id).await.unwrap().counts;
    assert_eq!(counts.of(PublicState::Waiting) as usize, limits::FLOW_STEP, "the rest is owed");
    assert_eq!(findings(&store).await, []);
    assert!(store.sweep(partition).await.unwrap().next_due.unwrap() <= store.now().await.unwrap());
    run(&store, &id).await;
    assert_eq!(store.describe_flow(&id).await.unwrap().state, FlowState::Completed);
    assert_eq!(findings(&store).await, []);
}
