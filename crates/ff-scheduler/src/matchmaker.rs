//! Matches ready work with waiting workers. One lock protects both, so that no worker starts to wait while work for it is ready,
//! and no work becomes ready without a call to a waiting worker.
//!
//! Invariant: while work of a lane, kind and requirement class is ready and a worker waits for it, a worker was called for it and
//! has not answered yet. Work that becomes ready calls one worker. A worker that answers or goes away calls the next if such work
//! is still ready.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ff_core::fairness::step_of;
use ff_core::lease::contracts::Head;
use ff_core::types::LaneId;
use tokio::sync::Notify;

use crate::ready::{ReadyLane, ReadyWork, WorkFilter, WorkType};
use crate::waiter_queue::WaiterQueue;

#[derive(Default)]
pub(crate) struct Matchmaker {
    state: Mutex<State>,
    /// Notifies when work is held back.
    holding: Notify,
}

#[derive(Default)]
struct State {
    ready: ReadyWork,
    queue: WaiterQueue,
    /// Ready work that its lane's limit holds back until another execution ends.
    held_back: HashMap<LaneId, Vec<ReadyLane>>,
    /// Number of times that held-back work was released.
    releases: u64,
}

impl Matchmaker {
    /// Notes that work is ready.
    pub(crate) fn add(&self, partition: u16, lane: &LaneId, of: &WorkType, head: Head) {
        self.state().add(partition, lane, of, head);
    }

    /// Takes wanted work from at most `most` partitions.
    pub(crate) fn take(self: &Arc<Self>, wanted: &WorkFilter, most: usize) -> Vec<Offer> {
        let mut state = self.state();
        let lanes = state.ready.take(wanted, most);
        self.offers(lanes, state.releases)
    }

    /// Waits until work is held back; returns at once if that happened since the last call.
    pub(crate) async fn holding(&self) {
        self.holding.notified().await;
    }

    /// Returns the lanes with held-back work.
    pub(crate) fn limited(&self) -> Vec<LaneId> {
        self.state().held_back.keys().cloned().collect()
    }

    /// Makes the held-back work of a lane ready again, because there may be room.
    pub(crate) fn release(&self, lane: &LaneId) {
        let mut state = self.state();
        state.releases += 1;
        for ready_lane in state.held_back.remove(lane).unwrap_or_default() {
            state.put_back(&ready_lane);
        }
    }

    /// Creates a place in the queue for a worker that does not wait yet.
    pub(crate) fn place(self: &Arc<Self>, wanted: Arc<WorkFilter>) -> QueuePlace {
        let ticket = self.state().queue.ticket();
        QueuePlace { matchmaker: self.clone(), ticket, wanted, notify: Arc::default() }
    }

    fn offers(self: &Arc<Self>, lanes: Vec<ReadyLane>, releases: u64) -> Vec<Offer> {
        lanes.into_iter().map(|ready_lane| Offer { matchmaker: self.clone(), ready_lane, releases }).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, partition: u16, lane: &LaneId, of: &WorkType, head: Head) {
        if self.ready.add(lane, of, partition, head) {
            self.queue.call(lane, of);
        }
    }

    fn put_back(&mut self, ready_lane: &ReadyLane) {
        for (of, head) in &ready_lane.types {
            self.add(ready_lane.partition, &ready_lane.lane, of, *head);
        }
    }

    /// Handles the answer or departure of a worker. If it was called and work of that type is still ready, calls the next worker.
    fn pass_on(&mut self, called_for: Option<(LaneId, WorkType)>) {
        if let Some((lane, of)) = called_for
            && self.ready.has(&lane, &of)
        {
            self.queue.call(&lane, &of);
        }
    }
}

/// Ready work taken out to be claimed, so that no other worker claims it. Dropping it makes the rest of it ready again. Without
/// [`Self::settle`] that is all of it: the store did not answer, or the caller went away.
pub(crate) struct Offer {
    matchmaker: Arc<Matchmaker>,
    ready_lane: ReadyLane,
    /// The matchmaker's release count when this work was taken.
    releases: u64,
}

impl Offer {
    /// Returns the partition to claim from.
    pub(crate) fn partition(&self) -> u16 {
        self.ready_lane.partition
    }

    /// Returns the position of the lane among the lanes the worker wants.
    pub(crate) fn preference(&self) -> usize {
        self.ready_lane.preference
    }

