//! Choosing what somebody who operates a store asks next.

use ff_core::contracts::Setting;
use ff_core::lane::LaneState;
use ff_core::limits;

use super::Order;
use crate::differential::chooser::Chooser;
use crate::differential::reference::Reference;
use crate::differential::step::Step;

impl Chooser {
    /// Something an operator, a worker's program or a reader asks.
    pub(in crate::differential) fn operate(&mut self, reference: &Reference) -> Step {
        let worker = *self.chance.pick(&[0, 1, 2]);
        let namespace = *self.chance.pick(&[0, 0, 0, 1]);
        Step::Operate(match self.chance.below(20) {
            0..4 => {
                let set = (*self.chance.pick(&[0, 1]), *self.chance.pick(&[0, 1]));
                Order::Label { job: self.job(reference, |_| true), set, remove: *self.chance.pick(&[0, 1, 7]) }
            }
            4..7 => Order::Prioritise { job: self.job(reference, |_| true), to: *self.chance.pick(&[0, 1, 2, 9_000]) },
            7..12 => self.configuration(),
            12 => {
                let ttl_ms = self.usually(&[1_000, 5_000, 60_000], &[999]);
                Order::Register { worker, namespace, ttl_ms }
            }
            13..15 => Order::Heartbeat { worker, namespace },
            15 => Order::Leave { worker, namespace },
            16 => Order::SweepWorkers,
            _ => Order::Read { limit: self.usually(&[1, 3, 100], &[0, limits::PAGE + 1]) },
        })
    }

    /// Mostly a lane hands out work, so that the rest of the walk has something to do.
    fn configuration(&mut self) -> Order {
        let states = [LaneState::Active, LaneState::Active, LaneState::Active, LaneState::Paused, LaneState::Draining];
        Order::Configure {
            namespace: *self.chance.pick(&[0, 0, 0, 1]),
            lane: *self.chance.pick(&[0, 1]),
            state: *self.chance.pick(&states),
            concurrency: match self.chance.below(4) {
                0 => Setting::Keep,
                1 => Setting::Default,
                _ => Setting::To(self.usually(&[1, 2, 5], &[0])),
            },
            ageing_ms: self.setting(&[1, 1_000], 0),
            retention_ms: self.setting(&[0, 5_000, 60_000], limits::SPAN_MAX_MS + 1),
        }
    }

    fn setting<T: Copy>(&mut self, to: &[T], refused: T) -> Setting<T> {
        match self.chance.below(6) {
            0 | 1 => Setting::To(self.usually(to, &[refused])),
            2 | 3 => Setting::Default,
            _ => Setting::Keep,
        }
    }
}
