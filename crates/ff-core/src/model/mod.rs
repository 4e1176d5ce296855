//! The whole system in memory: the rules applied to plain maps. The memory backend runs it; the tests of every other store
//! compare against it.

mod events;
mod flows;
mod lanes;
mod queue;
mod quotas;
mod schedules;
mod steps;
mod streams;
mod suspension;
mod turns;
mod view;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use self::events::Events;
use self::flows::Flows;
use self::quotas::QuotaRecords;
use self::steps::Steps;
use self::streams::Streams;
use self::suspension::SuspensionRecords;
use self::turns::Turns;
use crate::api_key::ApiKey;
use crate::backend::hint::{
    Hint, delivered, flow_hints, hints, lane_hints, quota_hints, schedule_hints, streamed, worker_hints,
};
use crate::backend::snapshot::Snapshot;
use crate::engine_error::Refusal;
use crate::execution::contracts::{Cursor, ListArgs};
use crate::execution::{Attempt, Execution};
use crate::flow::{Edge, Flow, FlowEvent};
use crate::lane::Lane;
use crate::lease::LeaseEvent;
use crate::limits;
use crate::operation::{Conditions, Decision, Operation, Reply};
use crate::payload::Payload;
use crate::rule::change::{Change, KeyEntry, Write};
use crate::rule::index::{Index, Score, entries};
use crate::rule::view::Stop;
use crate::schedule::{Schedule, ScheduleRef};
use crate::signal::Signal;
use crate::singleton::KeyQueue;
use crate::suspension::Waitpoint;
use crate::types::{
    EdgeId, ExecutionId, FlowId, IdempotencyKey, KeyId, LaneId, Namespace, QueueName, SignalId, TimestampMs,
    WaitpointId, WorkerInstanceId,
};
use crate::worker::{Worker, WorkerChange};

/// The state of the whole system.
#[derive(Clone, Debug, Default)]
pub struct Model {
    executions: BTreeMap<ExecutionId, Execution>,
    attempts: BTreeMap<ExecutionId, Vec<Attempt>>,
    leases: BTreeMap<ExecutionId, Vec<LeaseEvent>>,
    payloads: BTreeMap<ExecutionId, Payload>,
    results: BTreeMap<ExecutionId, Payload>,
    keys: BTreeMap<(Namespace, IdempotencyKey), KeyEntry>,
    key_queues: BTreeMap<(Namespace, QueueName), KeyQueue>,
    indexes: BTreeMap<(u16, Index), BTreeSet<(Score, ExecutionId)>>,
    due: BTreeMap<u16, BTreeSet<(TimestampMs, ExecutionId)>>,
    waiting: SuspensionRecords,
    streams: Streams,
    steps: Steps,
    flows: Flows,
    /// Lanes, as stored on each partition.
    lanes: BTreeMap<(u16, LaneId), Lane>,
    workers: BTreeMap<WorkerInstanceId, Worker>,
    api_keys: BTreeMap<KeyId, ApiKey>,
    quotas: QuotaRecords,
    schedules: BTreeMap<ScheduleRef, Schedule>,
    events: Events,
    turns: Turns,
}

