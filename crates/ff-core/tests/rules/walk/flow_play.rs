//! Plays a script over one flow: finds out what each line means where the walk stands, does it, and checks everything.

use ff_core::contracts::{
    CancelArgs, CancelFlowArgs, CascadeArgs, ClaimArgs, CloseFlowArgs, CompleteArgs, CreateFlowArgs, DelayArgs,
    FailArgs, GrowFlowArgs, GrownEdge, MemberRef, PumpArgs, ReplayArgs, SetFlowTagsArgs, StageFlowArgs, Start,
    WaitForChildrenArgs,
};
use ff_core::dice::{Dice, Nonce, SeededDice};
use ff_core::execution::{Failure, Phase};
use ff_core::hint::Hint;
use ff_core::lease::{Fence, Holder};
use ff_core::model::Model;
use ff_core::operation::{Conditions, Operation, Reply};
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::types::{
    ExecutionId, FlowId, IdempotencyKey, Kind, LaneId, Namespace, NodeName, TagKey, TagValue, TimestampMs, WorkerId,
    WorkerInstanceId,
};

use super::deed::{Deed, Verdict, without_panic};
use super::flow_graphs::node;
use super::flow_script::{FlowAct, FlowLine, FlowScript};
use super::healthy::healthy;
use super::lawful::lawful;
use super::lazy::decide_lazily;
use super::repeated::answers_again;
use super::splitmix::SplitMix;
use super::tally::Tally;

/// One, so that nothing is elsewhere.
pub(crate) const PARTITIONS: PartitionConfig =
    PartitionConfig { num_flow_partitions: 1, num_budget_partitions: 1, num_quota_partitions: 1 };

/// How often a rule may run at most until it has everything it needs. A chain takes three looks per hop.
const RUNS: usize = 4 * ff_core::limits::FLOW_STEP;

/// A walk under way.
pub(crate) struct FlowPlay<'t> {
    tally: &'t mut Tally,
    pub(crate) model: Model,
    pub(crate) now: TimestampMs,
    flow: FlowId,
    parts: Vec<StageFlowArgs>,
    /// Parts that came.
    staged: usize,
    held: Vec<(ExecutionId, Fence)>,
    /// Nodes that were added, for names.
    added: usize,
    random: SplitMix,
    other: Nonce,
    steps: usize,
}

impl<'t> FlowPlay<'t> {
    pub(crate) fn new(tally: &'t mut Tally, script: &FlowScript) -> Self {
        let flow = script.graph.header.flow_id;
        let parts = if script.grown { vec![] } else { script.graph.clone().plan().expect("a graph without a fault") };
        let (now, other) = (TimestampMs(1_700_000_000_000), SeededDice::new(0).nonce());
        let (model, random, added) = (Model::default(), SplitMix::new(7), script.graph.nodes.len());
        Self { tally, model, now, flow, parts, staged: 0, held: vec![], added, random, other, steps: 0 }
    }

    /// Plays every line, and then works until nothing is left: whatever was done, a flow comes to its end.
    pub(crate) fn play(&mut self, script: &FlowScript) -> Verdict {
        without_panic(|| {
            if script.grown {
                let header = script.graph.header.clone();
                self.perform(&Operation::CreateFlow(CreateFlowArgs { header }), self.other)?;
            }
            for line in &script.lines {
                self.line(line)?;
            }
            self.finish()
        })
    }

    fn line(&mut self, line: &FlowLine) -> Verdict {
        if let FlowAct::Clock { little } = line.act {
            let next = self.model.next_due(0).filter(|next| !little && next.since(self.now) < 60_000);
            self.now = next.unwrap_or(self.now + 300).max(self.now);
            return Ok(());
        }
        let Some(operation) = self.operation(&line.act) else { return Ok(()) };
        self.perform(&operation, line.nonce)
    }

    /// Decides an operation over everything and over nothing, does it, and looks at what became of it.
    pub(crate) fn perform(&mut self, operation: &Operation, nonce: Nonce) -> Verdict {
        let at = Conditions { partitions: PARTITIONS, nonce, now: self.now };
        let before = self.model.clone();
        let deed = Deed::decide(&before, operation, at);
        lawful(&deed)?;
        // Whoever looks at a wide graph looks at much, so not after every step.
        self.steps += 1;
        let looks = before.executions().nth(40).is_none() || self.steps.is_multiple_of(16);
        if looks {
            decides_the_same_lazily(&before, operation, &at)?;
        }
        self.tally.step_in_flow(&deed);
        match (self.model.execute(operation, &at), &deed.decided) {
            (Ok((reply, hints)), Ok(decision)) if reply == decision.reply => {
                hinted(&before, &self.model, &hints)?;
                answers_again(&self.model, operation, &reply, Conditions { nonce: self.other, ..at })?;
                self.remember(operation, &reply);
            }
            (Err(refusal), Err(first)) if refusal == *first => {
                if looks && self.model.snapshot(0) != before.snapshot(0) {
                    return Err("I5: a refusal changed something".into());
                }
            }
            (other, _) => return Err(format!("decided twice, and differently: {other:?}")),
        }
        if !looks {
            return Ok(());
        }
        healthy(&self.model, 0, self.now).map_err(|what| format!("{what}\n  after {operation:?}"))
    }

