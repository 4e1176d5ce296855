//! Hints: messages that a partition may have work. They save polling and are never the source of truth. Some stores may
//! lose them.

use std::pin::Pin;

use futures_core::Stream;
use uuid::Uuid;

use crate::backend::ReadyLane;
use crate::execution::{AttemptSlot, Execution, Phase};
use crate::flow::{Flow, FlowChange};
use crate::lane::Lane;
use crate::lease::contracts::{Head, LeaseLost};
use crate::quota::{QuotaRowName, QuotaSlot, QuotaWrites};
use crate::rule::change::Change;
use crate::schedule::ScheduleWrite;
use crate::types::{
    EngineId, ExecutionId, FlowId, Kind, LaneId, LeaseEpoch, QuotaPolicyId, RequirementClass, TimestampMs,
    WorkerInstanceId,
};
use crate::worker::Worker;

/// A message that a waiting part of the system needs at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// An execution waits for a worker that meets its requirements.
    Ready { partition: u16, lane: LaneId, kind: Kind, class: RequirementClass, head: Head },
    /// A partition has work that is due at this time.
    Due { partition: u16, at: TimestampMs },
    /// An execution of a lane with a concurrency limit was released on a partition. Another one may start, on any partition.
    LaneFreed { partition: u16, lane: LaneId },
    /// A lease that had slots of quota policies has ended. `shared` is true when every engine of the store receives
    /// this hint: then only the engine that owns the partition releases the slots.
    SlotsFreed { execution_id: ExecutionId, epoch: LeaseEpoch, slots: Vec<QuotaSlot>, shared: bool },
    /// A schedule must be processed at this time.
    TickDue { partition: u16, at: TimestampMs },
    /// A quota policy was redefined or deleted.
    QuotaDefined { policy_id: QuotaPolicyId },
    /// A worker lost its lease.
    LeaseLost { worker_instance_id: WorkerInstanceId, lost: LeaseLost },
    /// A partition's feed of delivered signals has grown.
    SignalDelivered { partition: u16 },
    /// A partition's feed of events has grown.
    EventRecorded { partition: u16 },
    /// The output of an execution has grown, or an attempt of an execution with output has started or ended.
    StreamMoved { execution_id: ExecutionId },
    /// An execution ended.
    Ended { execution_id: ExecutionId },
    /// A flow has a new event. Stores may omit flows without a follower.
    FlowMoved { flow_id: FlowId },
    /// A flow ended.
    FlowEnded { flow_id: FlowId },
    /// A worker instance with capabilities registered, or changed its lanes, kinds or capabilities.
    WorkersChanged,
    /// An engine runs on the store. When an engine is late with due work or stops,
    /// `keeps_up` is false and other engines take over.
    EngineSeen { engine_id: EngineId, keeps_up: bool },
    /// The marker of a flush: all hints that one server sent before it have arrived.
    FlushMarker { nonce: Uuid },
    /// Hints were lost. All partitions must be checked.
    Missed,
}

/// A stream of hints.
pub type Hints = Pin<Box<dyn Stream<Item = Hint> + Send>>;

/// Returns the hints of a change of an execution.
pub fn hints(before: Option<&Execution>, after: &Execution) -> Vec<Hint> {
    let partition = after.id.partition();
    let mut hints = Vec::new();
    let was = before.map(|execution| &execution.phase);
    let better = before.is_some_and(|before| before.priority < after.priority);
    let queued_before = before.and_then(Execution::queue_class);
    if let Some(class) = after.queue_class()
        && (queued_before.as_ref() != Some(&class) || better)
    {
        hints.push(Hint::Ready {
            partition,
            lane: after.lane_key(),
            kind: after.kind.clone(),
            class,
            head: Head::of(after),
        });
    }
    let (was_due, due) = (before.and_then(Execution::next_due), after.next_due());
    if let Some((at, _)) = due
        && was_due.is_none_or(|(earlier, _)| at < earlier)
    {
        hints.push(Hint::Due { partition, at });
    }
    if let Some(Phase::Running { lease }) = was {
        if let Some(last) = after.last_lease.as_ref().filter(|last| last.fence == lease.fence && last.ended.is_loss()) {
            hints.push(Hint::LeaseLost {
                worker_instance_id: lease.holder.worker_instance_id.clone(),
                lost: LeaseLost { execution_id: after.id, fence: last.fence, ended: last.ended },
            });
        }
        if lease.limited && !matches!(after.phase, Phase::Running { .. }) {
            hints.push(Hint::LaneFreed { partition, lane: after.lane_key() });
        }
        let is_same = matches!(&after.phase, Phase::Running { lease: now } if now.fence == lease.fence);
        if !lease.slots.is_empty() && !is_same {
            let (epoch, slots) = (lease.fence.lease_epoch, lease.slots.clone());
            hints.push(Hint::SlotsFreed { execution_id: after.id, epoch, slots, shared: false });
        }
    }
    let stage = |of: &Execution| (of.attempts_made, matches!(of.attempt, AttemptSlot::Open(_)), of.is_finished());
    if before.is_some_and(|before| before.streamed && stage(before) != stage(after)) {
        hints.push(Hint::StreamMoved { execution_id: after.id });
    }
    if after.is_finished() && !before.is_some_and(Execution::is_finished) {
        hints.push(Hint::Ended { execution_id: after.id });
    }
    hints
}

/// Returns the hints of a change of a lane on a partition: waiting executions that could not be claimed before.
pub fn lane_hints(
    partition: u16,
    before: Option<&Lane>,
    after: &Lane,
    ready: impl IntoIterator<Item = ReadyLane>,
) -> Vec<Hint> {
    let paused = before.is_some_and(|before| !before.hands_out());
    let limit = |lane: &Lane| lane.settings.concurrency;
    let opened = after.hands_out() && (paused || before.and_then(limit) != limit(after));
    let key = after.key();
    let waiting = ready.into_iter().filter(|ready| opened && ready.lane == key);
    waiting.map(|ready| ready.hint(partition)).collect()
}

