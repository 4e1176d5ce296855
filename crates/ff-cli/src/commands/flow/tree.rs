//! The graph of a flow as a text tree. Every member appears once, below the last of its upstreams.

use std::collections::HashMap;

use ff_core::contracts::MemberInfo;
use ff_core::flow::Counts;
use ff_core::types::ExecutionId;

use super::snapshot::FlowSnapshot;

/// Maximum number of siblings without children that are shown. The others are only counted, so that a large fan-out
/// stays readable.
const SIBLINGS: usize = 20;

/// A line of the tree.
#[derive(Debug)]
pub(super) enum Line<'f> {
    Member {
        /// The lines of the tree that lead to the member, and its name.
        drawn: String,
        member: &'f MemberInfo,
        /// The upstreams of the member that are drawn elsewhere.
        others: Vec<&'f MemberInfo>,
    },
    /// Siblings that are not shown, counted by state.
    More { drawn: String, counts: Counts },
}

/// Returns the members of a flow as lines of a tree. Only forks are indented: a chain of any length goes straight down.
pub(super) fn lines(flow: &FlowSnapshot, all: bool) -> Vec<Line<'_>> {
    let tree = Tree::of(flow);
    let mut lines = Vec::new();
    // The branches that are not drawn yet; the next one is last.
    let mut rest: Vec<_> = tree.below(None, String::new(), all);
    while let Some(branch) = rest.pop() {
        match branch {
            Branch::Member { drawn, below, member } => {
                lines.push(Line::Member { drawn, member, others: tree.others(member) });
                rest.extend(tree.below(Some(member), below, all));
            }
            Branch::More { drawn, counts } => lines.push(Line::More { drawn, counts }),
        }
    }
    lines
}

enum Branch<'f> {
    Member { drawn: String, below: String, member: &'f MemberInfo },
    More { drawn: String, counts: Counts },
}

struct Tree<'f> {
    upstreams: HashMap<ExecutionId, Vec<&'f MemberInfo>>,
    children: HashMap<Option<ExecutionId>, Vec<&'f MemberInfo>>,
}

impl<'f> Tree<'f> {
    fn of(flow: &'f FlowSnapshot) -> Self {
        let mut upstreams: HashMap<_, Vec<_>> = HashMap::new();
        for (_, upstream, downstream) in flow.ends() {
            upstreams.entry(downstream.execution_id).or_default().push(upstream);
        }
        let mut children: HashMap<_, Vec<_>> = HashMap::new();
        for member in &flow.members {
            let parent =
                upstreams.get(&member.execution_id).and_then(|all| last(all)).map(|parent| parent.execution_id);
            children.entry(parent).or_default().push(member);
        }
        Self { upstreams, children }
    }

    /// Returns the branches below a member, or at the top level, in reverse order.
    fn below(&self, member: Option<&MemberInfo>, indent: String, all: bool) -> Vec<Branch<'f>> {
        let id = member.map(|member| member.execution_id);
        let children = self.children.get(&id).map_or(&[][..], Vec::as_slice);
        let (shown, more) = if all { (children.to_vec(), vec![]) } else { self.shown(children) };
        let last = shown.len() + usize::from(!more.is_empty());
        let arms = |nth: usize| match (id, last) {
            (None, _) => ("", ""),
            (Some(_), 1) => ("↓ ", ""),
            (Some(_), _) if nth + 1 == last => ("└─ ", "   "),
            (Some(_), _) => ("├─ ", "│  "),
        };
        let mut branches: Vec<_> = shown
            .iter()
            .enumerate()
            .map(|(nth, child)| {
                let (arm, under) = arms(nth);
                let (drawn, below) = (format!("{indent}{arm}{}", child.node), format!("{indent}{under}"));
                Branch::Member { drawn, below, member: child }
            })
            .collect();
        if !more.is_empty() {
            let drawn = format!("{indent}{}… {} more", arms(last - 1).0, more.len());
            branches.push(Branch::More { drawn, counts: more.iter().map(|member| member.public_state).collect() });
        }
        branches.reverse();
        branches
    }

    /// Splits children into those to show and the rest. A child with children of its own is always shown.
    fn shown(&self, children: &[&'f MemberInfo]) -> (Vec<&'f MemberInfo>, Vec<&'f MemberInfo>) {
        let mut bare = 0;
        children.iter().partition(|child| {
            let is_bare = !self.children.contains_key(&Some(child.execution_id));
            bare += usize::from(is_bare);
            !is_bare || bare <= SIBLINGS
        })
    }

    /// Returns the upstreams of a member without the one it is drawn below.
    fn others(&self, member: &MemberInfo) -> Vec<&'f MemberInfo> {
        let upstreams = self.upstreams.get(&member.execution_id).map_or(&[][..], Vec::as_slice);
        let parent = last(upstreams).map(|parent| parent.execution_id);
        let mut others: Vec<_> = upstreams.iter().copied().filter(|other| Some(other.execution_id) != parent).collect();
        others.sort_unstable_by_key(|other| other.position);
        others
    }
}

/// Returns the member that was added last.
fn last<'f>(members: &[&'f MemberInfo]) -> Option<&'f MemberInfo> {
    members.iter().copied().max_by_key(|member| member.position)
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::samples::flow;
    use super::*;

    fn drawn(graph: &str, all: bool) -> Vec<String> {
        let flow = flow(graph);
        let show = |line: &Line| match line {
            Line::Member { drawn, others, .. } if others.is_empty() => drawn.clone(),
            Line::Member { drawn, others, .. } => {
                let names: Vec<_> = others.iter().map(|other| other.node.as_str()).collect();
                format!("{drawn} (and {})", names.join(" "))
            }
            Line::More { drawn, .. } => drawn.clone(),
        };
        lines(&flow, all).iter().map(show).collect()
    }

    #[test]
    fn a_chain_goes_straight_down() {
        assert_eq!(drawn("a>b b>c", false), ["a", "↓ b", "↓ c"]);
    }

    #[test]
    fn a_diamond_meets_below_the_last_of_its_sides() {
        assert_eq!(drawn("a>b a>c b>d c>d", false), ["a", "├─ b", "└─ c", "   ↓ d (and b)"]);
    }

    #[test]
    fn a_fork_within_a_fork_is_indented_once_more() {
        assert_eq!(drawn("a>b a>c b>d b>e e>f", false), ["a", "├─ b", "│  ├─ d", "│  └─ e", "│     ↓ f", "└─ c"]);
    }

    #[test]
    fn a_wide_fan_out_is_summarised_unless_all_is_requested() {
        let wide: Vec<_> = (0..100).map(|n| format!("a>n{n}")).collect();
        let some = drawn(&wide.join(" "), false);
        assert_eq!((some.len(), some.last().map(String::as_str)), (22, Some("└─ … 80 more")));
        assert_eq!(drawn(&wide.join(" "), true).len(), 101);
    }

    #[test]
    fn a_member_with_children_is_always_shown() {
        let wide: Vec<_> = (0..100).map(|n| format!("a>n{n} n{n}>z")).collect();
        let shown = drawn(&wide.join(" "), false);
        assert!(shown.iter().any(|line| line.starts_with("│  ↓ z") || line.starts_with("   ↓ z")), "{shown:?}");
    }

    #[test]
    fn a_deep_chain_is_drawn() {
        let deep: Vec<_> = (0..9_999).map(|n| format!("n{n}>n{}", n + 1)).collect();
        assert_eq!(drawn(&deep.join(" "), false).len(), 10_000);
    }
}
