//! How the edges into a node join.

use ff_core::flow::{Join, OnSatisfied};

/// A join, put together. Unless said otherwise the other upstreams run on once it has fired.
///
/// ```
/// use ff_sdk::{Flow, Node, any_of};
///
/// let fastest = Flow::new("search")
///     .node("here", Node::empty("look"))
///     .node("there", Node::empty("look"))
///     .node("tell", Node::empty("tell"))
///     .after_each("tell", ["here", "there"])
///     .join(any_of().cancel_remaining());
/// assert!(fastest.build().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joins(Join);

/// Every upstream succeeds, which is how edges join that nothing is said of.
pub fn all_of() -> Joins {
    Joins(Join::AllOf)
}

/// One upstream succeeds.
pub fn any_of() -> Joins {
    Joins(Join::AnyOf { on_satisfied: OnSatisfied::LetRun })
}

/// So many upstreams succeed.
pub fn quorum(k: u32) -> Joins {
    Joins(Join::Quorum { k, on_satisfied: OnSatisfied::LetRun })
}

impl Joins {
    /// Once it has fired, upstreams nobody else still needs are cancelled. Where all are needed, none remain.
    pub fn cancel_remaining(self) -> Self {
        self.on_satisfied(OnSatisfied::CancelRemaining)
    }

    /// Once it has fired, the other upstreams run on.
    pub fn let_run(self) -> Self {
        self.on_satisfied(OnSatisfied::LetRun)
    }

    fn on_satisfied(self, on_satisfied: OnSatisfied) -> Self {
        Self(match self.0 {
            Join::AllOf => Join::AllOf,
            Join::AnyOf { .. } => Join::AnyOf { on_satisfied },
            Join::Quorum { k, .. } => Join::Quorum { k, on_satisfied },
        })
    }
}

impl From<Joins> for Join {
    fn from(joins: Joins) -> Self {
        joins.0
    }
}
