//! Short constructors of conditions.

use crate::records::*;

/// Returns a condition that any signal at a waitpoint meets.
pub(crate) fn signal(waitpoint: &str) -> Condition {
    Condition::Signal { waitpoint: key(waitpoint), name: None }
}

/// Returns a condition that a signal of this name at a waitpoint meets.
pub(crate) fn named(waitpoint: &str, name: &str) -> Condition {
    Condition::Signal { waitpoint: key(waitpoint), name: SignalName::parse(name).ok() }
}

/// Returns a condition that needs every member.
pub(crate) fn all(members: impl Into<Vec<Condition>>) -> Condition {
    Condition::AllOf { members: members.into() }
}

/// Returns a condition that needs at least one member.
pub(crate) fn any(members: impl Into<Vec<Condition>>) -> Condition {
    Condition::AnyOf { members: members.into() }
}

/// Returns a condition that needs `n` distinct signals or sources at these waitpoints.
pub(crate) fn count(n: u32, of: Distinct, waitpoints: &[&str]) -> Condition {
    Condition::Count { n, of, waitpoints: waitpoints.iter().map(|text| key(text)).collect(), name: None }
}

/// Wraps a condition in `times` others.
pub(crate) fn nested(times: usize, inner: Condition) -> Condition {
    (0..times).fold(inner, |inner, _| all([inner]))
}

pub(crate) fn key(text: &str) -> WaitpointKey {
    WaitpointKey::parse(text).unwrap()
}
