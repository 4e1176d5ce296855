//! Choice of the next transition: mostly a valid one, occasionally one that must be refused.

mod admission;
mod flow;
mod graph;
mod mix;
mod operator;
mod quota;
mod suspension;

pub use mix::Mix;

use crate::chance::Chance;
use crate::prelude::*;
use crate::reference::Reference;
use crate::transition::{
    FenceChoice, FrameBatch, HolderCall, Point, Policies, RecordedStep, Rule, Submission, Transition,
};

/// Random generator of transitions.
pub struct Generator {
    pub(crate) chance: Chance,
    /// Separate randomness, so that a further kind of adjustment does not change the rest of a run.
    adjustments: Chance,
    /// Separate randomness for steps.
    steps: Chance,
    /// Separate randomness for admission: holds, blocks, assignments and submission keys.
    admission: Chance,
    /// Separate randomness for quotas and for fair lanes.
    quotas: Chance,
    fairness: Chance,
    mix: Mix,
    jobs: u32,
    /// Number of flows so far, which is also the number of the next flow.
    pub(crate) flows: u32,
    /// The first job of a long chain that is not cancelled yet.
    pub(crate) head: Option<u32>,
    /// A large flow whose parts are being submitted: its number, its first job, and the next part.
    staged: Option<(u32, u32, usize)>,
    last: Option<Transition>,
    /// The transitions that begin the run, last one first.
    beginning: Vec<Transition>,
}

impl Generator {
    pub fn new(mix: Mix, seed: u64) -> Self {
        let beginning = operator::beginning(&mix);
        let (chance, adjustments, staged) = (Chance::new(seed), Chance::new(!seed), None);
        let (steps, admission) = (Chance::new(seed.rotate_left(32) ^ 5), Chance::new(seed.rotate_left(16) ^ 9));
        let (quotas, fairness) = (Chance::new(seed.rotate_left(48) ^ 3), Chance::new(seed.rotate_left(24) ^ 6));
        Self {
            chance,
            adjustments,
            steps,
            admission,
            quotas,
            fairness,
            mix,
            jobs: 0,
            flows: 0,
            head: None,
            staged,
            last: None,
            beginning,
        }
    }

    /// Chooses the next transition. Occasionally repeats the last transition, as if its reply had been lost. Often
    /// pumps right after the clock has advanced.
    pub(crate) fn choose(&mut self, reference: &Reference) -> Transition {
        if let Some(first) = self.beginning.pop() {
            return first;
        }
        let last = self.last.take();
        let moved = matches!(last, Some(Transition::Advance { .. } | Transition::AdvanceTo { .. }));
        let transition = match last.filter(|_| !moved && self.chance.one_in(10)) {
            Some(again) => again,
            None if moved && self.chance.one_in(2) => self.pump(reference),
            None => self.another(reference),
        };
        self.last = Some(transition.clone());
        transition
    }

    fn another(&mut self, reference: &Reference) -> Transition {
        if self.mix.quotas > 0 && self.quotas.below(100) < self.mix.quotas {
            return self.about_quotas(reference);
        }
        if self.steps.one_in(if self.mix.flows > 50 { 30 } else { 9 }) {
            return self.step(reference);
        }
        // Held and blocked executions take no part in flows and suspensions, so runs about those rarely hold or block.
        let rarely = self.mix.flows > 50 || self.mix.suspensions > 50;
        if self.admission.one_in(if rarely { 30 } else { 14 }) {
            return self.block_or_hold(reference);
        }
        let Mix { flows, operators, suspensions, .. } = self.mix;
        match self.chance.below(100) {
            subject if subject < flows => return self.flow_transition(reference),
            subject if subject < flows + operators => return self.operate(reference),
            subject if subject < flows + operators + suspensions => return self.wait(reference),
            _ => {}
        }
        match self.chance.below(100) {
            0..10 => Transition::Submit(self.submission()),
            10..12 => self.submit_many(),
            12..29 => self.claim(reference),
            share @ 29..59 => {
                let (job, fence) = self.job_and_fence(reference);
                Transition::AsHolder { job, fence, call: self.holder_call(share) }
            }
            59..63 => Transition::Cancel { job: self.job(reference, |phase| !finished(phase)), reason: self.message() },
            63..69 => {
                let (job, reason) = (self.job(reference, finished), self.message());
                Transition::Replay { job, reason, reopen: self.chance.one_in(2), from: self.maybe_point(3) }
            }
            69..76 => {
                let again = self.chance.one_in(4);
                let held = |one: &Execution| matches!(one.phase, Phase::Running { .. });
                let job = self.job_that(reference, |one| if again { is_lost(one) } else { held(one) });
                let choices = [FenceChoice::Latest, FenceChoice::Earlier, FenceChoice::OtherLease];
                Transition::Revoke { job, lease: self.maybe(2, &choices) }
            }
            76..84 => self.pump(reference),
            84 if self.chance.one_in(2) => Transition::Reopen,
            85 if self.chance.one_in(20) => Transition::Advance { ms: limits::RETENTION_MS },
            _ => self.advance(),
        }
    }

