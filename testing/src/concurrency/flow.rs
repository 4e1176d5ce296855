//! Many concurrent workers on many flows, while some of the flows are cancelled. The events of each flow must fit its
//! graph.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ff_core::backend::EngineStore;
use ff_core::contracts::{
    CancelFlowArgs, ClaimArgs, CompleteArgs, FailArgs, FlowEventsArgs, FlowMembersArgs, SubmitFlowArgs,
};
use ff_core::engine_error::EngineError;
use ff_core::execution::Failure;
use ff_core::flow::{CancelPolicy, FlowEvent, FlowEventKind, FlowState, Join};
use ff_core::lease::Holder;
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_core::types::{Kind, NodeName};
use ff_engine::Orchestration;
use ff_random_ops::{Generator, Mix};

use crate::Chance;

/// Number of submitters, of flows per submitter, and of workers.
pub struct FlowLoad {
    pub submitters: u64,
    pub flows_each: u64,
    pub workers: u64,
}

/// Submits flows concurrently and works until all of them have ended. Returns the graphs. The caller limits the time.
pub async fn work_through(store: Arc<dyn EngineStore>, load: FlowLoad) -> Vec<SubmitFlowArgs> {
    let done = Arc::new(AtomicBool::new(false));
    let workers: Vec<_> = (0..load.workers).map(|nth| tokio::spawn(work(store.clone(), nth, done.clone()))).collect();
    let submitters: Vec<_> =
        (0..load.submitters).map(|nth| tokio::spawn(submit(store.clone(), nth, load.flows_each))).collect();
    let mut graphs = Vec::new();
    for submitter in submitters {
        graphs.extend(submitter.await.unwrap());
    }
    for graph in &graphs {
        while store.describe_flow(&graph.header.flow_id).await.unwrap().counts.live() > 0 {
            tokio::task::yield_now().await;
        }
    }
    done.store(true, Ordering::SeqCst);
    for worker in workers {
        worker.await.unwrap();
    }
    graphs
}

async fn submit(store: Arc<dyn EngineStore>, nth: u64, flows: u64) -> Vec<SubmitFlowArgs> {
    let (mut chance, mut generator) = (Chance::new(nth), Generator::new(Mix::FLOWS, nth));
    let mut graphs = Vec::new();
    for _ in 0..flows {
        let mut args = generator.graph();
        args.nodes.iter_mut().for_each(|node| node.policy.retry_policy.max_retries = u32::from(chance.one_in(3)));
        store.submit_flow(args.clone()).await.unwrap();
        if chance.one_in(2) {
            for _ in 0..chance.below(20) {
                tokio::task::yield_now().await;
            }
            let (flow_id, policy) = (args.header.flow_id, *chance.pick(CancelPolicy::ALL));
            let cancel = CancelFlowArgs { flow_id, policy, reason: None, requested_by: None };
            unless_refused(store.cancel_flow(cancel).await);
        }
        graphs.push(args);
    }
    graphs
}

/// Claims members. Most succeed, some fail, and some are left until their lease expires.
async fn work(store: Arc<dyn EngineStore>, nth: u64, done: Arc<AtomicBool>) {
    let mut chance = Chance::new(1_000 + nth);
    let holder = Holder::parse("hand", &format!("hand-{nth}")).unwrap();
    let partitions = u64::from(store.partitions().num_flow_partitions);
    while !done.load(Ordering::SeqCst) {
        let args = ClaimArgs {
            max: 1 + usize::try_from(chance.below(4)).unwrap(),
            lease_ttl_ms: 1_000,
            ..ClaimArgs::new(u16::try_from(chance.below(partitions)).unwrap(), holder.clone())
        };
        for claimed in store.claim(args).await.unwrap().claimed {
            let (execution_id, fence) = (claimed.task.execution_id, claimed.task.fence);
            match chance.below(12) {
                0 => {}
                1 | 2 => {
                    let category = Kind::parse("error").unwrap();
                    let failure = Failure { category, message: "no".into(), permanent: chance.one_in(2) };
                    unless_refused(store.fail(FailArgs { execution_id, fence, failure }).await);
                }
                _ => {
                    let result = Some(Payload::json(nth.to_string()));
                    unless_refused(store.complete(CompleteArgs { execution_id, fence, result }).await);
                }
            }
        }
        tokio::task::yield_now().await;
    }
}

