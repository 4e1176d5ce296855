//! The queue of waiting workers, each with its lanes and kinds.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use ff_core::types::{Kind, LaneId};
use tokio::sync::Notify;

use crate::ready::{WorkFilter, WorkType};

/// The waiting workers, and the called workers that have not answered yet. A worker keeps its ticket while it waits, so it keeps
/// its place after a call that gave it nothing.
#[derive(Default)]
pub(crate) struct WaiterQueue {
    tickets: u64,
    waiting: HashMap<u64, Waiter>,
    lanes: HashMap<LaneId, LaneLine>,
    called: HashMap<u64, (LaneId, WorkType)>,
}

struct Waiter {
    wanted: Arc<WorkFilter>,
    notify: Arc<Notify>,
}

/// The tickets of the workers that wait for one lane.
#[derive(Default)]
struct LaneLine {
    any: BTreeSet<u64>,
    by_kind: HashMap<Kind, BTreeSet<u64>>,
    /// Workers with capabilities, as needed by work with requirements. They are also in the other sets.
    capable: BTreeSet<u64>,
}

impl WaiterQueue {
    /// Returns a ticket behind all others.
    pub(crate) fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }

    /// Adds a worker that waits to be called.
    pub(crate) fn join(&mut self, ticket: u64, wanted: Arc<WorkFilter>, notify: Arc<Notify>) {
        for lane in &wanted.lanes {
            let line = self.lanes.entry(lane.clone()).or_default();
            if wanted.kinds.is_empty() {
                line.any.insert(ticket);
            }
            for kind in &wanted.kinds {
                line.by_kind.entry(kind.clone()).or_default().insert(ticket);
            }
            if !wanted.capabilities.is_empty() {
                line.capable.insert(ticket);
            }
        }
        self.waiting.insert(ticket, Waiter { wanted, notify });
    }

    /// Calls the worker that has waited longest for work of this lane and type, if there is one.
    pub(crate) fn call(&mut self, lane: &LaneId, of: &WorkType) {
        let Some(line) = self.lanes.get(lane) else { return };
        let takes = |ticket: &&u64| self.waiting.get(ticket).is_some_and(|waiter| waiter.wanted.takes(of));
        let first = match of.class.assignee() {
            None if of.class.is_plain() => line.first(&of.kind),
            None => line.capable.iter().find(takes).copied(),
            Some(_) => line.all(&of.kind).find(takes).copied(),
        };
        let Some(ticket) = first else { return };
        if let Some(waiter) = self.leave(ticket) {
            self.called.insert(ticket, (lane.clone(), of.clone()));
            waiter.notify.notify_one();
        }
    }

    /// Removes a worker that has answered or gone. Returns the work it was called for, so that another worker can be called.
    pub(crate) fn answer(&mut self, ticket: u64) -> Option<(LaneId, WorkType)> {
        self.leave(ticket);
        self.called.remove(&ticket)
    }

    fn leave(&mut self, ticket: u64) -> Option<Waiter> {
        let waiter = self.waiting.remove(&ticket)?;
        for lane in &waiter.wanted.lanes {
            let Some(line) = self.lanes.get_mut(lane) else { continue };
            line.remove(ticket, &waiter.wanted.kinds);
            if line.any.is_empty() && line.by_kind.is_empty() {
                self.lanes.remove(lane);
            }
        }
        Some(waiter)
    }
}

impl LaneLine {
    fn first(&self, kind: &Kind) -> Option<u64> {
        let of_kind = self.by_kind.get(kind).and_then(BTreeSet::first);
        self.any.first().into_iter().chain(of_kind).min().copied()
    }

    /// Returns the workers that take a kind, those that take any kind first.
    fn all(&self, kind: &Kind) -> impl Iterator<Item = &u64> {
        self.any.iter().chain(self.by_kind.get(kind).into_iter().flatten())
    }

