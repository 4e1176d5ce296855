//! Notifying dependents edge by edge, over the published keys of a flow: an unreadable key is left alone.

use ff_backend_valkey::cascade::run_cascade;
use ff_core::contracts::CascadeStep;
use ff_core::engine_error::Code;
use ff_core::flow::edge_id;
use ff_core::keys::{ExecKeyContext, FlowKeyContext};
use ff_core::partition::Partition;
use ff_core::state::PublicState;
use ff_core::types::LaneId;
use ff_engine::Orchestration;

use super::logged::Lines;
use super::*;
use crate::support::{Flavour, Process};
use crate::{claim_on, connect};

/// A flow whose first node has ended without a notification of its dependents.
struct UnnotifiedFlow {
    server: Process,
    store: ValkeyBackend,
    id: FlowId,
}

impl UnnotifiedFlow {
    /// Creates a flow in which everything depends on `a`, which ended with an outcome. This program's own copy of the
    /// graph is deleted, so only the published keys can be followed.
    async fn of(args: SubmitFlowArgs, outcome: &str) -> Self {
        let server = Process::start(Flavour::Valkey, &["--appendonly", "no"]);
        let store = connect(&server.url()).await;
        let id = store.submit_flow(args).await.unwrap().flow_id;
        let forgotten = Self { server, store, id };
        let state = if outcome == "success" { "completed" } else { outcome };
        let core = forgotten.keys("a").core();
        forgotten.server.ask(&["HSET", &core, "public_state", state, "terminal_outcome", outcome, "changed_at", "1"]);
        assert_eq!(forgotten.server.ask(&["DEL", &forgotten.flow_keys().graph()]), ":1");
        forgotten
    }

    fn keys(&self, node: &str) -> ExecKeyContext {
        let id = member(&self.store, &self.id, node);
        ExecKeyContext::new(&Partition::of(&id), &id)
    }

    fn flow_keys(&self) -> FlowKeyContext {
        FlowKeyContext::new(&flow_partition(&self.id, &self.store.partitions()), &self.id)
    }

    /// Returns the key of the edge from `a` to a node.
    fn edge_key(&self, to: &str) -> String {
        let [from, to] = ["a", to].map(|node| member(&self.store, &self.id, node));
        self.flow_keys().edge(&edge_id(&self.id, &from, &to))
    }

    async fn cascade(&self) -> CascadeStep {
        run_cascade(&self.store, &member(&self.store, &self.id, "a")).await.unwrap()
    }

    async fn state(&self, node: &str) -> PublicState {
        self.store.describe(&member(&self.store, &self.id, node)).await.unwrap().public_state
    }
}

fn notified(resolved: u32, cascaded_children: u32) -> CascadeStep {
    CascadeStep { resolved, cascaded_children, more: false }
}

/// Returns a flow in which `a` precedes each of these nodes.
fn before(nodes: &[&str]) -> SubmitFlowArgs {
    let mut args = flow(["a"].iter().chain(nodes).copied());
    args.edges = nodes.iter().map(|to| edge("a", to)).collect();
    args
}

#[tokio::test]
async fn unnotified_dependents_are_notified_once() {
    let forgotten = UnnotifiedFlow::of(before(&["b", "c"]), "success").await;
    assert_eq!(forgotten.cascade().await, notified(2, 0));
    assert_eq!([forgotten.state("b").await, forgotten.state("c").await], [PublicState::Waiting; 2]);
    assert_eq!(forgotten.cascade().await, notified(0, 0));
}

#[tokio::test]
async fn only_success_satisfies() {
    for outcome in ["failed", "cancelled", "expired", "skipped"] {
        let forgotten = UnnotifiedFlow::of(before(&["b"]), outcome).await;
        assert_eq!(forgotten.cascade().await, notified(1, 1), "{outcome}");
        assert_eq!(forgotten.state("b").await, PublicState::Skipped, "{outcome}");
    }
}

#[tokio::test]
async fn an_edge_id_that_cannot_be_read_is_left_alone() {
    let forgotten = UnnotifiedFlow::of(before(&["b"]), "success").await;
    let out = forgotten.flow_keys().outgoing(&member(&forgotten.store, &forgotten.id, "a"));
    forgotten.server.ask(&["SADD", &out, "not an edge"]);
    assert_eq!(forgotten.cascade().await, notified(1, 0));
    assert_eq!(forgotten.state("b").await, PublicState::Waiting);
}

