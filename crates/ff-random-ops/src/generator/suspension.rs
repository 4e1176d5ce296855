//! Choice of transitions about suspensions: mostly valid ones, occasionally one that must be refused.

use super::Generator;
use crate::prelude::*;
use crate::reference::{Reference, number_of};
use crate::transition::{
    HolderCall, OutgoingSignal, ShownToken, SuspensionRequest, Transition, Tree, WaitpointChoice, WaitpointSelector,
};

/// Number of waitpoint keys. There are few, so that several waitpoints in succession have the same key.
const KEYS: u64 = 4;

impl Generator {
    /// Chooses a transition about a suspension, mostly one that fits the phase of a job.
    pub(crate) fn wait(&mut self, reference: &Reference) -> Transition {
        if self.chance.one_in(40) {
            return self.rotation();
        }
        let job = self.job(reference, |phase| matches!(phase, Phase::Running { .. } | Phase::Suspended { .. }));
        match reference.model.find(&reference.id(job)).map(|execution| &execution.phase) {
            Some(Phase::Suspended { .. }) => self.while_suspended(reference, job),
            Some(Phase::Running { .. }) if !pending(reference, job).is_empty() => {
                self.while_something_pends(reference, job)
            }
            Some(Phase::Running { .. }) => self.holder(reference, job),
            _ => match self.chance.below(12) {
                0 => self.holder(reference, job),
                1..3 => self.decision(job),
                3..6 => Transition::Deliver(self.sending(reference, job)),
                _ => self.claim(reference),
            },
        }
    }

    fn while_suspended(&mut self, reference: &Reference, job: u32) -> Transition {
        match self.chance.below(24) {
            0..14 => Transition::Deliver(self.sending(reference, job)),
            14..16 => self.decision(job),
            16 => Transition::CloseWaitpoint { job, waitpoint: self.which(reference, job) },
            17 => self.holder(reference, job),
            18 => self.advance(),
            19..21 => Transition::Advance { ms: *self.chance.pick(&[600, 4_000, 4_000, 20_000]) },
            _ => Transition::Pump { partition: reference.id(job).partition() },
        }
    }

    fn while_something_pends(&mut self, reference: &Reference, job: u32) -> Transition {
        match self.chance.below(12) {
            0..6 => Transition::Deliver(self.sending(reference, job)),
            6 => Transition::CloseWaitpoint { job, waitpoint: self.which(reference, job) },
            _ => self.holder(reference, job),
        }
    }

    /// Chooses a suspension, or a waitpoint that is created before one.
    fn holder(&mut self, reference: &Reference, job: u32) -> Transition {
        let fence = self.fence();
        let call = if self.chance.one_in(3) {
            let ms = self.usually(&[700, 5_000, 60_000, 60_000], &[0, limits::SPAN_MAX_MS + 1]);
            HolderCall::CreateWaitpoint { key: self.number(KEYS), ms }
        } else {
            HolderCall::Suspend(self.wish(reference, job))
        };
        Transition::AsHolder { job, fence, call }
    }

    fn rotation(&mut self) -> Transition {
        let graces = [60_000, 300_000, 300_000, 300_000, 2_000, 0];
        let grace_ms = if self.chance.one_in(10) { limits::SPAN_MAX_MS + 1 } else { *self.chance.pick(&graces) };
        Transition::Rotate { kid: self.number(6), secret: self.number(2), grace_ms }
    }

