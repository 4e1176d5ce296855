//! Choosing the next step: mostly something that can work, now and then something that must be refused.

use ff_core::contracts::Start;
use ff_core::execution::Phase;
use ff_core::limits;
use ff_core::types::TimestampMs;

use super::reference::Reference;
use super::step::{Policies, Step, Submission, Whose};
use crate::Chance;

/// Chooses steps by chance.
pub(crate) struct Chooser {
    pub(super) chance: Chance,
    jobs: u32,
    /// Flows so far; the number of the next.
    pub(super) flows: u32,
    /// The first job of a long chain that nobody has cancelled yet.
    pub(super) head: Option<u32>,
    last: Option<Step>,
}

impl Chooser {
    pub(crate) fn new(seed: u64) -> Self {
        Self { chance: Chance::new(seed), jobs: 0, flows: 0, head: None, last: None }
    }

    /// The next step; now and then the last one again, as if its reply had been lost.
    pub(crate) fn choose(&mut self, reference: &Reference) -> Step {
        let again = self.last.take().filter(|_| self.chance.one_in(12));
        let step = again.unwrap_or_else(|| self.another(reference));
        self.last = Some(step.clone());
        step
    }

    fn another(&mut self, reference: &Reference) -> Step {
        if self.chance.below(10) < 3 {
            return self.depend(reference);
        }
        if self.chance.one_in(8) {
            return self.operate(reference);
        }
        if self.chance.one_in(2) {
            return self.wait(reference);
        }
        match self.chance.below(100) {
            0..13 => Step::Submit(self.submission()),
            13..15 => Step::SubmitMany((0..1 + self.chance.below(6)).map(|_| self.submission()).collect()),
            15..32 => self.claim(reference),
            32..37 => {
                let (job, fence) = self.held(reference);
                Step::Renew { job, fence, ttl_ms: self.maybe(3, &[1_000, 5_000, 60_000, 60_000, 3_600_001]) }
            }
            37..42 => {
                let (job, fence) = self.held(reference);
                let (percent, message) = (Some(self.usually(&[0, 50, 100], &[101])), self.message());
                Step::Progress { job, fence, percent, message }
            }
            42..51 => {
                let (job, fence) = self.held(reference);
                Step::Complete { job, fence, result: self.bytes() }
            }
            51..61 => {
                let (job, fence) = self.held(reference);
                let category = *self.chance.pick(&[0, 0, 1]);
                Step::Fail { job, fence, category, permanent: self.chance.one_in(6) }
            }
            61..67 => {
                let (job, fence) = self.held(reference);
                Step::Delay { job, fence, start: self.start() }
            }
            67..73 => Step::Cancel { job: self.job(reference, |phase| !finished(phase)), reason: self.message() },
            73..79 => {
                let (job, reason) = (self.job(reference, finished), self.message());
                Step::Replay { job, reason, reopen: self.chance.one_in(2) }
            }
            79..87 => {
                // What waits may do so because it was revoked.
                let again = self.chance.one_in(4);
                let held = |phase: &Phase| matches!(phase, Phase::Running { .. });
                let job = self.job(reference, |phase| if again { *phase == Phase::Waiting } else { held(phase) });
                Step::Revoke { job, lease: self.maybe(2, &[Whose::Latest, Whose::Earlier, Whose::OtherLease]) }
            }
            87..94 => Step::Pump { partition: self.partition(reference) },
            94 if self.chance.one_in(2) => Step::Reopen,
            95 if self.chance.one_in(20) => Step::Advance { ms: limits::RETENTION_MS },
            _ => Step::Advance { ms: *self.chance.pick(&[1, 10, 500, 1_000, 3_000, 5_000, 30_000, 60_000]) },
        }
    }

    /// A job nobody has been given.
    pub(super) fn next_job(&mut self) -> u32 {
        self.jobs += 1;
        self.jobs - 1
    }