    /// Chooses a call of a holder by its share of all transitions.
    fn holder_call(&mut self, share: u64) -> HolderCall {
        match share {
            29..33 => HolderCall::Renew { ttl_ms: self.maybe(3, &[1_000, 5_000, 60_000, 60_000, 3_600_001]) },
            33..35 => {
                let (percent, message) = (Some(self.usually(&[0, 50, 100], &[101])), self.message());
                HolderCall::Progress { percent, message }
            }
            35..37 => HolderCall::Append(self.frame_batch()),
            37..45 => HolderCall::Complete { result: self.bytes() },
            45..54 => {
                let category = *self.chance.pick(&[0, 0, 1]);
                HolderCall::Fail { category, permanent: self.chance.one_in(6) }
            }
            _ => HolderCall::Delay { start: self.start() },
        }
    }

    /// Chooses mostly frames that fit the mode of their stream, and occasionally other frames.
    fn frame_batch(&mut self) -> FrameBatch {
        let mode = self.maybe(2, &[0, 0, 1, 1, 2]);
        let (fitting, other) = if mode == Some(1) { (&[3, 4][..], &[0, 5]) } else { (&[0, 1, 2][..], &[3, 6]) };
        let count = 1 + self.chance.below(4);
        let frames = (0..count).map(|_| self.usually(fitting, other)).collect();
        FrameBatch { from: self.maybe(2, &[0, 0, 0, -1, -2, 1]), mode, max_frames: self.maybe(6, &[2, 3]), frames }
    }

    /// Chooses a step of a leased execution, or a fork.
    fn step(&mut self, reference: &Reference) -> Transition {
        if self.steps.one_in(8) {
            let job = self.job_that(reference, |one| one.steps.is_some());
            let again = self.jobs > 0 && self.steps.one_in(8);
            let fork = if again { self.jobs - 1 } else { self.next_job() };
            return Transition::Fork { job, fork, before: self.maybe_point(2) };
        }
        let (job, fence) = self.job_and_fence(reference);
        let result = match self.steps.below(60) {
            0 => Some(limits::STEP_RESULT_BYTES + 1),
            1 => Some(limits::STEP_RESULT_BYTES),
            2..14 => None,
            _ => Some(*self.steps.pick(&[0, 3, 200])),
        };
        let kind = *self.steps.pick(&[0, 0, 0, 1, 2]);
        let took_ms = self.steps.one_in(3).then(|| *self.steps.pick(&[0, 5, -5]));
        let at = Point(*self.steps.pick(&[0, 0, 1]), *self.steps.pick(&[0, 0, 0, 1]));
        let call = HolderCall::RecordStep(RecordedStep { kind, at, result, took_ms });
        Transition::AsHolder { job, fence, call }
    }

    /// Returns the name and key of a step once in `times` calls, rarely those of no step.
    fn maybe_point(&mut self, times: u64) -> Option<Point> {
        self.steps.one_in(times).then(|| Point(*self.steps.pick(&[0, 0, 0, 1, 7]), *self.steps.pick(&[0, 0, 0, 1])))
    }

    /// Advances the clock a little, or to just before, exactly at or just after a time at which a timer is due.
    pub(crate) fn advance(&mut self) -> Transition {
        if self.chance.one_in(2) {
            let (nth, offset_ms) = (*self.chance.pick(&[0, 0, 0, 1, 2]), *self.chance.pick(&[-1, 0, 0, 1]));
            return Transition::AdvanceTo { nth, offset_ms };
        }
        Transition::Advance { ms: *self.chance.pick(&[1, 10, 500, 1_000, 3_000, 5_000, 30_000, 60_000]) }
    }

    /// Returns the number of a new job.
    pub(crate) fn next_job(&mut self) -> u32 {
        self.jobs += 1;
        self.jobs - 1
    }

