//! The contents of a partition as a value: tests compare it between stores, and the doctor examines it.

use std::collections::BTreeMap;

use crate::event::{EventRecord, Feed};
use crate::execution::{Attempt, Execution};
use crate::fairness::{Turn, TurnQueue};
use crate::flow::{Edge, Flow, FlowEvent, FlowIndex, FlowKeyEntry, Group};
use crate::lane::Lane;
use crate::lease::LeaseEvent;
use crate::payload::Payload;
use crate::rule::change::KeyEntry;
use crate::rule::index::{Index, Score};
use crate::signal::{Delivery, Signal, SignalKeyEntry};
use crate::step::Step;
use crate::stream::{StoredFrame, StreamRecord};
use crate::suspension::{SuspendKeyEntry, Waitpoint};
use crate::token::KeyRing;
use crate::types::{
    AttemptIndex, EdgeId, ExecutionId, FairKey, FlowId, IdempotencyKey, LaneId, Namespace, QueueName, SignalId,
    WaitpointId, WorkerInstanceId,
};
use crate::worker::Worker;

/// The contents of one partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    pub executions: BTreeMap<ExecutionId, Execution>,
    /// Archived attempts, in the order of their index.
    pub attempts: BTreeMap<ExecutionId, Vec<Attempt>>,
    /// Lease history, oldest first.
    pub leases: BTreeMap<ExecutionId, Vec<LeaseEvent>>,
    pub payloads: BTreeMap<ExecutionId, Payload>,
    pub results: BTreeMap<ExecutionId, Payload>,
    /// Idempotency keys that are remembered, by namespace and key.
    pub keys: BTreeMap<(String, String), KeyEntry>,
    /// The live executions of singleton and debounce keys, by namespace and queue.
    pub key_queues: BTreeMap<(Namespace, QueueName), Vec<ExecutionId>>,
    /// Every waitpoint an execution ever had.
    pub waitpoints: BTreeMap<(ExecutionId, WaitpointId), Waitpoint>,
    /// The signals of an execution, in the order they were received.
    pub signals: BTreeMap<ExecutionId, Vec<Signal>>,
    pub signal_payloads: BTreeMap<(ExecutionId, SignalId), Payload>,
    /// Idempotency keys of suspensions that are remembered.
    pub suspend_keys: BTreeMap<(ExecutionId, IdempotencyKey), SuspendKeyEntry>,
    /// Idempotency keys of signals that are remembered.
    pub signal_keys: BTreeMap<(ExecutionId, WaitpointId, IdempotencyKey), SignalKeyEntry>,
    /// The index of pending waitpoints, as stored.
    pub pending_waitpoints: BTreeMap<WaitpointId, Score>,
    /// The feed of delivered signals, oldest first.
    pub deliveries: Vec<Delivery>,
    /// Streams, each with the frames that are kept.
    pub streams: BTreeMap<(ExecutionId, AttemptIndex), (StreamRecord, Vec<StoredFrame>)>,
    /// The recorded steps of executions that have any, in the order of their numbers.
    pub steps: BTreeMap<ExecutionId, Vec<Step>>,
    /// All flows, including staged ones.
    pub flows: BTreeMap<FlowId, Flow>,
    pub edges: BTreeMap<(FlowId, EdgeId), Edge>,
    /// The groups of edges into executions.
    pub groups: BTreeMap<ExecutionId, Group>,
    /// Keys of changes to a flow's graph that are remembered.
    pub flow_keys: BTreeMap<(FlowId, IdempotencyKey), FlowKeyEntry>,
    /// The events of a flow, oldest first.
    pub flow_events: BTreeMap<FlowId, Vec<FlowEvent>>,
    /// Every index of flows as stored, not as computed.
    pub flow_indexes: BTreeMap<FlowIndex, BTreeMap<FlowId, Score>>,
    /// Lanes as this partition has them, by their keys.
    pub lanes: BTreeMap<LaneId, Lane>,
    /// The turns of keys of fair lanes. The turn of the empty key holds the clock of its lane.
    pub turns: BTreeMap<(LaneId, FairKey), Turn>,
    /// The lists of keys ordered by turn, as stored.
    pub turn_queues: BTreeMap<(LaneId, TurnQueue), BTreeMap<FairKey, u64>>,
    /// Worker instances whose home is this partition.
    pub workers: BTreeMap<WorkerInstanceId, Worker>,
    /// The time range in which events are recorded; `None` if the partition's events were never read.
    pub feed: Option<Feed>,
    /// The recorded events, oldest first.
    pub events: Vec<EventRecord>,
    /// The secrets of the partition, if it has received any.
    pub ring: Option<KeyRing>,
    /// Every index as stored, not as computed.
    pub indexes: BTreeMap<Index, BTreeMap<ExecutionId, Score>>,
    /// Leftover data of an execution in a store that does not follow from its record. Only the store can find it. A
    /// consistent store has none.
    pub strays: Vec<(ExecutionId, String)>,
}