    fn remember(&mut self, operation: &Operation, reply: &Reply) {
        match (operation, reply) {
            (Operation::StageFlow(args), _) => self.staged = self.staged.max(args.part as usize + 1),
            (_, Reply::Taken(taken)) => {
                let taken = taken.tasks.iter().map(|task| (task.execution_id, task.fence));
                self.held.retain(|(id, _)| taken.clone().all(|(new, _)| new != *id));
                self.held.extend(taken);
            }
            _ => {}
        }
    }

    /// Works until nothing is left, and waits until nothing is kept. What was held open is closed first.
    fn finish(&mut self) -> Verdict {
        while self.staged < self.parts.len() {
            self.perform(&Operation::StageFlow(self.parts[self.staged].clone()), self.other)?;
        }
        self.perform(&Operation::CloseFlow(CloseFlowArgs { flow_id: self.flow }), self.other)?;
        let dice = SeededDice::new(99);
        let mut has_ended = false;
        for _ in 0..2_000 {
            has_ended |= self.model.find_flow(&self.flow).is_some_and(|flow| flow.ended_at.is_some());
            let nonce = dice.nonce();
            self.perform(&claim(100), nonce)?;
            let live = |(id, fence): &(ExecutionId, Fence)| {
                let found = self.model.find(id);
                found.is_some_and(|execution| execution.held_by(fence, self.now).is_ok())
            };
            if let Some((execution_id, fence)) = self.held.iter().copied().find(live) {
                let complete = CompleteArgs { execution_id, fence, result: None };
                self.perform(&Operation::Complete(complete), dice.nonce())?;
            } else if let Some(next) = self.model.next_due(0) {
                self.now = self.now.max(next);
                self.perform(&Operation::Pump(PumpArgs { partition: 0 }), dice.nonce())?;
            } else if self.model.executions().all(|execution| execution.phase != Phase::Waiting) {
                return match self.model.executions().next() {
                    None if has_ended => Ok(()),
                    stuck => Err(format!("I20: nothing is left to do, and the flow is not over and gone: {stuck:?}")),
                };
            }
        }
        Err("I20: the flow does not come to an end".into())
    }

    /// What an act is here and now; nothing when there is nothing to do it to.
    fn operation(&mut self, act: &FlowAct) -> Option<Operation> {
        let members: Vec<_> = self.model.executions().map(|execution| execution.id).collect();
        let member = |of: usize| (!members.is_empty()).then(|| members[of % members.len()]);
        // Mostly what was taken last: what was taken long ago has often ended.
        let held = |of: usize| self.held.iter().rev().nth(of % self.held.len().clamp(1, 4)).copied();
        let flow_id = self.flow;
        Some(match act.clone() {
            FlowAct::Stage { again } => {
                let part = if again { self.staged.saturating_sub(1) } else { self.staged };
                Operation::StageFlow(self.parts.get(part)?.clone())
            }
            FlowAct::Claim { max } => claim(max),
            FlowAct::Complete { of, bytes } => {
                let (execution_id, fence) = held(of)?;
                let result = (bytes > 0).then(|| Payload::bytes(vec![7; bytes]));
                Operation::Complete(CompleteArgs { execution_id, fence, result })
            }
            FlowAct::Fail { of, permanent } => {
                let (execution_id, fence) = held(of)?;
                let category = Kind::parse("error").expect("a name");
                let failure = Failure { category, message: "no".into(), permanent };
                Operation::Fail(FailArgs { execution_id, fence, failure })
            }
            FlowAct::Delay { of } => {
                let (execution_id, fence) = held(of)?;
                Operation::Delay(DelayArgs { execution_id, fence, start: Start::After(400) })
            }
            FlowAct::Cancel { of } => {
                Operation::Cancel(CancelArgs { execution_id: member(of)?, reason: None, requested_by: None })
            }
            FlowAct::Replay { of, reopen } => Operation::Replay(ReplayArgs {
                execution_id: member(of)?,
                reason: None,
                requested_by: None,
                reopen_downstream: reopen,
            }),
            FlowAct::CancelFlow { policy } => {
                Operation::CancelFlow(CancelFlowArgs { flow_id, policy, reason: None, requested_by: None })
            }
            FlowAct::Grow { from, to, stale, key } => {
                let new = self.fresh();
                let ends = [member(from).map(|id| (by_id(id), by_name(&new.name)))];
                let onward = to.and_then(member).map(|id| (by_name(&new.name), by_id(id)));
                let edges =
                    ends.into_iter().flatten().chain(onward).map(|(upstream, downstream)| edge(upstream, downstream));
                Operation::GrowFlow(GrowFlowArgs {
                    expected_graph_revision: stale.then_some(0),
                    edges: edges.collect(),
                    nodes: vec![new],
                    idempotency_key: key.map(|key| IdempotencyKey::parse(key).expect("a key")),
                    ..GrowFlowArgs::new(flow_id)
                })
            }
            FlowAct::Link { from, to } => {
                let edges = vec![edge(by_id(member(from)?), by_id(member(to)?))];
                Operation::GrowFlow(GrowFlowArgs { edges, ..GrowFlowArgs::new(flow_id) })
            }
            FlowAct::Children { of, count } => {
                let holder = held(of)?;
                let nodes: Vec<_> = (0..count).map(|_| self.fresh()).collect();
                let edges = nodes.iter().map(|node| edge(by_name(&node.name), by_id(holder.0))).collect();
                Operation::GrowFlow(GrowFlowArgs { nodes, edges, holder: Some(holder), ..GrowFlowArgs::new(flow_id) })
            }
            FlowAct::Wait { of } => {
                let (execution_id, fence) = held(of)?;
                Operation::WaitForChildren(WaitForChildrenArgs { execution_id, fence })
            }
            FlowAct::Close => Operation::CloseFlow(CloseFlowArgs { flow_id }),
            FlowAct::Tag => {
                let tag = (TagKey::parse("team").expect("a name"), TagValue::parse("data").expect("a text"));
                Operation::SetFlowTags(SetFlowTagsArgs { flow_id, tags: [tag].into() })
            }
            FlowAct::Cascade { of } => Operation::Cascade(CascadeArgs { execution_id: member(of)?, owed_since: None }),
            FlowAct::Pump | FlowAct::Clock { .. } => Operation::Pump(PumpArgs { partition: 0 }),
        })
    }