impl Model {
    /// Decides an operation and applies the decision.
    pub fn execute(&mut self, operation: &Operation, at: &Conditions) -> Result<(Reply, Vec<Hint>), Refusal> {
        let decision = match operation.decide(self, at) {
            Ok(decision) => decision,
            Err(Stop::Refused(refusal)) => return Err(refusal),
            Err(Stop::Miss(miss)) => unreachable!("everything is in memory, yet {miss:?} was missed"),
        };
        let mut all_hints = Vec::new();
        for change in &decision.changes {
            all_hints.extend(hints(self.executions.get(&change.after.id), &change.after));
            all_hints.extend(delivered(change));
            all_hints.extend(streamed(change));
            all_hints.extend(
                self.events
                    .records_event(change)
                    .then(|| Hint::EventRecorded { partition: change.after.id.partition() }),
            );
        }
        for change in &decision.flows {
            all_hints.extend(flow_hints(self.flows.flows.get(&change.after.id), change));
        }
        for change in &decision.workers {
            if let WorkerChange::Put(worker) = change {
                all_hints.extend(worker_hints(self.workers.get(&worker.worker_instance_id), worker));
            }
        }
        all_hints.extend(quota_hints(&decision.quotas));
        all_hints.extend(decision.schedules.iter().filter_map(schedule_hints));
        let lanes: Vec<_> = decision.lanes.iter().map(|(partition, lane)| (*partition, lane.key())).collect();
        let known: Vec<_> = lanes.iter().map(|lane| self.lanes.get(lane).cloned()).collect();
        let reply = self.write(decision);
        for (lane, before) in lanes.iter().zip(known) {
            if let Some(after) = self.lanes.get(lane) {
                all_hints.extend(lane_hints(lane.0, before.as_ref(), after, self.ready(lane.0)));
            }
        }
        Ok((reply, all_hints))
    }

    /// Writes a decision, and returns its reply.
    pub fn write(&mut self, decision: Decision) -> Reply {
        for change in decision.changes {
            self.events.record(&change);
            self.apply(change);
        }
        decision.forgotten.iter().for_each(|id| self.forget(id));
        for change in decision.flows {
            change.forgotten.iter().for_each(|id| self.forget(id));
            self.flows.apply(change);
        }
        for change in decision.workers {
            match change {
                WorkerChange::Put(worker) => drop(self.workers.insert(worker.worker_instance_id.clone(), worker)),
                WorkerChange::Remove { worker_instance_id, .. } => drop(self.workers.remove(&worker_instance_id)),
            }
        }
        for key in decision.api_keys {
            self.api_keys.insert(key.info.key_id.clone(), key);
        }
        if let Some((partition, feed)) = decision.feed {
            self.events.follow(partition, feed);
        }
        for (partition, lane) in decision.lanes {
            self.lanes.insert((partition, lane.key()), lane);
        }
        if let Some((partition, ring)) = decision.ring {
            self.set_ring(partition, ring);
        }
        self.quotas.write(decision.quotas);
        self.write_schedules(decision.schedules);
        self.write_key_queues(decision.key_queues);
        decision.turns.into_iter().for_each(|write| self.turns.write(write));
        decision.reply
    }

    /// Writes a change, and moves the execution between the indexes it leaves and enters.
    pub fn apply(&mut self, mut change: Change) {
        let id = change.after.id;
        self.waiting.apply(self.executions.get(&id), &mut change);
        if let Some(write) = change.stream.take() {
            self.streams.apply(id, *write);
        }
        if let Some(write) = change.steps.take() {
            self.steps.apply(id, *write);
        }
        self.quotas.remember_report(change.usage_report.take());
        if let Some(before) = self.executions.remove(&id) {
            self.leave_indexes(&before);
        }
        for (index, score) in entries(&change.after) {
            self.indexes.entry((id.partition(), index)).or_default().insert((score, id));
        }
        if let Some((at, _)) = change.after.next_due() {
            self.due.entry(id.partition()).or_default().insert((at, id));
        }
        if !change.attempts.is_empty() {
            self.attempts.entry(id).or_default().extend(change.attempts);
        }
        if !change.leases.is_empty() {
            let history = self.leases.entry(id).or_default();
            history.extend(change.leases);
            let surplus = history.len().saturating_sub(limits::LEASE_HISTORY);
            history.drain(..surplus);
        }
        if let Write::ResultOf(other) = &change.payload {
            change.payload = self.results.get(other).cloned().map_or(Write::Keep, Write::Put);
        }
        write(&mut self.payloads, id, change.payload);
        write(&mut self.results, id, change.result);
        if let Some(membership) = &change.after.membership {
            self.flows.add_member(membership.flow_id, id);
        }
        if let Some(key) = change.key {
            self.keys.insert((key.namespace.clone(), key.key.clone()), key);
        }
        self.executions.insert(id, change.after);
    }

