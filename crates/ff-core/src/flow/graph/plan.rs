//! Planning the submission of a whole graph: the graph is checked, put into topological order, and cut into parts.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use crate::engine_error::{Code, Refusal, check_limit};
use crate::flow::PassMode;
use crate::flow::contracts::{EdgeSpec, NodeSpec, StageFlowArgs, SubmitFlowArgs};
use crate::flow::graph::build::second_payload;
use crate::limits;
use crate::payload::Fingerprint;
use crate::types::NodeName;

impl SubmitFlowArgs {
    /// Returns the parts to submit, in order. Refuses an invalid graph; the refusal names the node or the edge.
    pub fn plan(self) -> Result<Vec<StageFlowArgs>, Refusal> {
        self.header.check()?;
        let numbers = self.numbers()?;
        let ends = self.ends(&numbers)?;
        self.joins(&ends)?;
        let order = self.order(&ends)?;
        let fingerprint = self.fingerprint();
        Ok(self.cut(&order, &ends, fingerprint))
    }

    /// Returns the position of each node, by name. Refuses nodes that are over a limit, and names that occur twice.
    fn numbers(&self) -> Result<HashMap<&NodeName, usize>, Refusal> {
        if self.nodes.is_empty() {
            return Err(Refusal::invalid("nodes", "must contain at least one node"));
        }
        check_limit(Code::LimitExceeded, "nodes", limits::FLOW_NODES, self.nodes.len())?;
        check_limit(Code::LimitExceeded, "edges", limits::FLOW_EDGES, self.edges.len())?;
        let bytes = self.nodes.iter().map(|node| node.payload.bytes.len()).sum();
        check_limit(Code::PayloadTooLarge, "nodes", limits::FLOW_BYTES, bytes)?;
        let mut numbers = HashMap::new();
        for (number, node) in self.nodes.iter().enumerate() {
            node.check()?;
            if numbers.insert(&node.name, number).is_some() {
                let refusal = Code::ExecutionAlreadyInFlow.refusal().at(format!("nodes.{}", node.name));
                return Err(refusal.because("must be there once, is there twice"));
            }
        }
        Ok(numbers)
    }

    /// Returns the positions of the upstream and the downstream of each edge. Refuses invalid edges.
    fn ends(&self, numbers: &HashMap<&NodeName, usize>) -> Result<Vec<(usize, usize)>, Refusal> {
        let (mut seen, mut inputs, mut injected) = (HashSet::new(), HashSet::new(), HashSet::new());
        let mut degrees: HashMap<(usize, bool), usize> = HashMap::new();
        let mut ends = Vec::new();
        for edge in &self.edges {
            let refused = |code: Code, why: String| Err(code.refusal().at(field(edge)).because(why));
            let known = |node: &NodeName| numbers.get(node).copied().ok_or(node.clone());
            let (from, to) = match (known(&edge.upstream), known(&edge.downstream)) {
                (Ok(from), Ok(to)) => (from, to),
                (Err(node), _) | (_, Err(node)) => {
                    return refused(Code::ExecutionNotInFlow, format!("must name nodes of the flow, names {node}"));
                }
            };
            if from == to {
                return refused(Code::SelfReferencingEdge, "must enter another node than it leaves".into());
            }
            if !seen.insert((from, to)) {
                return refused(Code::DependencyAlreadyExists, "must be there once, is there twice".into());
            }
            if let Some(PassMode::Input(name)) = &edge.passes
                && !inputs.insert((to, name))
            {
                return refused(
                    Code::InvalidInput,
                    format!("passes {name}, as another edge into the same node does; names must differ"),
                );
            }
            if edge.passes == Some(PassMode::Payload) && !injected.insert(to) {
                return Err(second_payload(&field(edge)));
            }
            for (end, which) in [((from, false), "upstream"), ((to, true), "downstream")] {
                let degree = degrees.entry(end).or_default();
                *degree += 1;
                check_limit(Code::LimitExceeded, format!("{}.{which}", field(edge)), limits::NODE_EDGES, *degree)?;
            }
            ends.push((from, to));
        }
        Ok(ends)
    }

    /// Refuses a join that needs more upstreams than it has.
    fn joins(&self, ends: &[(usize, usize)]) -> Result<(), Refusal> {
        let mut entering = vec![0; self.nodes.len()];
        ends.iter().for_each(|(_, to)| entering[*to] += 1);
        let check = |(node, n): (&NodeSpec, u32)| node.join.check_of(n, &format!("nodes.{}.join", node.name));
        self.nodes.iter().zip(entering).try_for_each(check)
    }