    /// Chooses several submissions with requirements of one class at most. Submissions to different partitions run
    /// concurrently, so with two new classes, timing would decide which partition learns of both.
    fn submit_many(&mut self) -> Transition {
        let mut many: Vec<_> = (0..1 + self.chance.below(6)).map(|_| self.submission()).collect();
        for one in many.iter_mut().filter(|one| one.policy == Policies::RoutedFar) {
            one.policy = Policies::Routed;
        }
        Transition::SubmitMany(many)
    }

    fn submission(&mut self) -> Submission {
        let again = self.jobs > 0 && self.chance.one_in(12);
        let job = if again { u32::try_from(self.chance.below(self.jobs.into())).unwrap() } else { self.jobs };
        self.jobs += u32::from(!again);
        let mut submission = Submission {
            job,
            namespace: *self.chance.pick(&[0, 0, 0, 0, 1]),
            lane: *self.chance.pick(&[0, 0, 1]),
            kind: *self.chance.pick(&[0, 0, 1]),
            payload: self.usually(&[0, 3, 40], &[41, 42, limits::PAYLOAD_BYTES + 1]),
            priority: *self.chance.pick(&[0, 0, 1, 9_000]),
            tags: self.usually(&[0, 2], &[limits::TAGS + 1]),
            key: self.maybe(4, &[0, 1, 2]),
            rule: self.rule(),
            start: self.start(),
            policy: routed(
                job,
                self.usually(
                    &[
                        Policies::Default,
                        Policies::Tight,
                        Policies::None,
                        Policies::Timed,
                        Policies::Timed,
                        Policies::Choosy,
                        Policies::Brief,
                    ],
                    &[Policies::Invalid],
                ),
            ),
        };
        // Most submissions with a rule avoid the invalid combinations with an idempotency key or a delayed start.
        if submission.rule.is_some() && !self.admission.one_in(20) {
            submission.key = None;
            if matches!(submission.rule, Some(Rule::Debounce { .. })) {
                submission.start = Start::Now;
            }
        }
        submission
    }

    /// Chooses a singleton or debounce key for some of the submissions.
    fn rule(&mut self) -> Option<Rule> {
        let conflicts = [OnConflict::Skip, OnConflict::Replace, OnConflict::Queue, OnConflict::Queue];
        let delays = [3_000, 20_000, 20_000, 60_000, 0, limits::DEBOUNCE_MAX_MS + 1];
        match self.admission.below(24) {
            0..3 => {
                let (key, on_conflict) = (*self.admission.pick(&[0, 0, 1]), *self.admission.pick(&conflicts));
                Some(Rule::Singleton { key, on_conflict })
            }
            3..6 => Some(Rule::Debounce { key: 0, delay_ms: *self.admission.pick(&delays) }),
            _ => None,
        }
    }

    /// Chooses a claim, mostly where an execution waits.
    pub(crate) fn claim(&mut self, reference: &Reference) -> Transition {
        let kinds: &[&[u8]] = &[&[], &[], &[], &[], &[], &[0], &[0, 1], &[1, 0, 1], &[7]];
        let (mut partition, mut namespace) = (self.partition(reference), *self.chance.pick(&[0, 0, 0, 0, 1]));
        let mut lane = *self.chance.pick(&[0, 0, 1]);
        let assigned = self.admission.one_in(8).then(|| self.job_that(reference, |one| one.grant().is_some()));
        let waits = assigned.unwrap_or_else(|| self.job(reference, |phase| *phase == Phase::Waiting));
        let mut worker = *self.chance.pick(&[0, 1, 2]);
        if let Some(waits) = reference.model.find(&reference.id(waits)).filter(|_| !self.chance.one_in(6)) {
            partition = waits.id.partition();
            namespace = u8::from(waits.namespace != Namespace::default_name());
            lane = u8::from(waits.lane != LaneId::default_name());
            let assignee = waits.grant().and_then(|grant| grant.worker_instance_id.as_str().strip_prefix("worker-"));
            worker = assignee.and_then(|nth| nth.parse().ok()).unwrap_or(worker);
        }
        Transition::Claim {
            partition,
            namespace,
            lane,
            kinds: self.chance.pick(kinds).to_vec(),
            assigned: assigned.is_some(),
            max: self.usually(&[1, 1, 2, 5, 1_000], &[0, 1_001]),
            worker,
            ttl_ms: self.usually(&[1_000, 5_000, 30_000, 30_000], &[999]),
        }
    }