#[tokio::test]
async fn an_edge_that_cannot_be_read_waits_until_it_can() {
    let forgotten = UnnotifiedFlow::of(before(&["b", "c", "d"]), "success").await;
    let (lost, broken) = (forgotten.edge_key("b"), forgotten.edge_key("c"));
    let backup = "kept-{fp}";
    forgotten.server.ask(&["RENAME", &lost, backup]);
    let downstream = member(&forgotten.store, &forgotten.id, "c").to_string();
    forgotten.server.ask(&["HSET", &broken, "downstream_execution_id", "elsewhere"]);
    assert_eq!(forgotten.cascade().await, notified(1, 0), "only what can be read");
    assert_eq!([forgotten.state("b").await, forgotten.state("c").await], [PublicState::WaitingChildren; 2]);

    forgotten.server.ask(&["SET", &lost, "not a hash"]);
    assert_eq!(forgotten.cascade().await, notified(0, 0), "a read that fails is no reason to guess");
    assert_eq!(forgotten.state("b").await, PublicState::WaitingChildren);

    forgotten.server.ask(&["DEL", &lost]);
    forgotten.server.ask(&["RENAME", backup, &lost]);
    forgotten.server.ask(&["HSET", &broken, "downstream_execution_id", &downstream]);
    assert_eq!(forgotten.cascade().await, notified(2, 0));
}

#[tokio::test]
async fn missing_record_fields_take_their_defaults() {
    let mut args = before(&["b"]);
    args.nodes[1].lane = LaneId::parse("mail").unwrap();
    let forgotten = UnnotifiedFlow::of(args, "success").await;
    forgotten.server.ask(&["HDEL", &forgotten.keys("b").core(), "lane_id", "current_attempt_index"]);
    assert_eq!(forgotten.cascade().await, notified(1, 0));
    let partition = partition_of(&forgotten.store, &forgotten.id);
    let claimed = forgotten.store.claim(claim_on(partition, 10)).await.unwrap().claimed;
    let b = member(&forgotten.store, &forgotten.id, "b");
    assert!(claimed.iter().any(|claimed| claimed.task.execution_id == b), "it waits in the default lane");
}

#[tokio::test]
async fn a_cascade_passes_on_skips_and_refuses_a_live_execution() {
    let mut args = flow(["a", "b", "c", "d"]);
    args.edges = vec![edge("a", "b"), edge("b", "c"), edge("c", "d")];
    let forgotten = UnnotifiedFlow::of(args, "failed").await;
    let live = run_cascade(&forgotten.store, &member(&forgotten.store, &forgotten.id, "c")).await.unwrap_err();
    assert_eq!(live.code(), Code::ExecutionNotTerminal);
    assert_eq!(forgotten.cascade().await, notified(3, 3));
    assert_eq!(forgotten.state("d").await, PublicState::Skipped);
}

/// A dispatched completion logs one line, and its edges log a line each only at debug level.
#[tokio::test]
async fn a_dispatch_is_logged_once_with_its_counts_and_its_edges_for_debugging() {
    use tracing::Level;
    let mut args = flow(["a", "b", "c", "d"]);
    args.edges = vec![edge("a", "b"), edge("a", "c"), edge("a", "d")];
    let forgotten = UnnotifiedFlow::of(args, "failed").await;
    forgotten.server.ask(&["HSET", &forgotten.edge_key("d"), "downstream_execution_id", "elsewhere"]);
    let lines = Lines::default();
    let _guard = tracing::subscriber::set_default(lines.clone());
    forgotten.cascade().await;
    let logged = lines.take();
    let at = |level: Level| logged.iter().filter(move |line| line.0 == level).map(|line| line.1.as_str());
    let dispatched = "a completion was dispatched resolved=2 skipped=2 backlog=1";
    assert_eq!(at(Level::INFO).collect::<Vec<_>>(), [dispatched]);
    assert_eq!(at(Level::DEBUG).collect::<Vec<_>>(), ["an edge was dispatched result=\"impossible\""; 2]);
    let downstream = member(&forgotten.store, &forgotten.id, "d").to_string();
    forgotten.server.ask(&["HSET", &forgotten.edge_key("d"), "downstream_execution_id", &downstream]);
    assert_eq!(forgotten.cascade().await, notified(1, 1));
    lines.take();
    assert_eq!(forgotten.cascade().await, notified(0, 0));
    let again = lines.take();
    assert!(again.iter().all(|line| line.0 == Level::DEBUG), "all had been notified before: {again:?}");
}