    /// Returns the positions of the nodes in topological order: every edge goes forward.
    fn order(&self, ends: &[(usize, usize)]) -> Result<Vec<usize>, Refusal> {
        let mut leaving = vec![Vec::new(); self.nodes.len()];
        let mut entering = vec![0_usize; self.nodes.len()];
        for (from, to) in ends {
            leaving[*from].push(*to);
            entering[*to] += 1;
        }
        let mut free: VecDeque<_> = (0..self.nodes.len()).filter(|node| entering[*node] == 0).collect();
        let mut order = Vec::new();
        while let Some(node) = free.pop_front() {
            order.push(node);
            for to in &leaving[node] {
                entering[*to] -= 1;
                if entering[*to] == 0 {
                    free.push_back(*to);
                }
            }
        }
        if order.len() == self.nodes.len() { Ok(order) } else { Err(self.cycle(ends, &order)) }
    }

    /// Returns a refusal that names an edge of a cycle. A walk upstream from any node without a place in the
    /// topological order leads into a cycle.
    fn cycle(&self, ends: &[(usize, usize)], ordered: &[usize]) -> Refusal {
        let ordered: HashSet<_> = ordered.iter().copied().collect();
        let above: HashMap<_, _> = ends
            .iter()
            .enumerate()
            .filter(|(_, (from, _))| !ordered.contains(from))
            .map(|(edge, (from, to))| (*to, (*from, edge)))
            .collect();
        let mut seen = BTreeSet::new();
        let mut node = (0..self.nodes.len()).find(|node| !ordered.contains(node)).unwrap_or_default();
        let mut last = None;
        while seen.insert(node) {
            let Some((from, edge)) = above.get(&node) else { break };
            (node, last) = (*from, Some(*edge));
        }
        let refusal = Code::CycleDetected.refusal().because("must not let the flow wait for itself");
        last.map_or(refusal.clone(), |edge| refusal.at(field(&self.edges[edge])))
    }

    /// Returns a fingerprint of the graph that does not depend on the order of its nodes and edges.
    fn fingerprint(&self) -> Fingerprint {
        let node = |node: &NodeSpec| {
            let bytes = node.payload.fingerprint();
            let identity =
                (&node.name, &node.lane, &node.kind, node.join, node.priority, &node.tags, &node.policy, bytes);
            format!("{} {:?}", serde_json::to_string(&identity).unwrap_or_default(), node.start)
        };
        let mut lines: Vec<_> = self.nodes.iter().map(node).collect();
        lines.extend(self.edges.iter().map(|edge| format!("{edge:?}")));
        lines.push(format!("{}", self.header.kind));
        lines.sort_unstable();
        Fingerprint::of(lines.join("\n").as_bytes())
    }

    /// Cuts the graph into parts. Each edge is in the part of its downstream or in a later one, when both its ends exist.
    fn cut(self, order: &[usize], ends: &[(usize, usize)], fingerprint: Fingerprint) -> Vec<StageFlowArgs> {
        let mut entering = vec![Vec::new(); self.nodes.len()];
        for (edge, (_, to)) in self.edges.into_iter().zip(ends) {
            entering[*to].push(edge);
        }
        let empty = || StageFlowArgs {
            header: self.header.clone(),
            fingerprint,
            part: 0,
            parts: 0,
            nodes: Vec::new(),
            edges: Vec::new(),
        };
        let mut nodes: Vec<_> = self.nodes.into_iter().map(Some).collect();
        let (mut parts, mut current) = (Vec::new(), empty());
        for number in order {
            if current.nodes.len() == limits::FLOW_PART {
                parts.push(std::mem::replace(&mut current, empty()));
            }
            current.nodes.extend(nodes[*number].take());
            for edge in std::mem::take(&mut entering[*number]) {
                if current.edges.len() == limits::FLOW_PART {
                    parts.push(std::mem::replace(&mut current, empty()));
                }
                current.edges.push(edge);
            }
        }
        parts.push(current);
        let count = u32::try_from(parts.len()).unwrap_or(u32::MAX);
        for (part, number) in parts.iter_mut().zip(0..) {
            (part.part, part.parts) = (number, count);
        }
        parts
    }
}