    /// Returns whether the lane is fair.
    pub(crate) fn is_fair(&self) -> bool {
        self.ready_lane.types.iter().any(|(_, head)| head.is_fair())
    }

    /// Returns the lane's name in indexes.
    pub(crate) fn lane(&self) -> &LaneId {
        &self.ready_lane.lane
    }

    /// Returns whether the work is assigned to the worker it is offered to.
    pub(crate) fn is_assigned(&self) -> bool {
        self.ready_lane.is_assigned()
    }

    /// Settles the offer with the best head left on the partition. The store does not report its type, so every type that was taken
    /// may be left; the next claim finds out.
    pub(crate) fn settle(mut self, next: Option<Head>) {
        match next {
            None => self.ready_lane.types.clear(),
            Some(used) if used.is_fair() => {
                let state = self.matchmaker.state();
                let ReadyLane { lane, types, .. } = &mut self.ready_lane;
                types.iter_mut().for_each(|(_, head)| *head = state.ready.after_turn(lane, *head, used));
            }
            Some(next) => {
                // A claim under quotas does not report the virtual time used. It counts as one turn.
                let state = self.matchmaker.state();
                let ReadyLane { lane, types, .. } = &mut self.ready_lane;
                types.iter_mut().for_each(|(_, head)| match head.is_fair() {
                    true => *head = state.ready.after_turn(lane, *head, Head::fair(step_of(1))),
                    false => *head = next.max(*head),
                });
            }
        }
    }

    /// Holds back the work of a lane at its limit. If held-back work was released since the offer was taken, there may be room for
    /// this work too, and it is ready again.
    pub(crate) fn hold_back(mut self) {
        let matchmaker = self.matchmaker.clone();
        let mut state = matchmaker.state();
        if state.releases != self.releases {
            return;
        }
        let ReadyLane { partition, lane, preference, types } = &mut self.ready_lane;
        let (partition, preference, types) = (*partition, *preference, std::mem::take(types));
        let ready_lane = ReadyLane { partition, lane: lane.clone(), preference, types };
        state.held_back.entry(lane.clone()).or_default().push(ready_lane);
        matchmaker.holding.notify_one();
    }
}

impl Drop for Offer {
    fn drop(&mut self) {
        self.matchmaker.state().put_back(&self.ready_lane);
    }
}

/// A worker's place in the queue. Dropping it gives it up.
pub(crate) struct QueuePlace {
    matchmaker: Arc<Matchmaker>,
    ticket: u64,
    wanted: Arc<WorkFilter>,
    notify: Arc<Notify>,
}

impl QueuePlace {
    /// Takes wanted work from at most `most` partitions. Joins the queue if there is none.
    pub(crate) fn take_or_wait(&self, most: usize) -> Vec<Offer> {
        let mut state = self.matchmaker.state();
        let called_for = state.queue.answer(self.ticket);
        let lanes = state.ready.take(&self.wanted, most);
        if lanes.is_empty() {
            state.queue.join(self.ticket, self.wanted.clone(), self.notify.clone());
        }
        state.pass_on(called_for);
        self.matchmaker.offers(lanes, state.releases)
    }

    /// Waits until this worker is called.
    pub(crate) async fn called(&self) {
        self.notify.notified().await;
    }
}

impl Drop for QueuePlace {
    fn drop(&mut self) {
        let mut state = self.matchmaker.state();
        let called_for = state.queue.answer(self.ticket);
        state.pass_on(called_for);
    }
}

#[cfg(test)]
mod tests {
    use ff_core::types::{Kind, Priority, RequirementClass, TimestampMs};
    use futures_util::FutureExt;

    use super::*;

    fn lane() -> LaneId {
        LaneId::default_name()
    }

    fn kind(name: &str) -> WorkType {
        WorkType { kind: Kind::parse(name).unwrap(), class: RequirementClass::PLAIN }
    }

    fn head(created: i64) -> Head {
        Head::new(Priority::default(), TimestampMs(created))
    }

    /// Returns the class of work assigned to the test's worker.
    fn own() -> RequirementClass {
        RequirementClass::parse(",,w-1").unwrap()
    }

    fn worker(matchmaker: &Arc<Matchmaker>, kinds: &[&str]) -> QueuePlace {
        let kinds = kinds.iter().map(|name| kind(name).kind).collect();
        matchmaker.place(Arc::new(WorkFilter { lanes: vec![lane()], kinds, capabilities: [].into(), own: own() }))
    }