    /// Chooses a pump, mostly of a partition with a due timer.
    pub(crate) fn pump(&mut self, reference: &Reference) -> Transition {
        let (now, partitions) = (reference.now(), 0..reference.partitions.num_flow_partitions);
        let due = |partition: &u16| reference.model.next_due(*partition).is_some_and(|at| at <= now);
        let due: Vec<_> = partitions.filter(due).collect();
        if due.is_empty() || self.chance.one_in(4) {
            return Transition::Pump { partition: self.partition(reference) };
        }
        Transition::Pump { partition: *self.chance.pick(&due) }
    }

    /// Returns a partition, rarely one that does not exist.
    pub(crate) fn partition(&mut self, reference: &Reference) -> u16 {
        let count = reference.partitions.num_flow_partitions;
        let beyond = u64::from(self.chance.one_in(30));
        u16::try_from(self.chance.below(u64::from(count))).unwrap() + count * u16::try_from(beyond).unwrap()
    }

    /// Returns a job and the fence to present: mostly that of the current lease, occasionally that of a lost lease.
    fn job_and_fence(&mut self, reference: &Reference) -> (u32, FenceChoice) {
        if self.chance.one_in(8) {
            return (self.job_that(reference, is_lost), FenceChoice::Latest);
        }
        (self.job(reference, |phase| matches!(phase, Phase::Running { .. })), self.fence())
    }

    /// Returns the fence to present: mostly that of the latest lease.
    pub(crate) fn fence(&mut self) -> FenceChoice {
        let stale = [FenceChoice::Earlier, FenceChoice::OtherLease, FenceChoice::OtherEpoch, FenceChoice::OtherAttempt];
        if self.chance.one_in(8) { *self.chance.pick(&stale) } else { FenceChoice::Latest }
    }

    /// Returns a job: mostly one in a matching phase, otherwise any recent job, rarely one that cannot be found.
    pub(crate) fn job(&mut self, reference: &Reference, phase: impl Fn(&Phase) -> bool) -> u32 {
        self.job_that(reference, |execution| phase(&execution.phase))
    }

    fn job_that(&mut self, reference: &Reference, suits: impl Fn(&Execution) -> bool) -> u32 {
        if self.chance.one_in(40) {
            return *self.chance.pick(&[u32::MAX, u32::MAX - 1]);
        }
        let recent: Vec<_> = reference.jobs().collect();
        let recent = &recent[recent.len().saturating_sub(24)..];
        let found = |id| reference.model.find(id).is_some_and(&suits);
        let suitable: Vec<_> = recent.iter().filter(|(_, id)| found(id)).collect();
        if recent.is_empty() {
            u32::MAX - 1
        } else if suitable.is_empty() || self.chance.one_in(4) {
            self.chance.pick(recent).0
        } else {
            self.chance.pick(&suitable).0
        }
    }

    fn start(&mut self) -> Start {
        match self.chance.below(12) {
            0 => Start::After(500),
            1 => Start::After(20_000),
            2 => Start::At(TimestampMs(1)),
            3 => Start::At(TimestampMs(1_700_000_100_000)),
            4 if self.chance.one_in(4) => Start::After(limits::SPAN_MAX_MS + 1),
            _ => Start::Now,
        }
    }

    fn bytes(&mut self) -> Option<usize> {
        if self.chance.one_in(80) { Some(limits::PAYLOAD_BYTES + 1) } else { self.maybe(2, &[0, 5, 100]) }
    }

    fn message(&mut self) -> Option<usize> {
        if self.chance.one_in(40) { Some(limits::MESSAGE_BYTES + 1) } else { self.maybe(2, &[0, 9]) }
    }

    /// Returns one of the values once in `times` calls.
    pub(crate) fn maybe<T: Copy>(&mut self, times: u64, from: &[T]) -> Option<T> {
        self.chance.one_in(times).then(|| *self.chance.pick(from))
    }

    /// Returns one of the first values, rarely one of those that must be refused.
    pub(crate) fn usually<T: Copy>(&mut self, from: &[T], refused: &[T]) -> T {
        let rare = self.chance.one_in(40);
        *self.chance.pick(if rare { refused } else { from })
    }
}

/// Returns whether an execution waits after a lease, which may have been revoked.
fn is_lost(execution: &Execution) -> bool {
    execution.phase == Phase::Waiting && execution.last_lease.is_some()
}

fn finished(phase: &Phase) -> bool {
    matches!(phase, Phase::Finished { .. })
}

/// Gives some of the jobs requirements. The job's number decides, so that no other random choice changes.
pub(super) fn routed(job: u32, policy: Policies) -> Policies {
    match (policy, job % 4) {
        (Policies::Choosy | Policies::None, 1) => Policies::Routed,
        (Policies::Choosy, 3) => Policies::RoutedFar,
        (policy, _) => policy,
    }
}
