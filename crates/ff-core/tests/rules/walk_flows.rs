//! Walks over flows: random graphs grown, run, cancelled and replayed at random, and every state a small flow can come
//! to. After every step the invariants hold, and whatever was done, a flow comes to its end.
//!
//! `FF_WALK_STEPS` makes the walk longer, `FF_WALK_SEED` starts it elsewhere.

use std::collections::HashMap;

use ff_core::contracts::{CancelFlowArgs, CompleteArgs, EdgeSpec, FailArgs, PumpArgs, SubmitFlowArgs};
use ff_core::dice::{Dice, SeededDice};
use ff_core::execution::{Failure, Outcome, Phase};
use ff_core::flow::{CancelPolicy, FlowState};
use ff_core::limits;
use ff_core::model::Model;
use ff_core::operation::{Conditions, Operation, Reply};
use ff_core::policy::Policy;
use ff_core::types::{Kind, NodeName, TimestampMs};

use crate::walk::flow_graphs::{Shape, expected, graph};
use crate::walk::flow_moves::{SMALL_FLOW, visit_all};
use crate::walk::flow_play::{FlowPlay, PARTITIONS, claim};
use crate::walk::flow_script::{FlowScript, improvise_flow};
use crate::walk::lazy::decide_lazily;
use crate::walk::splitmix::SplitMix;
use crate::walk::tally::Tally;

/// Steps of a walk nobody asked to be longer.
const STEPS: u64 = 12_000;
/// Steps from one empty store to the next.
const SCRIPT: usize = 50;

/// What must have happened, and how often at least, for a walk to have shown anything.
const LEAST: &[(&str, u64)] = &[
    ("flow staged", 10),
    ("flow submitted", 100),
    ("flow submitted duplicate", 100),
    ("flow created", 20),
    ("flow grown", 100),
    ("flow closed", 20),
    ("flow closed already", 50),
    ("flow cancelled", 50),
    ("flow cancelled already", 3),
    ("flow tagged", 50),
    ("waits for children", 3),
    ("need not wait for children", 1),
    ("cascaded", 50),
    ("replayed", 80),
    ("flow_not_found", 50),
    ("flow_already_terminal", 50),
    ("stale_graph_revision", 10),
    ("self_referencing_edge", 10),
    ("cycle_detected", 10),
    ("dependency_already_exists", 5),
    ("not_runnable", 20),
    ("deps_not_satisfied", 10),
    ("invalid_dependency", 10),
    ("execution_not_found", 1),
    ("ended by its upstreams", 100),
    ("ended by its flow", 30),
    ("ended by a join", 50),
    ("ended by its deadline", 20),
    ("went on after its children", 2),
    ("reopened", 10),
    ("owed", 3),
    ("flow completed", 50),
    ("flow failed", 50),
];

#[test]
fn the_invariants_hold_wherever_flows_lead() {
    let (steps, first) = (from_environment("FF_WALK_STEPS", STEPS), from_environment("FF_WALK_SEED", 1));
    let mut tally = Tally::default();
    for seed in first..first + steps.div_ceil(SCRIPT as u64) {
        let script = improvise_flow(seed, SCRIPT);
        if let Err(what) = FlowPlay::new(&mut tally, &script).play(&script) {
            panic!("seed {seed}: {what}\n\nin the fewest steps:\n{}", fewest(script));
        }
    }
    println!("{}", tally.lines());
    assert_eq!(tally.missing(LEAST.iter().copied()), Vec::<String>::new(), "the walk shows too little");
}

#[test]
fn every_state_a_small_flow_can_come_to_keeps_the_invariants() {
    let walk = visit_all(SMALL_FLOW, if cfg!(debug_assertions) { 5 } else { 7 });
    println!("exhaustive walk of a small flow: {} states, {} transitions", walk.states, walk.steps);
    assert!(walk.states >= 2_000, "visited only {}", walk.states);
}

/// A store loads what a rule misses and runs it again: as often as there is something new, not once per member.
#[test]
fn a_step_with_much_to_tell_runs_a_few_times() {
    let (mut model, dice, now) = (Model::default(), SeededDice::new(1), TimestampMs(1_700_000_000_000));
    let mut graph = graph(&mut SplitMix::new(1), Shape { nodes: 200, edges: 0, cancelling: false, hub: false });
    graph.nodes.iter_mut().for_each(|node| node.start = ff_core::contracts::Start::Now);
    let pairs = graph.nodes.chunks(2).map(|pair| (pair[0].name.clone(), pair[1].name.clone()));
    graph.edges = pairs.map(|(upstream, downstream)| EdgeSpec { upstream, downstream, passes: None }).collect();
    let flow_id = graph.header.flow_id;
    let at = || Conditions { partitions: PARTITIONS, nonce: dice.nonce(), now };
    for part in graph.plan().expect("a graph without a fault") {
        model.execute(&Operation::StageFlow(part), &at()).expect("a flow");
    }
    let cancel = CancelFlowArgs { flow_id, policy: CancelPolicy::CancelAll, reason: None, requested_by: None };
    model.execute(&Operation::CancelFlow(cancel), &at()).expect("a flow that is cancelled");
    let pump = Operation::Pump(PumpArgs { partition: 0 });
    let (pumped, runs) = decide_lazily(&model, &pump, &at());
    let ended = pumped.expect("a pump").changes.len();
    assert!(ended >= limits::FLOW_STEP && runs < 10, "{ended} members in {runs} runs");
}

