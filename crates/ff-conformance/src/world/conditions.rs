//! Conditions, in few words.

use ff_core::suspension::{Condition, Distinct};
use ff_core::types::{SignalName, WaitpointKey};

/// Any signal at a waitpoint.
pub(crate) fn signal(waitpoint: &str) -> Condition {
    Condition::Signal { waitpoint: key(waitpoint), name: None }
}

/// A signal of this name at a waitpoint.
pub(crate) fn named(waitpoint: &str, name: &str) -> Condition {
    Condition::Signal { waitpoint: key(waitpoint), name: SignalName::parse(name).ok() }
}

/// Every one of these.
pub(crate) fn all(members: impl Into<Vec<Condition>>) -> Condition {
    Condition::AllOf { members: members.into() }
}

/// At least one of these.
pub(crate) fn any(members: impl Into<Vec<Condition>>) -> Condition {
    Condition::AnyOf { members: members.into() }
}

/// So many different ones at these waitpoints.
pub(crate) fn count(n: u32, of: Distinct, waitpoints: &[&str]) -> Condition {
    Condition::Count { n, of, waitpoints: waitpoints.iter().map(|text| key(text)).collect(), name: None }
}

/// A condition inside so many others.
pub(crate) fn nested(times: usize, inner: Condition) -> Condition {
    (0..times).fold(inner, |inner, _| all([inner]))
}

pub(crate) fn key(text: &str) -> WaitpointKey {
    WaitpointKey::parse(text).unwrap()
}