    fn submission(&mut self) -> Submission {
        let again = self.jobs > 0 && self.chance.one_in(12);
        let job = if again { u32::try_from(self.chance.below(self.jobs.into())).unwrap() } else { self.jobs };
        self.jobs += u32::from(!again);
        Submission {
            job,
            namespace: *self.chance.pick(&[0, 0, 0, 0, 1]),
            lane: *self.chance.pick(&[0, 0, 1]),
            kind: *self.chance.pick(&[0, 0, 1]),
            payload: self.usually(&[0, 3, 40], &[41, 42, limits::PAYLOAD_BYTES + 1]),
            priority: *self.chance.pick(&[0, 0, 1, 9_000]),
            tags: self.usually(&[0, 2], &[limits::TAGS + 1]),
            key: self.maybe(4, &[0, 1, 2]),
            start: self.start(),
            policy: self.usually(
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
        }
    }

    pub(super) fn claim(&mut self, reference: &Reference) -> Step {
        let kinds: &[&[u8]] = &[&[], &[], &[], &[0], &[0, 1], &[1, 0, 1], &[7]];
        Step::Claim {
            partition: self.partition(reference),
            namespace: *self.chance.pick(&[0, 0, 0, 0, 1]),
            lane: *self.chance.pick(&[0, 0, 1]),
            kinds: self.chance.pick(kinds).to_vec(),
            max: self.usually(&[1, 1, 2, 5, 1_000], &[0, 1_001]),
            worker: *self.chance.pick(&[0, 1, 2]),
            ttl_ms: self.usually(&[1_000, 5_000, 30_000, 30_000], &[999]),
        }
    }

    /// A partition, rarely one that is not there.
    pub(super) fn partition(&mut self, reference: &Reference) -> u16 {
        let count = reference.partitions.num_flow_partitions;
        let beyond = u64::from(self.chance.one_in(30));
        u16::try_from(self.chance.below(u64::from(count))).unwrap() + count * u16::try_from(beyond).unwrap()
    }

    /// A job and a fence to show for it: mostly those of whoever holds it, now and then of who lost it.
    fn held(&mut self, reference: &Reference) -> (u32, Whose) {
        if self.chance.one_in(10) {
            return (self.job(reference, |phase| *phase == Phase::Waiting), Whose::Latest);
        }
        (self.job(reference, |phase| matches!(phase, Phase::Running { .. })), self.fence())
    }

    /// A fence: mostly that of whoever holds the job.
    pub(super) fn fence(&mut self) -> Whose {
        let others = [Whose::Earlier, Whose::OtherLease, Whose::OtherEpoch, Whose::OtherAttempt];
        if self.chance.one_in(8) { *self.chance.pick(&others) } else { Whose::Latest }
    }

    /// A job: mostly one in such a phase, otherwise any recent one, rarely one that is not or cannot be there.
    pub(super) fn job(&mut self, reference: &Reference, phase: impl Fn(&Phase) -> bool) -> u32 {
        if self.chance.one_in(40) {
            return *self.chance.pick(&[u32::MAX, u32::MAX - 1]);
        }
        let recent: Vec<_> = reference.jobs().collect();
        let recent = &recent[recent.len().saturating_sub(24)..];
        let suits = |id| reference.model.find(id).is_some_and(|execution| phase(&execution.phase));
        let suitable: Vec<_> = recent.iter().filter(|(_, id)| suits(id)).collect();
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

    /// One of these, once in so many times.
    pub(super) fn maybe<T: Copy>(&mut self, times: u64, from: &[T]) -> Option<T> {
        self.chance.one_in(times).then(|| *self.chance.pick(from))
    }

    /// Usually one of these, rarely one that must be refused.
    pub(super) fn usually<T: Copy>(&mut self, from: &[T], refused: &[T]) -> T {
        let rare = self.chance.one_in(40);
        *self.chance.pick(if rare { refused } else { from })
    }
}

fn finished(phase: &Phase) -> bool {
    matches!(phase, Phase::Finished { .. })
}
