//! Random graphs end as their joins require, and a step with many members is decided in few runs.

use std::collections::HashMap;

use ff_core::backend::entropy::{Entropy, SeededEntropy};
use ff_core::contracts::{CancelFlowArgs, CompleteArgs, EdgeSpec, FailArgs, NodeSpec, PumpArgs, SubmitFlowArgs};
use ff_core::execution::{Failure, Outcome, Phase};
use ff_core::flow::{CancelPolicy, FlowState, Join, OnSatisfied};
use ff_core::limits;
use ff_core::model::Model;
use ff_core::operation::{Conditions, Operation, Reply};
use ff_core::types::{Kind, NodeName};
use ff_random_ops::laws::decide_lazily;
use ff_random_ops::{BEGINNING, Chance, Generator, Mix};

use crate::{PARTITIONS, claim};

/// A store loads the records that a rule misses and runs the rule again. It does so once per batch of misses, not once
/// per member.
#[test]
fn a_step_with_much_to_do_runs_a_few_times() {
    let (mut model, entropy) = (Model::default(), SeededEntropy::new(1));
    let mut graph = Generator::new(Mix::FLOWS, 1).graph();
    let node = graph.nodes[0].clone();
    let name = |nth: usize| NodeName::parse(&format!("n{nth}")).unwrap();
    graph.nodes = (0..200).map(|nth| NodeSpec { name: name(nth), ..node.clone() }).collect();
    let edge = |nth: usize| EdgeSpec { upstream: name(2 * nth), downstream: name(2 * nth + 1), passes: None };
    graph.edges = (0..100).map(edge).collect();
    let flow_id = graph.header.flow_id;
    let at = || Conditions { partitions: PARTITIONS, nonce: entropy.nonce(), now: BEGINNING };
    for part in graph.plan().unwrap() {
        model.execute(&Operation::StageFlow(part), &at()).unwrap();
    }
    let cancel = CancelFlowArgs { flow_id, policy: CancelPolicy::CancelAll, reason: None, requested_by: None };
    model.execute(&Operation::CancelFlow(cancel), &at()).unwrap();
    let pump = Operation::Pump(PumpArgs { partition: 0 });
    let (pumped, runs) = decide_lazily(&model, &pump, &at());
    let ended = pumped.unwrap().changes.len();
    assert!(ended >= limits::FLOW_STEP && runs < 10, "{ended} members in {runs} runs");
}

#[test]
fn random_graphs_end_as_their_joins_say_in_whatever_order() {
    for seed in 0..300 {
        let (mut graph, mut chance) = (Generator::new(Mix::FLOWS, seed).graph(), Chance::new(seed));
        // If the remaining upstreams may run, the order in which upstreams end does not matter.
        for node in &mut graph.nodes {
            if let Join::AnyOf { on_satisfied } | Join::Quorum { on_satisfied, .. } = &mut node.join {
                *on_satisfied = OnSatisfied::LetRun;
            }
        }
        let outcome = |chance: &mut Chance| if chance.below(10) < 7 { Outcome::Success } else { Outcome::Failed };
        let outcomes: HashMap<_, _> =
            graph.nodes.iter().map(|node| (node.name.clone(), outcome(&mut chance))).collect();
        let (ends, state) = end(&graph, &outcomes, &mut chance);
        assert_eq!(ends, expected(&graph, &outcomes), "seed {seed}: {graph:?}");
        let is_sink = |node: &NodeName| graph.edges.iter().all(|edge| edge.upstream != *node);
        let lost = ends.iter().any(|(node, outcome)| is_sink(node) && *outcome != Outcome::Success);
        assert_eq!(state, if lost { FlowState::Failed } else { FlowState::Completed }, "seed {seed}");
    }
}

/// Runs a graph in random order, each node with its given outcome.
fn end(
    graph: &SubmitFlowArgs,
    outcomes: &HashMap<NodeName, Outcome>,
    chance: &mut Chance,
) -> (HashMap<NodeName, Outcome>, FlowState) {
    let (mut model, entropy) = (Model::default(), SeededEntropy::new(1));
    let ask = |model: &mut Model, operation: &Operation| {
        let at = Conditions { partitions: PARTITIONS, nonce: entropy.nonce(), now: BEGINNING };
        model.execute(operation, &at).unwrap().0
    };
    for part in graph.clone().plan().unwrap() {
        ask(&mut model, &Operation::StageFlow(part));
    }
    let mut held = Vec::new();
    loop {
        ask(&mut model, &Operation::Pump(PumpArgs { partition: 0 }));
        if let Reply::ClaimDecision(taken) = ask(&mut model, &Operation::Claim(claim(0, *chance.pick(&[1, 2, 3])))) {
            held.extend(taken.tasks);
        }
        if held.is_empty() {
            // Work beyond one step is due now, and a pump continues it.
            match model.next_due(0) {
                Some(due) if due <= BEGINNING => continue,
                _ => break,
            }
        }
        let nth = usize::try_from(chance.below(held.len() as u64)).unwrap();
        let task = held.swap_remove(nth);
        let (execution_id, fence) = (task.execution_id, task.fence);
        ask(
            &mut model,
            &match outcomes[&task.flow.unwrap().node] {
                Outcome::Success => Operation::Complete(CompleteArgs { execution_id, fence, result: None }),
                _ => {
                    let category = Kind::parse("error").unwrap();
                    let failure = Failure { category, message: "no".into(), permanent: true };
                    Operation::Fail(FailArgs { execution_id, fence, failure })
                }
            },
        );
    }
    let ends = model.executions().filter_map(|execution| match (&execution.phase, &execution.membership) {
        (Phase::Finished { outcome, .. }, Some(membership)) => Some((membership.node.clone(), *outcome)),
        _ => None,
    });
    let state = model.find_flow(&graph.header.flow_id).unwrap().state();
    (ends.collect(), state)
}

/// Returns the expected outcome of every node, computed from the joins alone.
fn expected(graph: &SubmitFlowArgs, outcomes: &HashMap<NodeName, Outcome>) -> HashMap<NodeName, Outcome> {
    let mut ends: HashMap<NodeName, Outcome> = HashMap::new();
    while ends.len() < graph.nodes.len() {
        for node in &graph.nodes {
            let upstreams = graph.edges.iter().filter(|edge| edge.downstream == node.name);
            let known: Option<Vec<_>> = upstreams.map(|edge| ends.get(&edge.upstream).copied()).collect();
            let Some(known) = known else { continue };
            let successes = known.iter().filter(|outcome| **outcome == Outcome::Success).count();
            let holds = match node.join {
                Join::AllOf => successes == known.len(),
                Join::AnyOf { .. } => successes >= 1,
                Join::Quorum { k, .. } => successes >= k as usize,
            };
            ends.insert(node.name.clone(), if holds { outcomes[&node.name] } else { Outcome::Skipped });
        }
    }
    ends
}
