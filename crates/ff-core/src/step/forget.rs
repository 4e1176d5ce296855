//! Selection of the recorded steps that stay valid in a replay of their execution, or in a fork.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{ForgottenSteps, StepCounter, StepHead, StepKind, StepsWrite};
use crate::engine_error::Refusal;
use crate::execution::{Execution, Outcome, Phase};
use crate::rule::change::Change;
use crate::rule::view::{Stop, View};
use crate::types::{StepKey, StepName};

/// A recorded step or wait, identified by name and key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepPoint {
    pub name: StepName,
    #[serde(default, skip_serializing_if = "StepKey::is_empty")]
    pub key: StepKey,
}

impl StepPoint {
    /// Creates the point of a step without a key.
    pub fn new(name: StepName) -> Self {
        Self { name, key: StepKey::default() }
    }

    /// Returns the number of the step at this point. If a step and a wait have the same name and key, the earlier one is used.
    pub(super) fn find(&self, field: &str, heads: &[StepHead]) -> Result<u32, Refusal> {
        let is_it = |head: &&StepHead| {
            head.step.kind != StepKind::Undo && (&head.step.name, &head.step.key) == (&self.name, &self.key)
        };
        let found = heads.iter().find(is_it).map(|head| head.seq);
        found.ok_or_else(|| {
            let key = if self.key.is_empty() { String::new() } else { format!(" and key \"{}\"", self.key) };
            Refusal::invalid(field, format!("no step of the name \"{}\"{key} is recorded", self.name))
        })
    }
}

/// Returns the steps and waits that were not undone. Compensations are left out,
/// because they belong to the run that they ended.
pub(super) fn not_undone(heads: &[StepHead]) -> impl Iterator<Item = &StepHead> {
    let undos = heads.iter().filter(|head| head.step.kind == StepKind::Undo);
    let undone: HashSet<_> = undos.map(|head| (&head.step.name, &head.step.key)).collect();
    heads
        .iter()
        .filter(move |head| head.step.kind != StepKind::Undo && !undone.contains(&(&head.step.name, &head.step.key)))
}