/// Accepts an answer or a refusal, which concurrent callers must expect. Panics on any other error.
fn unless_refused<T>(answer: Result<T, EngineError>) {
    match answer {
        Ok(_) | Err(EngineError::Refused(_)) => {}
        Err(trouble) => panic!("the store is in trouble: {trouble}"),
    }
}

/// Panics if the events of an ended flow do not fit its graph.
pub async fn check_flow(store: &dyn EngineStore, graph: &SubmitFlowArgs) {
    let id = graph.header.flow_id;
    let info = store.describe_flow(&id).await.unwrap();
    let args = FlowEventsArgs { flow_id: id, from: 0, limit: limits::PAGE };
    let events = store.flow_events(args).await.unwrap().events;
    let mut history = History { graph, states: born(graph), cancelled: None };
    for (event, nth) in events.iter().zip(0..) {
        assert_eq!(event.seq, nth, "{id}: an event is missing");
        history.follow(event);
    }
    let members = FlowMembersArgs { flow_id: id, from: 0, limit: limits::PAGE };
    let members = store.flow_members(members).await.unwrap().members;
    let read: BTreeMap<_, _> = members.into_iter().map(|member| (member.node, member.public_state)).collect();
    assert_eq!(read, history.states, "{id}: what was told is not what is");
    let ends = events.iter().filter(|event| matches!(event.what, FlowEventKind::Ended { .. })).count();
    assert_eq!((ends, info.ended_at.is_some()), (1, true), "{id}");
    assert_eq!(info.state, history.end(), "{id}");
}

struct History<'g> {
    graph: &'g SubmitFlowArgs,
    states: BTreeMap<NodeName, PublicState>,
    cancelled: Option<CancelPolicy>,
}

/// Returns the first state of every member. The members of a flow that is submitted in several parts wait for the last
/// part.
fn born(graph: &SubmitFlowArgs) -> BTreeMap<NodeName, PublicState> {
    let is_staged = graph.clone().plan().unwrap().len() > 1;
    let state = |node: &NodeName| match is_staged || graph.edges.iter().any(|edge| edge.downstream == *node) {
        true => PublicState::WaitingChildren,
        false => PublicState::Waiting,
    };
    graph.nodes.iter().map(|node| (node.name.clone(), state(&node.name))).collect()
}

impl History<'_> {
    fn follow(&mut self, event: &FlowEvent) {
        match &event.what {
            FlowEventKind::Cancelled { policy } => self.cancelled = Some(*policy),
            FlowEventKind::Moved { node, from, to, .. } => {
                assert_eq!(self.states.get(node), Some(from), "{event:?}");
                assert!(!from.is_terminal(), "an end is an end: {event:?}");
                let (met, possible) = self.join_of(node);
                if *to == PublicState::Active {
                    assert!(met, "it started before its join held: {event:?}");
                    let all = Some(CancelPolicy::CancelAll);
                    assert_ne!(self.cancelled, all, "it started after the cancellation: {event:?}");
                }
                if *to == PublicState::Skipped {
                    assert!(!possible, "it could still have run: {event:?}");
                }
                self.states.insert(node.clone(), *to);
            }
            _ => {}
        }
    }

    /// Returns whether the join of a node is satisfied by now, and whether it can still be satisfied.
    fn join_of(&self, node: &NodeName) -> (bool, bool) {
        let upstreams = self.graph.edges.iter().filter(|edge| edge.downstream == *node);
        let states: Vec<_> = upstreams.map(|edge| self.states[&edge.upstream]).collect();
        let succeeded = states.iter().filter(|state| **state == PublicState::Completed).count();
        let live = states.iter().filter(|state| !state.is_terminal()).count();
        let needs = match self.graph.nodes.iter().find(|known| known.name == *node).unwrap().join {
            Join::AllOf => states.len(),
            Join::AnyOf { .. } => 1,
            Join::Quorum { k, .. } => k as usize,
        };
        (succeeded >= needs, succeeded + live >= needs)
    }

    /// Returns the state in which the flow must have ended, which depends on the members without dependents.
    fn end(&self) -> FlowState {
        let last = |node: &&NodeName| self.graph.edges.iter().all(|edge| edge.upstream != **node);
        let succeeded = self.states.keys().filter(last).all(|node| self.states[node] == PublicState::Completed);
        match (self.cancelled, succeeded) {
            (Some(_), _) => FlowState::Cancelled,
            (None, true) => FlowState::Completed,
            (None, false) => FlowState::Failed,
        }
    }
}