/// Returns the hint of a change of a worker instance's record: executions that no worker could run may now be runnable.
pub fn worker_hints(before: Option<&Worker>, after: &Worker) -> Option<Hint> {
    let offers = |worker: &Worker| {
        (worker.registered_at, worker.lanes.clone(), worker.kinds.clone(), worker.capabilities.clone())
    };
    let is_new = || before.map(offers) != Some(offers(after));
    (!after.capabilities.is_empty() && is_new()).then_some(Hint::WorkersChanged)
}

/// Returns the hints of writes to quotas.
pub fn quota_hints(writes: &QuotaWrites) -> impl Iterator<Item = Hint> {
    let defined = writes.rows.iter().filter(|(_, name, _)| *name == QuotaRowName::Policy);
    defined.map(|(policy_id, ..)| Hint::QuotaDefined { policy_id: *policy_id })
}

/// Returns the hint for the time at which a schedule must be processed.
pub fn schedule_hints(write: &ScheduleWrite) -> Option<Hint> {
    write.look_at().map(|at| Hint::TickDue { partition: write.partition, at })
}

/// Returns the hint for readers of the deliveries feed.
pub fn delivered(change: &Change) -> Option<Hint> {
    let partition = change.after.id.partition();
    (!change.signals.is_empty()).then_some(Hint::SignalDelivered { partition })
}

/// Returns the hint for readers of the stream.
pub fn streamed(change: &Change) -> Option<Hint> {
    change.stream.as_ref().map(|_| Hint::StreamMoved { execution_id: change.after.id })
}

/// Returns the hints of a change of a flow.
pub fn flow_hints(before: Option<&Flow>, change: &FlowChange) -> Vec<Hint> {
    let (after, mut hints) = (&change.after, Vec::new());
    let flow_id = after.id;
    if let Some(at) = after.next_due()
        && !change.gone
        && before.and_then(Flow::next_due).is_none_or(|earlier| at < earlier)
    {
        hints.push(Hint::Due { partition: after.partition, at });
    }
    if !change.events.is_empty() {
        hints.push(Hint::FlowMoved { flow_id });
    }
    if after.ended_at.is_some() && before.is_none_or(|before| before.ended_at.is_none()) {
        hints.push(Hint::FlowEnded { flow_id });
    }
    hints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::cancel;
    use crate::execution::contracts::CancelArgs;
    use crate::rule::samples::{at, running, waiting};
    use crate::types::Priority;

    #[test]
    fn a_new_waiting_execution_is_announced_once() {
        assert!(matches!(hints(None, &waiting())[..], [Hint::Ready { .. }]));
        assert_eq!(hints(Some(&waiting()), &waiting()), []);
    }

    #[test]
    fn an_execution_with_a_raised_priority_is_announced_again() {
        let mut raised = waiting();
        raised.priority = Priority::new(5).unwrap();
        assert!(matches!(hints(Some(&waiting()), &raised)[..], [Hint::Ready { .. }]));
        assert_eq!(hints(Some(&raised), &waiting()), [], "one that goes after them is found when it is its turn");
    }

    #[test]
    fn cancelling_a_running_execution_sends_a_lease_lost_hint() {
        let args = CancelArgs { execution_id: running().id, reason: None, requested_by: None };
        let after = cancel(&running(), &args, at(5)).unwrap().after;
        let sent = hints(Some(&running()), &after);
        assert!(matches!(sent[..], [Hint::LeaseLost { .. }, Hint::Ended { .. }]), "{sent:?}");
    }

    #[test]
    fn a_later_due_time_sends_no_hint() {
        assert!(matches!(hints(Some(&waiting()), &running())[..], [Hint::Due { .. }]));
        let mut later = running();
        if let Phase::Running { lease } = &mut later.phase {
            lease.until = at(60_000);
        }
        assert_eq!(hints(Some(&running()), &later), []);
    }

    #[test]
    fn a_stream_hint_is_sent_when_an_attempt_ends_or_begins() {
        let streamed = |execution: Execution| Execution { streamed: true, ..execution };
        let lost = streamed(crate::lease::expire(&running(), at(30_000)).after);
        let is_hinted = |before: &Execution, after: &Execution| {
            hints(Some(before), after).contains(&Hint::StreamMoved { execution_id: after.id })
        };
        assert!(is_hinted(&streamed(running()), &lost));
        assert!(is_hinted(&lost, &Execution { attempts_made: 2, ..streamed(running()) }));
        assert!(!is_hinted(&streamed(running()), &streamed(running())));
        assert!(!is_hinted(&running(), &crate::lease::expire(&running(), at(30_000)).after), "there is none");
    }

    #[test]
    fn a_signal_sends_a_hint_to_readers_of_the_delivery_feed() {
        let mut change = waiting().unchanged();
        assert_eq!(delivered(&change), None);
        let signal = crate::signal::Signal {
            id: crate::types::SignalId::new(),
            execution_id: change.after.id,
            waitpoint_id: None,
            name: crate::types::SignalName::parse("go").unwrap(),
            source: crate::signal::Source::external(),
            idempotency_key: None,
            received_at: at(1),
            effect: crate::signal::Effect::Appended,
            payload_bytes: 0,
        };
        change.signals.push(crate::signal::RecordedSignal { signal, payload: None });
        let partition = change.after.id.partition();
        assert_eq!(delivered(&change), Some(Hint::SignalDelivered { partition }));
    }
}