/// Keeps the valid steps in a change that restarts an execution. Before this, the change forgets all steps.
///
/// With `from_step`, the steps recorded before it are kept. Otherwise no steps are kept after a success, and the
/// successful ones after any other end.
pub(crate) fn forget_for_replay(
    view: &dyn View,
    before: &Execution,
    from_step: Option<&StepPoint>,
    change: &mut Change,
) -> Result<(), Stop> {
    let has_succeeded = matches!(before.phase, Phase::Finished { outcome: Outcome::Success, .. });
    if from_step.is_none() && (has_succeeded || before.steps.is_none()) {
        return Ok(());
    }
    let heads = if before.steps.is_some() { view.step_heads(&before.id)? } else { Vec::new() };
    let from = from_step.map(|point| point.find("from_step", &heads)).transpose()?;
    let is_good = |head: &&StepHead| from.map_or_else(|| head.has_succeeded(), |from| head.seq < from);
    let good: Vec<_> = not_undone(&heads).filter(is_good).collect();
    change.after.steps = StepCounter::of(good.iter().copied());
    if change.after.steps.is_some() {
        let seqs: HashSet<_> = good.iter().map(|head| head.seq).collect();
        let gone: Vec<_> =
            heads.iter().filter(|head| !seqs.contains(&head.seq)).map(|head| head.step.clone()).collect();
        let forgotten = ForgottenSteps::Only(gone);
        change.steps = Some(Box::new(StepsWrite { forgotten, ..StepsWrite::default() }));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::{Failure, FinishedBy};
    use crate::model::Model;
    use crate::rule::samples::{at, running};
    use crate::step::{StepRef, StepResult};
    use crate::types::{AttemptIndex, ContentType, Kind};

    /// Creates steps from a notation: `a` succeeded, `b!` failed, `~a` undid a, `(w)` is a wait.
    pub(crate) fn heads(words: &str) -> Vec<StepHead> {
        let head = |(seq, word): (u32, &str)| {
            let (kind, name) = match (word.strip_prefix('~'), word.strip_prefix('(')) {
                (Some(undone), _) => (StepKind::Undo, undone),
                (_, Some(wait)) => (StepKind::Wait, wait.trim_end_matches(')')),
                _ => (StepKind::Step, word.trim_end_matches('!')),
            };
            let failure = Failure { category: Kind::parse("x").unwrap(), message: String::new(), permanent: true };
            let outcome = if word.ends_with('!') {
                StepResult::Failed { failure }
            } else {
                StepResult::Succeeded { content_type: ContentType::json(), bytes: 10 }
            };
            let step = StepRef { kind, ..StepRef::new(StepName::parse(name).unwrap()) };
            StepHead { seq, step, attempt: AttemptIndex(0), started_at: at(0), recorded_at: at(0), outcome }
        };
        (0..).zip(words.split_whitespace()).map(head).collect()
    }

    fn point(name: &str) -> StepPoint {
        StepPoint::new(StepName::parse(name).unwrap())
    }

    /// Returns the numbers of the steps that a replay keeps, and the counter.
    fn keep(words: &str, outcome: Outcome, from: Option<&str>) -> Result<(Vec<u32>, Option<StepCounter>), Refusal> {
        let heads = heads(words);
        let mut before = running();
        before.phase = Phase::Finished { outcome, at: at(1), by: FinishedBy::Holder };
        before.steps = StepCounter::of(&heads);
        let mut model = Model::default();
        model.store(&before, &heads);
        let mut change = before.reset_for_replay(crate::execution::Origin::Initial, at(2));
        match forget_for_replay(&model, &before, from.map(point).as_ref(), &mut change) {
            Err(Stop::Refused(refusal)) => return Err(refusal),
            other => other.unwrap(),
        }
        let seqs = match &change.steps.as_deref().map(|write| write.forgotten.clone()) {
            None | Some(ForgottenSteps::None) => heads.iter().map(|head| head.seq).collect(),
            Some(ForgottenSteps::All) => Vec::new(),
            Some(ForgottenSteps::Only(gone)) => {
                heads.iter().filter(|head| !gone.contains(&head.step)).map(|head| head.seq).collect()
            }
        };
        Ok((seqs, change.after.steps))
    }

    #[test]
    fn after_a_success_everything_is_done_again() {
        assert_eq!(keep("a (w) b", Outcome::Success, None).unwrap(), (vec![], None));
        assert_eq!(keep("", Outcome::Success, None).unwrap(), (vec![], None));
    }

    #[test]
    fn after_a_failure_what_succeeded_and_stands_is_not_done_again() {
        for outcome in [Outcome::Failed, Outcome::Cancelled, Outcome::Expired] {
            let (seqs, counter) = keep("a b! (w) c", outcome, None).unwrap();
            assert_eq!(seqs, [0, 2, 3]);
            assert_eq!(counter, Some(StepCounter { next: 4, count: 3, undos: 0, bytes: 33 }));
            let (seqs, counter) = keep("a b c ~failed ~c ~b", outcome, None).unwrap();
            assert_eq!(seqs, [0], "what was undone is done again");
            assert_eq!(counter.unwrap().next, 1, "and its numbers are free");
            assert_eq!(keep("a ~a", outcome, None).unwrap(), (vec![], None));
        }
    }

    #[test]
    fn from_a_step_it_and_all_after_it_are_done_again() {
        assert_eq!(keep("a b c", Outcome::Success, Some("b")).unwrap().0, [0]);
        assert_eq!(keep("a (b) c", Outcome::Failed, Some("b")).unwrap().0, [0]);
        assert_eq!(keep("a! b c", Outcome::Success, Some("c")).unwrap().0, [0, 1], "a failure before it stays one");
        assert_eq!(keep("a b c", Outcome::Success, Some("a")).unwrap(), (vec![], None));
        assert_eq!(keep("(b) a b", Outcome::Success, Some("b")).unwrap().0, [] as [u32; 0], "the earlier one counts");
        assert_eq!(keep("a b c ~c ~a", Outcome::Failed, Some("c")).unwrap().0, [1], "what was undone goes too");
    }

    #[test]
    fn a_step_that_is_not_recorded_is_no_place_to_begin() {
        for (words, from) in [("a", "b"), ("", "a"), ("a ~b", "b")] {
            let refusal = keep(words, Outcome::Failed, Some(from)).unwrap_err();
            assert_eq!((refusal.code.as_str(), refusal.field.as_deref()), ("invalid_input", Some("from_step")));
        }
    }
}
