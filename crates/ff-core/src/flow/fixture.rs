//! A fixture for the tests of flows: one flow, a worker that takes all waiting work, and a clock the test owns. The
//! doctor checks everything after every step.

use std::collections::BTreeMap;

use super::contracts::{
    CancelFlowArgs, EdgeAddition, EdgeSpec, FlowHeader, GrowFlowArgs, MemberRef, NodeSpec, StageFlowArgs, StagedFlow,
    SubmitFlowArgs, SubmittedFlow,
};
use super::{CancelPolicy, Flow, FlowEventKind, Join, OnSatisfied, member_id};
use crate::backend::entropy::{Entropy, SeededEntropy};
use crate::doctor::examine;
use crate::engine_error::{Code, Refusal};
use crate::execution::contracts::{CompleteArgs, FailArgs, ReplayArgs};
use crate::execution::{Execution, Failure};
use crate::lease::contracts::{ClaimArgs, Task};
use crate::lease::{Fence, Holder};
use crate::model::Model;
use crate::operation::{Ask, Conditions, PumpArgs};
use crate::partition::PartitionConfig;
use crate::payload::Payload;
use crate::rule::samples::at;
use crate::types::{ExecutionId, FlowId, Kind, NodeName, TimestampMs};

/// A flow in a model, with a worker and a clock.
pub(crate) struct FlowFixture {
    pub(crate) model: Model,
    entropy: SeededEntropy,
    pub(crate) id: FlowId,
    pub(crate) now: TimestampMs,
    fences: BTreeMap<ExecutionId, Fence>,
    /// Whether the doctor checks the model after every step. Tests of the largest flows disable the check because it
    /// takes too long.
    pub(crate) watched: bool,
}

/// Builds a graph from a text of edges, such as `a>b a>c`. A single name is a node without edges.
pub(crate) fn graph(text: &str, joins: &[(&str, Join)]) -> SubmitFlowArgs {
    let (mut nodes, mut edges): (Vec<NodeSpec>, Vec<EdgeSpec>) = (vec![], vec![]);
    let mut node = |name: &str| {
        let name = named(name);
        if !nodes.iter().any(|known| known.name == name) {
            nodes.push(spec(name.as_str()));
        }
        name
    };
    for word in text.split_whitespace() {
        match word.split_once('>') {
            Some((from, to)) => edges.push(EdgeSpec { upstream: node(from), downstream: node(to), passes: None }),
            None => drop(node(word)),
        }
    }
    for (name, join) in joins {
        nodes.iter_mut().filter(|node| node.name == named(name)).for_each(|node| node.join = *join);
    }
    SubmitFlowArgs { header: FlowHeader::new(Kind::parse("etl").unwrap()), nodes, edges }
}

pub(crate) fn named(name: &str) -> NodeName {
    NodeName::parse(name).unwrap()
}

pub(crate) fn spec(name: &str) -> NodeSpec {
    NodeSpec::new(named(name), Kind::parse("work").unwrap(), Payload::json("1"))
}

pub(crate) fn any_of(on_satisfied: OnSatisfied) -> Join {
    Join::AnyOf { on_satisfied }
}

pub(crate) fn quorum(k: u32, on_satisfied: OnSatisfied) -> Join {
    Join::Quorum { k, on_satisfied }
}

pub(crate) fn edge(from: &str, to: &str) -> EdgeAddition {
    EdgeAddition { upstream: MemberRef::Node(named(from)), downstream: MemberRef::Node(named(to)), passes: None }
}

impl FlowFixture {
    pub(crate) fn empty() -> Self {
        let (model, entropy, now) = (Model::default(), SeededEntropy::new(1), at(0));
        Self { model, entropy, id: FlowId::new(), now, fences: BTreeMap::new(), watched: true }
    }

    /// Creates a fixture with a submitted flow.
    pub(crate) fn with(args: SubmitFlowArgs) -> Self {
        let mut fixture = Self::empty();
        fixture.submit(args).unwrap();
        fixture.drain();
        fixture
    }

    /// Creates a fixture with the flow that a text describes.
    pub(crate) fn of(text: &str) -> Self {
        Self::with(graph(text, &[]))
    }

    pub(crate) fn submit(&mut self, args: SubmitFlowArgs) -> Result<SubmittedFlow, Refusal> {
        self.id = args.header.flow_id;
        let mut answer = None;
        for part in args.plan()? {
            answer = Some(self.part(part)?);
        }
        match answer {
            Some(StagedFlow::Submitted(submitted)) => Ok(submitted),
            other => panic!("not submitted: {other:?}"),
        }
    }

    pub(crate) fn part(&mut self, part: StageFlowArgs) -> Result<StagedFlow, Refusal> {
        self.ask(part)
    }

    pub(crate) fn parts(&mut self, parts: &[StageFlowArgs]) {
        for part in parts {
            self.part(part.clone()).unwrap();
        }
    }

    pub(crate) fn ask<A: Ask>(&mut self, args: A) -> Result<A::Reply, Refusal> {
        let at = Conditions { partitions: config(), nonce: self.entropy.nonce(), now: self.now };
        let operation = args.into_operation();
        let before = self.watched.then(|| self.model.snapshot(0));
        let reply = self.model.execute(&operation, &at);
        if let Some(before) = before {
            let after = self.model.snapshot(0);
            assert_eq!(examine(&after, 0, self.now), [], "after {operation:?}");
            assert!(reply.is_ok() || before == after, "a refusal wrote something");
        }
        Ok(A::decided(reply?.0).unwrap())
    }

