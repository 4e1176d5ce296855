//! Choice of transitions that hold, block or assign ready executions, or undo that.

use super::Generator;
use crate::prelude::*;
use crate::reference::Reference;
use crate::transition::{OperatorRequest, Transition};

impl Generator {
    /// Chooses a hold, a block or an assignment of an execution, or the end of one.
    pub(super) fn block_or_hold(&mut self, reference: &Reference) -> Transition {
        let on = *self.admission.pick(&[0, 1, 1, 2]);
        Transition::Operate(match self.admission.below(16) {
            0..3 => {
                let job = self.job_that(reference, |one| one.hold.is_none() && !one.is_finished());
                let reason = self.admission.one_in(2).then(|| *self.admission.pick(&[0, 9]));
                OperatorRequest::Hold { job, reason }
            }
            3..6 => OperatorRequest::ReleaseHold { job: self.job_that(reference, |one| one.hold.is_some()) },
            12..15 => {
                let suits = |one: &Execution| one.is_ready() && one.hold.is_none() && one.behind().is_none();
                let job = match self.admission.one_in(4) {
                    true => self.job_that(reference, |one| !one.is_finished()),
                    false => self.job_that(reference, suits),
                };
                let (worker, ttl_ms) =
                    (*self.admission.pick(&[0, 1, 2]), *self.admission.pick(&[1_000, 5_000, 30_000, 999]));
                let reason = self.admission.one_in(2).then(|| *self.admission.pick(&[0, 9]));
                OperatorRequest::Assign { job, worker, ttl_ms, reason }
            }
            15 => OperatorRequest::Unassign { job: self.job_that(reference, |one| one.grant().is_some()) },
            6..10 => {
                let jobs = self.together(reference, |one| one.phase == Phase::Waiting);
                let in_ms = self.admission.one_in(2).then(|| *self.admission.pick(&[0, 500, 3_000, 30_000]));
                OperatorRequest::Block { jobs, on, in_ms, is_late: self.admission.one_in(8) }
            }
            _ => {
                let jobs = self.together(reference, is_blocked);
                let first = jobs.first().and_then(|job| reference.model.find(&reference.id(*job)));
                let from = match first.map(|one| &one.phase) {
                    Some(Phase::Blocked { on: Blocker::Route, .. }) if !self.admission.one_in(6) => 0,
                    Some(Phase::Blocked { on: Blocker::Quota, .. }) if !self.admission.one_in(6) => 1,
                    Some(Phase::Blocked { on: Blocker::Budget, .. }) if !self.admission.one_in(6) => 2,
                    _ => *self.admission.pick(&[0, 1, 2, 3]),
                };
                OperatorRequest::Unblock { jobs, from }
            }
        })
    }

    /// Returns a job, mostly one that satisfies the condition, and up to two more jobs of its partition that satisfy
    /// it. A job may occur more than once.
    fn together(&mut self, reference: &Reference, suits: impl Fn(&Execution) -> bool) -> Vec<u32> {
        let first = self.job_that(reference, &suits);
        let partition = reference.id(first).partition();
        let fits = |one: &Execution| suits(one) && one.id.partition() == partition;
        let others = reference.jobs().filter(|(_, id)| reference.model.find(id).is_some_and(fits)).map(|(job, _)| job);
        let others: Vec<_> = others.collect();
        let mut jobs = vec![first];
        for _ in 0..self.admission.below(3) {
            jobs.extend((!others.is_empty()).then(|| *self.admission.pick(&others)));
        }
        jobs
    }
}

fn is_blocked(execution: &Execution) -> bool {
    execution.is_ready() && execution.phase != Phase::Waiting
}