    fn idle(matchmaker: &Arc<Matchmaker>, kinds: &[&str]) -> QueuePlace {
        let place = worker(matchmaker, kinds);
        assert!(place.take_or_wait(1).is_empty());
        place
    }

    fn was_called(place: &QueuePlace) -> bool {
        place.called().now_or_never().is_some()
    }

    #[test]
    fn ready_work_of_a_partition_calls_one_worker() {
        let matchmaker = Arc::default();
        let (first, second) = (idle(&matchmaker, &[]), idle(&matchmaker, &[]));
        matchmaker.add(1, &lane(), &kind("x"), head(1));
        matchmaker.add(1, &lane(), &kind("x"), head(2));
        assert!(was_called(&first) && !was_called(&second));
        assert_eq!(first.take_or_wait(1).len(), 1);
    }

    #[test]
    fn a_worker_that_goes_after_it_was_called_sends_the_next() {
        let matchmaker = Arc::default();
        let (first, second) = (idle(&matchmaker, &[]), idle(&matchmaker, &[]));
        matchmaker.add(1, &lane(), &kind("x"), head(1));
        drop(first);
        assert!(was_called(&second));
    }

    #[test]
    fn a_worker_that_takes_something_else_sends_the_next() {
        let matchmaker = Arc::default();
        let (first, second) = (idle(&matchmaker, &[]), idle(&matchmaker, &["x"]));
        matchmaker.add(1, &lane(), &kind("x"), head(5));
        matchmaker.add(2, &lane(), &kind("y"), head(1));
        assert!(was_called(&first));
        let offers = first.take_or_wait(1);
        assert_eq!(offers[0].partition(), 2, "the better head");
        assert!(was_called(&second));
        assert_eq!(second.take_or_wait(1)[0].partition(), 1);
    }

    #[test]
    fn only_remaining_work_calls_the_next_worker() {
        let matchmaker = Arc::default();
        let (first, second) = (idle(&matchmaker, &[]), idle(&matchmaker, &[]));
        matchmaker.add(1, &lane(), &kind("x"), head(1));
        assert!(was_called(&first));
        first.take_or_wait(1).pop().unwrap().settle(None);
        assert!(!was_called(&second));
        matchmaker.add(1, &lane(), &kind("x"), head(1));
        assert!(was_called(&second));
        let offer = second.take_or_wait(1).pop().unwrap();
        assert!(first.take_or_wait(1).is_empty());
        offer.settle(Some(head(2)));
        assert!(was_called(&first));
        assert_eq!(first.take_or_wait(1)[0].ready_lane.types, [(kind("x"), head(2))]);
    }

    #[test]
    fn a_dropped_offer_makes_its_work_ready_again() {
        let matchmaker = Arc::default();
        let (first, second) = (idle(&matchmaker, &[]), idle(&matchmaker, &[]));
        matchmaker.add(1, &lane(), &kind("x"), head(1));
        drop(first.take_or_wait(1));
        assert!(was_called(&second));
        assert_eq!(second.take_or_wait(1)[0].ready_lane.types, [(kind("x"), head(1))]);
    }

    #[test]
    fn work_held_back_by_a_limit_is_ready_again_when_its_lane_may_have_room() {
        let matchmaker = Arc::default();
        let (first, second) = (idle(&matchmaker, &[]), idle(&matchmaker, &[]));
        matchmaker.add(1, &lane(), &kind("x"), head(1));
        first.take_or_wait(1).pop().unwrap().hold_back();
        assert!(first.take_or_wait(1).is_empty());
        assert_eq!(matchmaker.limited(), [lane()]);
        matchmaker.release(&lane());
        assert!(was_called(&second) || was_called(&first));
        assert_eq!(second.take_or_wait(1)[0].ready_lane.types, [(kind("x"), head(1))]);
        assert_eq!(matchmaker.limited(), []);
    }

    #[test]
    fn work_added_during_a_claim_stays_ready_after_its_answer() {
        let matchmaker: Arc<Matchmaker> = Arc::default();
        matchmaker.add(1, &lane(), &kind("x"), head(1));
        let offer = worker(&matchmaker, &[]).take_or_wait(1).pop().unwrap();
        matchmaker.add(1, &lane(), &kind("x"), head(2));
        offer.settle(None);
        assert_eq!(worker(&matchmaker, &[]).take_or_wait(1).len(), 1);
    }
}