    fn fresh(&mut self) -> ff_core::contracts::NodeSpec {
        self.added += 1;
        node(&mut self.random, self.added)
    }
}

pub(crate) fn claim(max: usize) -> Operation {
    Operation::Claim(ClaimArgs {
        partition: 0,
        namespace: Namespace::default_name(),
        lane: LaneId::default_name(),
        kinds: vec![],
        max,
        holder: Holder {
            worker_id: WorkerId::parse("worker").expect("a name"),
            worker_instance_id: WorkerInstanceId::parse("worker-0").expect("a name"),
        },
        lease_ttl_ms: 3_000,
    })
}

/// A rule that is handed its records as it misses them decides the same, and need not run often for it.
fn decides_the_same_lazily(before: &Model, operation: &Operation, at: &Conditions) -> Verdict {
    let (lazily, runs) = decide_lazily(before, operation, at);
    let same = match (&lazily, operation.decide(before, at)) {
        (Ok(one), Ok(other)) => *one == other,
        (Err(one), Err(other)) => *one == other,
        _ => false,
    };
    if same && runs <= RUNS { Ok(()) } else { Err(format!("decides the same lazily: {same}, in {runs} runs")) }
}

fn edge(upstream: MemberRef, downstream: MemberRef) -> GrownEdge {
    GrownEdge { upstream, downstream, passes: None }
}

fn by_id(id: ExecutionId) -> MemberRef {
    MemberRef::Execution(id)
}

fn by_name(name: &NodeName) -> MemberRef {
    MemberRef::Node(name.clone())
}

/// Whoever waits is told: of work, of ends, of moments, and of what happens in a flow.
fn hinted(before: &Model, after: &Model, hints: &[Hint]) -> Verdict {
    for execution in after.executions() {
        let was = before.find(&execution.id);
        let began = |phase: fn(&Phase) -> bool| phase(&execution.phase) && !was.is_some_and(|was| phase(&was.phase));
        let ended = |hint: &Hint| matches!(hint, Hint::Ended { execution_id } if *execution_id == execution.id);
        if began(|phase| *phase == Phase::Waiting) && !hints.iter().any(|hint| matches!(hint, Hint::Ready { .. })) {
            return Err(format!("I9: nobody was told that {} waits", execution.id));
        }
        if began(|phase| matches!(phase, Phase::Finished { .. })) && !hints.iter().any(ended) {
            return Err(format!("I9: nobody was told that {} ended", execution.id));
        }
    }
    for flow in after.flows() {
        let was = before.find_flow(&flow.id);
        let told = |expected: Hint| hints.contains(&expected);
        let flow_id = flow.id;
        if was.is_none_or(|was| was.events < flow.events) && !told(Hint::FlowMoved { flow_id }) {
            return Err(format!("I9: nobody was told that something happened in {flow_id}"));
        }
        if flow.ended_at.is_some() && was.is_none_or(|was| was.ended_at.is_none()) && !told(Hint::FlowEnded { flow_id })
        {
            return Err(format!("I9: nobody was told that {flow_id} ended"));
        }
    }
    let (was, is) = (before.next_due(0), after.next_due(0));
    match is.filter(|is| was.is_none_or(|was| *is < was)) {
        Some(at) if !hints.contains(&Hint::Due { partition: 0, at }) => {
            Err(format!("I9: nobody was told that something is due at {at}"))
        }
        _ => Ok(()),
    }
}
