//! The doctor's checks of recorded steps.

use std::collections::BTreeSet;

use super::{Finding, Findings};
use crate::backend::snapshot::Snapshot;
use crate::step::{Step, StepCounter};

/// Returns the findings about the recorded steps of executions.
pub(super) fn examine(snapshot: &Snapshot) -> Vec<Finding> {
    let mut findings = Findings::default();
    for id in snapshot.steps.keys().filter(|id| !snapshot.executions.contains_key(id)) {
        findings.find("I1", id, "is gone, its steps are not");
    }
    for (id, execution) in &snapshot.executions {
        let steps = snapshot.steps.get(id).map_or(&[][..], Vec::as_slice);
        let identities: BTreeSet<_> = steps.iter().map(|step| &step.step).collect();
        if identities.len() != steps.len() {
            findings.find("I21", id, "has recorded a step twice");
        }
        if steps.windows(2).any(|two| two[0].seq >= two[1].seq) {
            findings.find("I21", id, "has two steps of one number");
        }
        let heads: Vec<_> = steps.iter().map(Step::head).collect();
        let (counted, is) = (execution.steps, StepCounter::of(&heads));
        if counted != is {
            findings.find("I21", id, format!("counts its steps as {counted:?}, they are {is:?}"));
        }
    }
    findings.0
}

#[cfg(test)]
mod tests {
    use super::super::violated;
    use super::*;
    use crate::execution::Execution;
    use crate::payload::Payload;
    use crate::rule::samples::{at, running};
    use crate::step::{StepOutcome, StepRef};
    use crate::types::{AttemptIndex, StepName};

    fn healthy() -> Snapshot {
        let step = |(seq, name): (u32, &str)| Step {
            seq,
            step: StepRef::new(StepName::parse(name).unwrap()),
            attempt: AttemptIndex(0),
            started_at: at(0),
            recorded_at: at(0),
            outcome: StepOutcome::Succeeded { result: Payload::json("1") },
        };
        let steps: Vec<_> = [(0, "a"), (3, "b")].into_iter().map(step).collect();
        let heads: Vec<_> = steps.iter().map(Step::head).collect();
        let execution = Execution { steps: StepCounter::of(&heads), ..running() };
        let mut snapshot = Snapshot::default();
        snapshot.steps.insert(execution.id, steps);
        snapshot.executions.insert(execution.id, execution);
        snapshot
    }

    #[test]
    fn whatever_does_not_fit_is_found() {
        let found = |damage: fn(&mut Snapshot)| violated(examine, &healthy(), damage);
        fn steps(snapshot: &mut Snapshot) -> &mut Vec<Step> {
            snapshot.steps.values_mut().next().unwrap()
        }
        fn counter(snapshot: &mut Snapshot) -> &mut StepCounter {
            snapshot.executions.values_mut().next().unwrap().steps.as_mut().unwrap()
        }
        assert_eq!(found(|snapshot| snapshot.executions.clear()), ["I1"]);
        assert_eq!(found(|snapshot| snapshot.steps.clear()), ["I21"]);
        assert_eq!(found(|snapshot| drop(steps(snapshot).pop())), ["I21"]);
        assert_eq!(found(|snapshot| counter(snapshot).next = 3), ["I21"]);
        assert_eq!(found(|snapshot| counter(snapshot).bytes = 3), ["I21"]);
        assert_eq!(found(|snapshot| steps(snapshot)[1].step = steps(snapshot)[0].step.clone()), ["I21"]);
        assert_eq!(found(|snapshot| steps(snapshot)[0].seq = 3), ["I21"]);
    }
}