    /// Removes an execution and all its records.
    fn forget(&mut self, id: &ExecutionId) {
        let Some(execution) = self.executions.remove(id) else { return };
        self.leave_indexes(&execution);
        self.attempts.remove(id);
        self.quotas.forget_reports(id);
        self.leases.remove(id);
        self.payloads.remove(id);
        self.results.remove(id);
        self.waiting.forget(&execution);
        if execution.streamed {
            self.streams.forget(id);
        }
        self.steps.forget(id);
        if let Some(key) = &execution.idempotency_key {
            let key = (execution.namespace.clone(), key.clone());
            if self.keys.get(&key).is_some_and(|entry| entry.execution_id == *id) {
                self.keys.remove(&key);
            }
        }
    }

    fn leave_indexes(&mut self, before: &Execution) {
        let (id, partition) = (before.id, before.id.partition());
        for (index, score) in entries(before) {
            if let Some(members) = self.indexes.get_mut(&(partition, index.clone())) {
                members.remove(&(score, id));
                if members.is_empty() {
                    self.indexes.remove(&(partition, index));
                }
            }
        }
        if let (Some((at, _)), Some(due)) = (before.next_due(), self.due.get_mut(&partition)) {
            due.remove(&(at, id));
        }
    }

    /// Returns every execution, by id.
    pub fn executions(&self) -> impl Iterator<Item = &Execution> {
        self.executions.values()
    }

    pub fn find(&self, id: &ExecutionId) -> Option<&Execution> {
        self.executions.get(id)
    }

    pub fn payload(&self, id: &ExecutionId) -> Option<&Payload> {
        self.payloads.get(id)
    }

    pub fn result(&self, id: &ExecutionId) -> Option<&Payload> {
        self.results.get(id)
    }

    /// Returns the archived attempts, oldest first.
    pub fn attempts(&self, id: &ExecutionId) -> &[Attempt] {
        self.attempts.get(id).map_or(&[], Vec::as_slice)
    }

    /// Returns the lease history, oldest first.
    pub fn leases(&self, id: &ExecutionId) -> &[LeaseEvent] {
        self.leases.get(id).map_or(&[], Vec::as_slice)
    }

    /// Returns every waitpoint that an execution ever had, by id.
    pub fn waitpoints(&self, id: &ExecutionId) -> impl Iterator<Item = &Waitpoint> {
        let id = *id;
        let first = (id, WaitpointId::from_uuid(uuid::Uuid::nil()));
        let own = self.waiting.waitpoints.range(first..).take_while(move |((of, _), _)| *of == id);
        own.map(|(_, waitpoint)| waitpoint)
    }

    /// Returns the signals of an execution, in the order in which they were received.
    pub fn signals(&self, id: &ExecutionId) -> &[Signal] {
        self.waiting.signals.get(id).map_or(&[], Vec::as_slice)
    }

    pub fn signal_payload(&self, id: &ExecutionId, signal: &SignalId) -> Option<&Payload> {
        self.waiting.payloads.get(&(*id, *signal))
    }

    /// Returns every API key ever created, by id.
    pub fn api_keys(&self) -> &BTreeMap<KeyId, ApiKey> {
        &self.api_keys
    }

    /// Returns every known worker instance, gone or not, by id.
    pub fn workers(&self) -> impl ExactSizeIterator<Item = &Worker> {
        self.workers.values()
    }

    /// Returns every visible flow, by id.
    pub fn flows(&self) -> impl Iterator<Item = &Flow> {
        self.flows.flows.values().filter(|flow| flow.is_visible())
    }

    /// Returns a flow, if it is visible.
    pub fn find_flow(&self, id: &FlowId) -> Option<&Flow> {
        self.flows.flows.get(id).filter(|flow| flow.is_visible())
    }

    /// Returns the edges of a flow after a given one, in the order of their ids.
    pub fn edges_after(&self, flow: &FlowId, after: Option<EdgeId>) -> impl Iterator<Item = &Edge> {
        let (flow, first) = (*flow, after.unwrap_or(EdgeId::from_uuid(uuid::Uuid::nil())));
        let own = self.flows.edges.range((flow, first)..).take_while(move |((of, _), _)| *of == flow);
        own.map(|(_, edge)| edge).filter(move |edge| Some(edge.id) != after)
    }