#[test]
fn random_graphs_end_as_their_joins_say_in_whatever_order() {
    for seed in 0..300 {
        let mut random = SplitMix::new(seed);
        let (nodes, edges) = (1 + random.below(12), random.pick(&[10, 30, 60]));
        let mut graph = graph(&mut random, Shape { nodes, edges, cancelling: false, hub: false });
        for node in &mut graph.nodes {
            (node.policy, node.start) = (Policy::default(), ff_core::contracts::Start::Now);
        }
        let told: HashMap<_, _> = graph
            .nodes
            .iter()
            .map(|node| (node.name.clone(), if random.chance(70) { Outcome::Success } else { Outcome::Failed }))
            .collect();
        let (ends, state) = run(&graph, &told, &mut random);
        assert_eq!(ends, expected(&graph, &told), "seed {seed}: {graph:?}");
        let is_sink = |node: &NodeName| graph.edges.iter().all(|edge| edge.upstream != *node);
        let lost = ends.iter().any(|(node, outcome)| is_sink(node) && *outcome != Outcome::Success);
        assert_eq!(state, if lost { FlowState::Failed } else { FlowState::Completed }, "seed {seed}");
    }
}

/// Runs a graph in a random order, each node ending as it is told to.
fn run(
    graph: &SubmitFlowArgs,
    told: &HashMap<NodeName, Outcome>,
    random: &mut SplitMix,
) -> (HashMap<NodeName, Outcome>, FlowState) {
    let (mut model, dice, now) = (Model::default(), SeededDice::new(1), TimestampMs(1_700_000_000_000));
    let ask = |model: &mut Model, operation: &Operation| {
        let at = Conditions { partitions: PARTITIONS, nonce: dice.nonce(), now };
        model.execute(operation, &at).expect("nothing here is refused").0
    };
    for part in graph.clone().plan().expect("a graph without a fault") {
        ask(&mut model, &Operation::StageFlow(part));
    }
    let mut held = Vec::new();
    loop {
        ask(&mut model, &Operation::Pump(PumpArgs { partition: 0 }));
        if let Reply::Taken(taken) = ask(&mut model, &claim(1 + random.below(3))) {
            held.extend(taken.tasks);
        }
        if held.is_empty() {
            // What one step did not get to is due now, and a pump goes on with it.
            match model.next_due(0) {
                Some(due) if due <= now => continue,
                _ => break,
            }
        }
        let task = held.swap_remove(random.below(held.len()));
        let (execution_id, fence) = (task.execution_id, task.fence);
        let node = task.flow.expect("a member of a flow").node;
        ask(
            &mut model,
            &match told[&node] {
                Outcome::Success => Operation::Complete(CompleteArgs { execution_id, fence, result: None }),
                _ => {
                    let category = Kind::parse("error").expect("a name");
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
    let state = model.find_flow(&graph.header.flow_id).expect("the flow").state();
    (ends.collect(), state)
}

/// The lines a script fails just as well with.
fn fewest(mut script: FlowScript) -> String {
    let fails = |script: &FlowScript| FlowPlay::new(&mut Tally::default(), script).play(script).is_err();
    let mut nth = 0;
    while nth < script.lines.len() {
        let line = script.lines.remove(nth);
        if !fails(&script) {
            script.lines.insert(nth, line);
            nth += 1;
        }
    }
    let verdict = FlowPlay::new(&mut Tally::default(), &script).play(&script);
    let edges: Vec<_> =
        script.graph.edges.iter().map(|edge| format!("{}>{}", edge.upstream, edge.downstream)).collect();
    let joins: Vec<_> = script.graph.nodes.iter().map(|node| (&node.name, node.join)).collect();
    let acts: Vec<_> = script.lines.iter().map(|line| format!("{:?}", line.act)).collect();
    format!("{edges:?} {joins:?}\n{}\n{}", acts.join("\n"), verdict.err().unwrap_or_default())
}

fn from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}
