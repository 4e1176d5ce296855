//! Choice of requests by operators, worker processes and readers of events, and of messages between partitions.

use super::{Generator, Mix};
use crate::PARTITIONS;
use crate::adjustment::Adjustment;
use crate::prelude::*;
use crate::reference::Reference;
use crate::transition::{OperatorRequest, Transition};

/// Returns the transitions that begin a run, last one first.
pub(super) fn beginning(mix: &Mix) -> Vec<Transition> {
    match mix {
        Mix { messages: true, .. } => limited_lane(),
        Mix { fair: true, .. } => fair_lanes(),
        _ => Vec::new(),
    }
}

/// Returns the first transitions of a run with messages, last one first. They set a limit for the default lane on every
/// partition before any execution runs on the lane.
fn limited_lane() -> Vec<Transition> {
    let configure = OperatorRequest::Configure {
        namespace: 0,
        lane: 0,
        state: LaneState::Active,
        concurrency: Setting::To(3),
        ageing_ms: Setting::Keep,
        retention_ms: Setting::Keep,
        fair_by: Setting::Keep,
        weight: None,
    };
    let copies = (0..PARTITIONS.num_flow_partitions).map(|partition| OperatorRequest::CopyLane { partition });
    copies.chain([configure]).map(Transition::Operate).collect()
}

/// Returns the first transitions of a run with fair lanes, which make both lanes of the first namespace fair.
fn fair_lanes() -> Vec<Transition> {
    let configure = |lane: u8| OperatorRequest::Configure {
        namespace: 0,
        lane,
        state: LaneState::Active,
        concurrency: Setting::Keep,
        ageing_ms: Setting::Keep,
        retention_ms: Setting::Keep,
        fair_by: Setting::To(lane),
        weight: None,
    };
    [0, 1].map(configure).map(Transition::Operate).into()
}

impl Generator {
    /// Chooses a request of an operator, a worker process or a reader of events.
    pub(crate) fn operate(&mut self, reference: &Reference) -> Transition {
        if self.mix.messages && self.chance.one_in(2) {
            return Transition::Operate(self.lane_message());
        }
        let worker = *self.chance.pick(&[0, 1, 2]);
        let namespace = *self.chance.pick(&[0, 0, 0, 1]);
        Transition::Operate(match self.chance.below(20) {
            7..10 if self.mix.lanes => self.configuration(),
            0..12 => {
                let job = self.job(reference, |_| true);
                OperatorRequest::Adjust { job, adjustment: Adjustment::choose(&mut self.adjustments) }
            }
            12..14 => {
                let ttl_ms = self.usually(&[1_000, 5_000, 60_000], &[999]);
                OperatorRequest::Register { worker, namespace, ttl_ms }
            }
            14..16 => OperatorRequest::Heartbeat { worker, namespace },
            16 => OperatorRequest::Leave { worker, namespace },
            17 => OperatorRequest::SweepWorkers,
            _ => OperatorRequest::Read { limit: self.usually(&[1, 3, 100], &[0, limits::PAGE + 1]) },
        })
    }

    /// Chooses a message between the home of the default lane and the partitions that claim from this lane.
    fn lane_message(&mut self) -> OperatorRequest {
        let partition = u16::from(self.number(PARTITIONS.num_flow_partitions.into()));
        match self.chance.below(100) {
            0..18 => OperatorRequest::Allot { partition, want: 1 + u32::from(self.number(3)) },
            18..44 => OperatorRequest::ClaimGranted { back: *self.chance.pick(&[0, 0, 0, 1, 2]) },
            44..56 => OperatorRequest::Recount { partition, behind: *self.chance.pick(&[0, 0, 0, 1]) },
            56..76 => {
                OperatorRequest::Settle { back: *self.chance.pick(&[0, 0, 2]), counts: 1 + usize::from(self.number(6)) }
            }
            76..80 => self.configuration(),
            _ => OperatorRequest::CopyLane { partition },
        }
    }

    /// Chooses settings of a lane. Most settings leave the lane active, so that the rest of the run has work. A limit
    /// that is sent in messages is never removed: a partition that has not received the next limit would start
    /// executions unknown to the lane's home.
    fn configuration(&mut self) -> OperatorRequest {
        let (fair_by, weight) = self.fairness();
        let states = [&[LaneState::Active; 6][..], &[LaneState::Paused, LaneState::Draining]].concat();
        OperatorRequest::Configure {
            namespace: *self.chance.pick(&[0, 0, 0, 1]),
            lane: *self.chance.pick(&[0, 1]),
            state: *self.chance.pick(&states),
            concurrency: match self.chance.below(4) {
                0 => Setting::Keep,
                1 if !self.mix.messages => Setting::Default,
                _ => Setting::To(self.usually(if self.mix.messages { &[1, 2, 5] } else { &[1, 5, 20] }, &[0])),
            },
            ageing_ms: self.setting(&[1, 1_000], 0),
            retention_ms: self.setting(&[0, 5_000, 60_000], limits::SPAN_MAX_MS + 1),
            fair_by,
            weight,
        }
    }

    /// Chooses fairness settings. Most of the time, a fair lane keeps its own.
    fn fairness(&mut self) -> (Setting<u8>, Option<(u8, Setting<u32>)>) {
        if !self.mix.fair {
            return (Setting::Keep, None);
        }
        let fair_by = match self.fairness.below(12) {
            0 => Setting::Default,
            1..4 => Setting::To(0),
            4 => Setting::To(1),
            5 => Setting::To(2),
            _ => Setting::Keep,
        };
        let weight = match self.fairness.below(10) {
            0..4 => Some(Setting::To(*self.fairness.pick(&[2, 3, 7]))),
            4 => Some(Setting::Default),
            5 => Some(Setting::To(*self.fairness.pick(&[0, 1, limits::WEIGHT_MAX + 1]))),
            _ => None,
        };
        (fair_by, weight.map(|weight| (*self.fairness.pick(&[0, 1, 2]), weight)))
    }

    fn setting<T: Copy>(&mut self, to: &[T], refused: T) -> Setting<T> {
        match self.chance.below(6) {
            0 | 1 => Setting::To(self.usually(to, &[refused])),
            2 | 3 => Setting::Default,
            _ => Setting::Keep,
        }
    }
}