    pub(crate) fn refused<A: Ask>(&mut self, args: A) -> Refusal
    where
        A::Reply: std::fmt::Debug,
    {
        self.ask(args).unwrap_err()
    }

    pub(crate) fn member(&self, name: &str) -> ExecutionId {
        member_id(&self.id, &named(name), &config())
    }

    pub(crate) fn execution(&self, name: &str) -> &Execution {
        self.model.find(&self.member(name)).unwrap()
    }

    pub(crate) fn state(&self, name: &str) -> &'static str {
        self.execution(name).public_state().as_str()
    }

    /// Returns the states of several members, in order.
    pub(crate) fn states(&self, names: &str) -> Vec<&'static str> {
        names.split_whitespace().map(|name| self.state(name)).collect()
    }

    pub(crate) fn flow(&self) -> &Flow {
        self.model.find_flow(&self.id).unwrap()
    }

    pub(crate) fn flow_state(&self) -> &'static str {
        self.flow().state().as_str()
    }

    /// Claims up to `max` executions and keeps their fences.
    pub(crate) fn claim(&mut self, max: usize) -> Vec<Task> {
        let args = ClaimArgs { max, ..ClaimArgs::new(0, Holder::parse("w", "w-1").unwrap()) };
        let tasks = self.ask(args).unwrap().tasks;
        self.fences.extend(tasks.iter().map(|task| (task.execution_id, task.fence)));
        tasks
    }

    /// Claims all waiting executions.
    pub(crate) fn start(&mut self) {
        while !self.claim(100).is_empty() {}
    }

    pub(crate) fn fence(&self, name: &str) -> Fence {
        self.fences[&self.member(name)]
    }

    pub(crate) fn complete(&mut self, name: &str) {
        self.complete_with(name, None);
    }

    pub(crate) fn complete_with(&mut self, name: &str, result: Option<Payload>) {
        let (execution_id, fence) = (self.member(name), self.fence(name));
        self.ask(CompleteArgs { execution_id, fence, result }).unwrap();
    }

    /// Claims all waiting executions and completes one member.
    pub(crate) fn run_until(&mut self, name: &str) {
        self.start();
        self.complete(name);
    }

    /// Fails a member permanently.
    pub(crate) fn fail(&mut self, name: &str) {
        let failure = Failure { category: Kind::parse("error").unwrap(), message: "no".into(), permanent: true };
        let (execution_id, fence) = (self.member(name), self.fence(name));
        self.ask(FailArgs { execution_id, fence, failure }).unwrap();
    }

    /// Claims waiting members and completes them, until nothing is left to do.
    pub(crate) fn run(&mut self) {
        loop {
            self.drain();
            let tasks = self.claim(100);
            if tasks.is_empty() {
                return;
            }
            for task in tasks {
                self.ask(CompleteArgs { execution_id: task.execution_id, fence: task.fence, result: None }).unwrap();
            }
        }
    }

    /// Pumps until no propagation is pending; returns the number of pumps that had work.
    pub(crate) fn drain(&mut self) -> usize {
        let mut pumps = 0;
        while self.model.next_due(0).is_some_and(|at| at <= self.now) {
            self.ask(PumpArgs { partition: 0 }).unwrap();
            pumps += 1;
            assert!(pumps < 10_000, "this does not end");
        }
        pumps
    }

    /// Advances the clock by a minute, and fires all work that is due.
    pub(crate) fn wait_a_minute(&mut self) {
        self.now = self.now + 60_000;
        self.drain();
    }

    pub(crate) fn cancel_flow(&mut self, policy: CancelPolicy) -> super::contracts::FlowCancelled {
        let args = CancelFlowArgs { flow_id: self.id, policy, reason: None, requested_by: None };
        self.ask(args).unwrap()
    }

    pub(crate) fn replay(&mut self, name: &str, reopen_downstream: bool) -> Result<&'static str, Code> {
        let args = ReplayArgs { reopen_downstream, ..ReplayArgs::new(self.member(name)) };
        let replayed = self.ask(args).map_err(|refusal| refusal.code)?;
        Ok(replayed.public_state.as_str())
    }

    pub(crate) fn growth(&self, nodes: &[&str], edges: &[(&str, &str)]) -> GrowFlowArgs {
        GrowFlowArgs {
            nodes: nodes.iter().map(|name| spec(name)).collect(),
            edges: edges.iter().map(|(from, to)| edge(from, to)).collect(),
            ..GrowFlowArgs::new(self.id)
        }
    }

    /// Returns the events of the flow, without the state changes of its members.
    pub(crate) fn flow_events(&self) -> Vec<FlowEventKind> {
        let own = |what: &FlowEventKind| !matches!(what, FlowEventKind::Moved { .. });
        self.model.flow_events(&self.id).map(|event| event.what.clone()).filter(own).collect()
    }
}

/// Returns a configuration with one partition, so that all records are on it.
pub(crate) fn config() -> PartitionConfig {
    PartitionConfig { num_flow_partitions: 1, ..PartitionConfig::default() }
}