fn field(edge: &EdgeSpec) -> String {
    format!("edges.{}->{}", edge.upstream, edge.downstream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::fixture::{graph, named, quorum, spec};
    use crate::flow::{Join, OnSatisfied};

    fn refused(text: &str, joins: &[(&str, Join)]) -> (Code, String) {
        let refusal = graph(text, joins).plan().unwrap_err();
        (refusal.code, refusal.field.unwrap_or_default())
    }

    #[test]
    fn an_invalid_graph_is_refused_with_its_field() {
        assert_eq!(refused("a>a", &[]), (Code::SelfReferencingEdge, "edges.a->a".into()));
        assert_eq!(refused("a>b a>b", &[]), (Code::DependencyAlreadyExists, "edges.a->b".into()));
        let (code, field) = refused("x>a a>b b>c c>a", &[]);
        assert_eq!(code, Code::CycleDetected);
        assert!(["edges.a->b", "edges.b->c", "edges.c->a"].contains(&field.as_str()), "{field}");
        let short = quorum(3, OnSatisfied::LetRun);
        assert_eq!(refused("a>c b>c", &[("c", short)]), (Code::InvalidInput, "nodes.c.join".into()));
        let mut unknown = graph("a>b", &[]);
        unknown.nodes.pop();
        let refusal = unknown.plan().unwrap_err();
        assert_eq!((refusal.code, refusal.field.unwrap()), (Code::ExecutionNotInFlow, "edges.a->b".into()));
        let mut same_name = graph("a>c b>c", &[]);
        let input = Some(PassMode::Input(crate::types::InputName::parse("x").unwrap()));
        same_name.edges.iter_mut().for_each(|edge| edge.passes.clone_from(&input));
        assert_eq!(same_name.plan().unwrap_err().field.unwrap(), "edges.b->c");
        let mut payloads = graph("a>c b>c", &[]);
        payloads.edges.iter_mut().for_each(|edge| edge.passes = Some(PassMode::Payload));
        assert_eq!(payloads.plan().unwrap_err().field.unwrap(), "edges.b->c");
        let mut twice = graph("a", &[]);
        twice.nodes.push(spec("a"));
        assert_eq!(twice.plan().unwrap_err().field.unwrap(), "nodes.a");
        let mut none = graph("a", &[]);
        none.nodes.clear();
        assert_eq!(none.plan().unwrap_err().field.unwrap(), "nodes");
    }

    #[test]
    fn a_graph_is_taken_at_its_limit_and_refused_one_past_it() {
        let sized = |nodes: usize| {
            let mut args = graph("x", &[]);
            args.nodes = (0..nodes).map(|n| spec(&format!("n{n}"))).collect();
            args
        };
        assert_eq!(sized(limits::FLOW_NODES).plan().unwrap().len(), limits::FLOW_NODES.div_ceil(limits::FLOW_PART));
        let refusal = sized(limits::FLOW_NODES + 1).plan().unwrap_err();
        assert_eq!((refusal.code, refusal.limit), (Code::LimitExceeded, Some((10_000, 10_001))));
        let mut heavy = sized(17);
        heavy.nodes.iter_mut().for_each(|node| node.payload = crate::payload::Payload::bytes(vec![0; 1024 * 1024]));
        assert_eq!(heavy.clone().plan().unwrap_err().code, Code::PayloadTooLarge);
        heavy.nodes.pop();
        assert!(heavy.plan().is_ok());
    }

    #[test]
    fn as_many_edges_as_there_may_be_are_taken_and_no_more() {
        let mut args = graph("x", &[]);
        args.nodes = (0..400).map(|n| spec(&format!("n{n}"))).collect();
        let pairs = (0..400).flat_map(|to| (0..to).map(move |from| (from, to)));
        let edge = |(from, to): (usize, usize)| EdgeSpec {
            upstream: named(&format!("n{from}")),
            downstream: named(&format!("n{to}")),
            passes: None,
        };
        args.edges = pairs.map(edge).take(limits::FLOW_EDGES + 1).collect();
        assert_eq!(args.clone().plan().unwrap_err().limit, Some((50_000, 50_001)));
        args.edges.pop();
        assert!(args.plan().is_ok());
    }

    #[test]
    fn every_edge_comes_with_or_after_both_its_ends() {
        let edges: Vec<_> = (0..999).map(|n| format!("n{n}>n{} n{n}>z", n + 1)).collect();
        let mut args = graph(&edges.join(" "), &[]);
        args.nodes.reverse();
        let parts = args.plan().unwrap();
        let mut place: HashMap<NodeName, usize> = HashMap::new();
        for part in &parts {
            assert!(part.nodes.len() <= limits::FLOW_PART && part.edges.len() <= limits::FLOW_PART);
            for node in &part.nodes {
                place.insert(node.name.clone(), place.len());
            }
            assert!(part.edges.iter().all(|edge| place[&edge.upstream] < place[&edge.downstream]));
        }
        assert_eq!(parts.iter().map(|part| part.edges.len()).sum::<usize>(), 1_998);
    }

    #[test]
    fn a_graph_is_the_same_however_it_is_ordered() {
        let (one, mut two) = (graph("a>b a>c", &[]), graph("a>c a>b", &[]));
        two.header = one.header.clone();
        let print = |args: &SubmitFlowArgs| args.fingerprint();
        assert_eq!(print(&one), print(&two));
        two.nodes[0].name = named("other");
        assert_ne!(print(&one), print(&two));
    }
}
