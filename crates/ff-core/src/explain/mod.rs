//! Explaining: the reasons why an execution, or the work of a lane, does not run.
//!
//! Pure: an engine reads [`Facts`], and [`explain`] evaluates them. A new admission rule adds its facts to [`Facts`], a
//! variant to [`TermKind`] and a function to `term.rs`.

mod action;
mod cause;
mod contracts;
mod facts;
#[cfg(test)]
mod fixture;
mod lane;
mod term;
#[cfg(test)]
mod tests;

pub use contracts::{
    Explanation, LaneCause, LaneExplanation, NextEvent, SlotHolder, SuggestedAction, Term, TermKind, Verdict,
};
pub use facts::{AHEAD_MAX, Facts, HOLDERS_MAX, LANE_COUNT_MAX, QueueArgs, QueueFacts, Upstream};
pub use lane::explain_lane;

use crate::types::TimestampMs;

/// Explains whether an execution runs, and if not, why.
pub fn explain(facts: &Facts, now: TimestampMs) -> Explanation {
    let info = &facts.info;
    let terms = term::all(facts, now);
    let (summary, next) = cause::first(facts, &terms, now);
    Explanation {
        execution_id: info.execution_id,
        namespace: info.namespace.clone(),
        lane_id: info.lane_id.clone(),
        kind: info.kind.clone(),
        public_state: info.public_state,
        blocking_reason: info.state.blocking_reason,
        since: info.changed_at,
        summary,
        next,
        actions: action::all(facts, &terms),
        holders: facts.holders.clone(),
        terms,
    }
}