    fn wish(&mut self, reference: &Reference, job: u32) -> SuspensionRequest {
        let pending = pending(reference, job);
        let first = if pending.is_empty() { self.number(KEYS) } else { *self.chance.pick(&pending) };
        let count = *self.chance.pick(if pending.is_empty() { &[1, 1, 2, 3] } else { &[1, 1, 1, 2] });
        let numbers = (0..count).map(|nth| (first + nth) % u8::try_from(KEYS).unwrap());
        let on: Vec<_> = numbers.map(|number| self.on(reference, job, number)).collect();
        let trees = [
            Tree::AnyOf,
            Tree::AnyOf,
            Tree::AllOf,
            Tree::Sample,
            Tree::Waitpoints(1 + u32::from(count) / 2),
            Tree::Signals(2),
            Tree::Sources(2),
            Tree::Deep,
            Tree::Operator,
            Tree::Timeout,
        ];
        let timeout = match self.chance.below(8) {
            0 => None,
            1 => Some(Timeout::At(TimestampMs(1_700_000_100_000))),
            _ => Some(self.usually(
                &[Timeout::After(600), Timeout::After(600), Timeout::After(4_000), Timeout::After(40_000)],
                &[Timeout::After(0), Timeout::At(TimestampMs(1))],
            )),
        };
        SuspensionRequest {
            on,
            tree: self.usually(
                if pending.is_empty() { &trees } else { &trees[..3] },
                &[Tree::TooDeep, Tree::Waitpoints(9), Tree::Signals(0)],
            ),
            timeout,
            behavior: *self.chance.pick(TimeoutBehavior::ALL),
            delay_ms: *self.chance.pick(&[0, 0, 0, 2_000]),
            selection: *self.chance.pick(SignalSelection::ALL),
            key: self.maybe(4, &[0, 1]),
        }
    }

    /// Chooses a waitpoint of a suspension: mostly the pending one of this key, if it exists.
    fn on(&mut self, reference: &Reference, job: u32, number: u8) -> WaitpointChoice {
        if self.chance.one_in(30) {
            return *self.chance.pick(&[WaitpointChoice::Unknown(number), WaitpointChoice::Ahead(number)]);
        }
        let pends = pending(reference, job).contains(&number);
        match self.chance.below(10) {
            0..2 if pends => WaitpointChoice::New(number),
            2..4 if pends => WaitpointChoice::Misnamed(number),
            _ if pends => WaitpointChoice::Ahead(number),
            _ => WaitpointChoice::New(number),
        }
    }

    fn sending(&mut self, reference: &Reference, job: u32) -> OutgoingSignal {
        let others =
            [ShownToken::Newest, ShownToken::Flipped, ShownToken::Signed, ShownToken::UnknownKid, ShownToken::Half];
        let others = [&others[..], &[ShownToken::Missing; 2]].concat();
        OutgoingSignal {
            job,
            to: self.which(reference, job),
            by_key: self.chance.one_in(3),
            token: if self.chance.one_in(6) { *self.chance.pick(&others) } else { ShownToken::Own },
            name: *self.chance.pick(&[0, 0, 1]),
            user: self.maybe(2, &[0, 1]),
            payload: if self.chance.one_in(80) { Some(limits::SIGNAL_BYTES + 1) } else { self.maybe(2, &[0, 5, 300]) },
            key: self.maybe(2, &[0, 1]),
        }
    }

    fn decision(&mut self, job: u32) -> Transition {
        Transition::Resume {
            job,
            decision: *self.chance.pick(OperatorDecision::ALL),
            named: self.maybe(3, &[0, 0, 1, 9]),
            payload: self.maybe(3, &[0, 12]),
            delay_ms: self.maybe(4, &[0, 3_000]),
        }
    }

    /// Chooses a waitpoint of a job: mostly one of the last that were granted.
    fn which(&mut self, reference: &Reference, job: u32) -> WaitpointSelector {
        let id = reference.id(job);
        let granted = reference.granted.of(&id).take(3);
        let lately: Vec<_> = granted.filter_map(|one| number_of(&one.waitpoint_key)).collect();
        if lately.is_empty() || self.chance.one_in(30) {
            return WaitpointSelector::Unknown;
        }
        let number = *self.chance.pick(&lately);
        if self.chance.one_in(8) { WaitpointSelector::Before(number) } else { WaitpointSelector::Last(number) }
    }

    pub(crate) fn number(&mut self, below: u64) -> u8 {
        u8::try_from(self.chance.below(below)).unwrap()
    }
}

/// Returns the key numbers of a job's pending waitpoints.
fn pending(reference: &Reference, job: u32) -> Vec<u8> {
    let pending = reference.model.find(&reference.id(job)).map(|found| found.pending_waitpoints.as_slice());
    pending.unwrap_or_default().iter().filter_map(|one| number_of(&one.key)).collect()
}