    fn remove(&mut self, ticket: u64, kinds: &[Kind]) {
        self.any.remove(&ticket);
        self.capable.remove(&ticket);
        for kind in kinds {
            if let Some(tickets) = self.by_kind.get_mut(kind) {
                tickets.remove(&ticket);
                if tickets.is_empty() {
                    self.by_kind.remove(kind);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ff_core::types::{Capability, RequirementClass};
    use futures_util::FutureExt;

    use super::*;

    /// Returns the class of work assigned to the test's workers.
    fn own() -> RequirementClass {
        RequirementClass::parse(",,w-1").unwrap()
    }

    struct Worker(u64, Arc<Notify>);

    impl Worker {
        fn join(line: &mut WaiterQueue, lanes: &[&str], kinds: &[&str]) -> Self {
            Self::with(line, lanes, kinds, &[])
        }

        fn with(line: &mut WaiterQueue, lanes: &[&str], kinds: &[&str], capabilities: &[&str]) -> Self {
            let lanes = lanes.iter().map(|name| LaneId::parse(name).unwrap()).collect();
            let kinds = kinds.iter().map(|name| Kind::parse(name).unwrap()).collect();
            let capabilities = capabilities.iter().map(|word| Capability::parse(word).unwrap()).collect();
            let (ticket, notify) = (line.ticket(), Arc::new(Notify::new()));
            line.join(ticket, Arc::new(WorkFilter { lanes, kinds, capabilities, own: own() }), notify.clone());
            Self(ticket, notify)
        }

        fn was_called(&self) -> bool {
            self.1.notified().now_or_never().is_some()
        }
    }

    fn call(line: &mut WaiterQueue, lane: &str, kind: &str) {
        call_for(line, lane, kind, "");
    }

    fn call_for(line: &mut WaiterQueue, lane: &str, kind: &str, class: &str) {
        let (kind, class) = (Kind::parse(kind).unwrap(), RequirementClass::parse(class).unwrap());
        line.call(&LaneId::parse(lane).unwrap(), &WorkType { kind, class });
    }

    #[test]
    fn no_worker_is_called_for_what_it_cannot_run() {
        let mut line = WaiterQueue::default();
        let plain = Worker::join(&mut line, &["a"], &[]);
        let other_kind = Worker::with(&mut line, &["a"], &["y"], &["gpu"]);
        let other_class = Worker::with(&mut line, &["a"], &["x"], &["ssd"]);
        let able = Worker::with(&mut line, &["a"], &["x"], &["gpu", "ssd"]);
        call_for(&mut line, "a", "x", "gpu");
        assert!(able.was_called());
        assert!(!plain.was_called() && !other_kind.was_called() && !other_class.was_called());
        call_for(&mut line, "a", "x", "gpu");
        assert!(!plain.was_called() && !other_kind.was_called() && !other_class.was_called());
        call(&mut line, "a", "x");
        assert!(plain.was_called());
    }

    #[test]
    fn only_the_longest_waiting_matching_worker_is_called() {
        let mut line = WaiterQueue::default();
        let other_lane = Worker::join(&mut line, &["b"], &[]);
        let other_kind = Worker::join(&mut line, &["a"], &["y"]);
        let first = Worker::join(&mut line, &["b", "a"], &["x", "z"]);
        let second = Worker::join(&mut line, &["a"], &[]);
        call(&mut line, "a", "x");
        assert!(first.was_called());
        assert!(!second.was_called());
        call(&mut line, "a", "x");
        assert!(second.was_called() && !first.was_called());
        call(&mut line, "a", "x");
        assert!(!other_lane.was_called() && !other_kind.was_called());
    }

    #[test]
    fn a_worker_called_in_vain_keeps_its_place() {
        let mut line = WaiterQueue::default();
        let (first, second) = (Worker::join(&mut line, &["a"], &[]), Worker::join(&mut line, &["a"], &[]));
        call(&mut line, "a", "x");
        assert!(first.was_called());
        assert!(line.answer(first.0).is_some());
        let wanted = WorkFilter {
            lanes: vec![LaneId::parse("a").unwrap()],
            kinds: vec![],
            capabilities: BTreeSet::new(),
            own: own(),
        };
        line.join(first.0, Arc::new(wanted), first.1.clone());
        call(&mut line, "a", "x");
        assert!(first.was_called() && !second.was_called());
    }

    #[test]
    fn nothing_is_left_of_those_who_went() {
        let mut line = WaiterQueue::default();
        let waiting = Worker::join(&mut line, &["a", "b"], &["x", "y"]);
        let called = Worker::join(&mut line, &["c"], &[]);
        call(&mut line, "c", "x");
        assert_eq!(line.answer(waiting.0), None);
        assert!(line.answer(called.0).is_some());
        assert!(line.waiting.is_empty() && line.lanes.is_empty() && line.called.is_empty());
    }
}