    /// Returns the retained events of a flow, oldest first.
    pub fn flow_events(&self, flow: &FlowId) -> impl Iterator<Item = &FlowEvent> {
        self.flows.events.get(flow).into_iter().flatten()
    }

    /// Returns the executions that a listing can show, over all partitions, newest first. Only the index and the range
    /// of the listing are applied, not its other filters.
    pub fn newest<'m>(&'m self, args: &ListArgs) -> impl Iterator<Item = &'m Execution> + use<'m> {
        let index = args.filter.index();
        let of_index = self.indexes.iter().filter(|((_, other), _)| *other == index);
        let places = of_index
            .flat_map(|(_, members)| members)
            .map(|(score, id)| Cursor { created_at: TimestampMs(*score), execution_id: *id });
        let mut places: Vec<_> = places.filter(|place| args.reaches(*place)).collect();
        places.sort_unstable_by_key(|place| Reverse(*place));
        places.into_iter().filter_map(|place| self.executions.get(&place.execution_id))
    }

    /// Returns when the next execution or flow of a partition is due.
    pub fn next_due(&self, partition: u16) -> Option<TimestampMs> {
        let execution = self.due.get(&partition).and_then(|due| due.first()).map(|(at, _)| *at);
        execution.into_iter().chain(self.flows.due(partition).next().map(|(at, _)| at)).min()
    }

    /// Returns all records of a partition.
    pub fn snapshot(&self, partition: u16) -> Snapshot {
        let mut snapshot = Snapshot {
            executions: here(&self.executions, partition),
            attempts: here(&self.attempts, partition),
            leases: here(&self.leases, partition),
            payloads: here(&self.payloads, partition),
            results: here(&self.results, partition),
            ..Snapshot::default()
        };
        self.snapshot_lanes(partition, &mut snapshot);
        self.events.snapshot(partition, &mut snapshot);
        self.waiting.snapshot(partition, &mut snapshot);
        self.streams.snapshot(partition, &mut snapshot);
        self.steps.snapshot(partition, &mut snapshot);
        self.flows.snapshot(partition, &mut snapshot);
        for ((namespace, key), entry) in &self.keys {
            if entry.execution_id.partition() == partition {
                snapshot.keys.insert((namespace.to_string(), key.to_string()), entry.clone());
            }
        }
        let queues = self.key_queues.iter().filter(|(_, queue)| queue.partition == partition);
        snapshot.key_queues = queues.map(|(name, queue)| (name.clone(), queue.executions.clone())).collect();
        for ((_, index), members) in self.indexes.iter().filter(|((of, _), _)| *of == partition) {
            let members = members.iter().map(|(score, id)| (*id, *score)).collect();
            snapshot.indexes.insert(index.clone(), members);
        }
        snapshot
    }
}

fn write(bytes: &mut BTreeMap<ExecutionId, Payload>, id: ExecutionId, write: Write<Payload>) {
    match write {
        // `apply` has already replaced `ResultOf` with the result of the other execution.
        Write::Keep | Write::ResultOf(_) => {}
        Write::Put(payload) => drop(bytes.insert(id, payload)),
        Write::Remove => drop(bytes.remove(&id)),
    }
}

/// Returns the entries of the executions on a partition.
fn here<T: Clone>(map: &BTreeMap<ExecutionId, T>, partition: u16) -> BTreeMap<ExecutionId, T> {
    let first = ExecutionId::new(partition, uuid::Uuid::nil());
    map.range(first..).take_while(|(id, _)| id.partition() == partition).map(|(id, v)| (*id, v.clone())).collect()
}

/// Returns the entries that are on a partition according to their keys.
fn part<K: Clone + Ord, V: Clone>(map: &BTreeMap<K, V>, is_here: impl Fn(&K) -> bool) -> BTreeMap<K, V> {
    map.iter().filter(|(key, _)| is_here(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
}
