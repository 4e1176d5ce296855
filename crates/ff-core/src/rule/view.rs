//! Read access for rules. A rule that needs a record its executor has not loaded gets a miss; the executor loads the
//! record and runs the rule again. Rules are pure, so running one twice is harmless.

use crate::api_key::ApiKey;
use crate::budget::UsageReportEntry;
use crate::engine_error::Refusal;
use crate::event::Feed;
use crate::execution::Execution;
use crate::fairness::{Turn, TurnName, TurnsQuery};
use crate::flow::{Edge, Flow, FlowKeyEntry, Group};
use crate::lane::Lane;
use crate::payload::Payload;
use crate::quota::{QuotaRow, QuotaRowName, QuotaSet};
use crate::rule::change::KeyEntry;
use crate::schedule::{Schedule, ScheduleRef};
use crate::signal::SignalKeyEntry;
use crate::singleton::KeyQueue;
use crate::step::{Step, StepHead, StepRef};
use crate::stream::StreamRecord;
use crate::suspension::{SuspendKeyEntry, Waitpoint};
use crate::token::KeyRing;
use crate::types::{
    AttemptIndex, EdgeId, ExecutionId, FairKey, FlowId, IdempotencyKey, KeyId, Kind, LaneId, Namespace, QueueName,
    QuotaPolicyId, RequirementClass, TimestampMs, WaitpointId, WorkerInstanceId,
};
use crate::worker::Worker;

/// The records that a rule can read, as of the time when it runs.
pub trait View {
    fn execution(&self, id: &ExecutionId) -> Result<Option<&Execution>, Miss>;

    fn key(&self, namespace: &Namespace, key: &IdempotencyKey) -> Result<Option<&KeyEntry>, Miss>;

    /// Returns the live executions of a singleton or debounce key on their partition.
    fn key_queue(&self, partition: u16, of: &Namespace, name: &QueueName) -> Result<Option<&KeyQueue>, Miss>;

    /// Returns a waitpoint of an execution; `None` if it belongs to another execution.
    fn waitpoint(&self, execution: &ExecutionId, waitpoint: &WaitpointId) -> Result<Option<&Waitpoint>, Miss>;

    /// Returns the first reply to a suspension of this execution under an idempotency key.
    fn suspend_key(&self, execution: &ExecutionId, key: &IdempotencyKey) -> Result<Option<&SuspendKeyEntry>, Miss>;

    /// Returns the first signal that a waitpoint accepted under an idempotency key.
    fn signal_key(
        &self,
        execution: &ExecutionId,
        waitpoint: &WaitpointId,
        key: &IdempotencyKey,
    ) -> Result<Option<&SignalKeyEntry>, Miss>;

    /// Returns the stream of an attempt; `None` before its first frame.
    fn stream(&self, execution: &ExecutionId, attempt: AttemptIndex) -> Result<Option<&StreamRecord>, Miss>;

    /// Returns a recorded step, with its result.
    fn step(&self, execution: &ExecutionId, step: &StepRef) -> Result<Option<&Step>, Miss>;

    /// Returns the heads of all recorded steps of an execution, in the order of their numbers.
    fn step_heads(&self, execution: &ExecutionId) -> Result<Vec<StepHead>, Miss>;

    /// Returns the payload of an execution. Only a fork reads it.
    fn payload(&self, execution: &ExecutionId) -> Result<Option<&Payload>, Miss>;

    /// Returns the secrets of a partition; `None` if it never received any.
    fn ring(&self, partition: u16) -> Result<Option<&KeyRing>, Miss>;

    /// Returns a flow, visible or not.
    fn flow(&self, id: &FlowId) -> Result<Option<&Flow>, Miss>;

    fn edge(&self, flow: &FlowId, edge: &EdgeId) -> Result<Option<&Edge>, Miss>;

    /// Returns the group of edges into an execution; `None` if there never was one.
    fn group(&self, downstream: &ExecutionId) -> Result<Option<&Group>, Miss>;

    /// Returns the first reply to a change of a flow's graph under an idempotency key.
    fn flow_key(&self, flow: &FlowId, key: &IdempotencyKey) -> Result<Option<&FlowKeyEntry>, Miss>;

    /// Returns the next edges out of or into a member, in the order of their ids.
    fn edges(&self, query: &EdgesOf) -> Result<Vec<EdgeId>, Miss>;

    /// Returns the next members of a flow, in the order of their ids.
    fn members(&self, query: &MembersOf) -> Result<Vec<ExecutionId>, Miss>;

    /// Returns the flows of a partition that have due times of their own, earliest first, then by id.
    fn due_flows(&self, query: &DueQuery) -> Result<Vec<(TimestampMs, FlowId)>, Miss>;

    /// Returns a lane as configured on a partition; `None` if it was never configured. `lane` is the lane's name in indexes.
    fn lane(&self, partition: u16, lane: &LaneId) -> Result<Option<&Lane>, Miss>;

    /// Returns the number of executions of a lane that are held on a partition.
    fn active(&self, partition: u16, lane: &LaneId) -> Result<u32, Miss>;

    /// Returns the turn of a key of a fair lane; `None` when the key has no waiting work and is not remembered.
    fn turn(&self, name: &TurnName) -> Result<Option<&Turn>, Miss>;

    /// Returns the keys of a fair lane with the lowest turns, and those turns, ordered by turn and then by key.
    fn turns(&self, query: &TurnsQuery) -> Result<Vec<(u64, FairKey)>, Miss>;

    /// Returns the quota policies of a namespace, as a partition knows them; `None` if the partition never had any.
    fn quotas(&self, partition: u16, namespace: &Namespace) -> Result<Option<&QuotaSet>, Miss>;

    /// Returns a row at the home of a quota policy.
    fn quota_row(&self, policy: &QuotaPolicyId, name: &QuotaRowName) -> Result<Option<&QuotaRow>, Miss>;

    /// Returns a schedule, from its home.
    fn schedule(&self, partition: u16, schedule: &ScheduleRef) -> Result<Option<&Schedule>, Miss>;
    /// Returns an accepted usage report; `None` if none of this id was accepted.
    fn usage_report(&self, execution: &ExecutionId, id: &IdempotencyKey) -> Result<Option<&UsageReportEntry>, Miss>;

    fn worker(&self, instance: &WorkerInstanceId) -> Result<Option<&Worker>, Miss>;

    fn api_key(&self, id: &KeyId) -> Result<Option<&ApiKey>, Miss>;

    /// Returns the time range in which a partition records events; `None` if its events were never read.
    fn feed(&self, partition: u16) -> Result<Option<&Feed>, Miss>;

    /// Returns the first waiting executions that match a query, in the order in which they are to be claimed.
    fn eligible(&self, query: &EligibleQuery) -> Result<Vec<ExecutionId>, Miss>;

    /// Returns the executions of a partition whose next timer is due first, with its time, earliest first, then by id.
    fn due(&self, query: &DueQuery) -> Result<Vec<(TimestampMs, ExecutionId)>, Miss>;
}

/// A query for waiting executions of one lane on one partition, of some kinds (all
/// when none is named) and requirement classes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EligibleQuery {
    pub partition: u16,
    /// The lane's name in indexes.
    pub lane: LaneId,
    pub kinds: Vec<Kind>,
    /// At least one class, without duplicates.
    pub classes: Vec<RequirementClass>,
    /// The key of the queue in a fair lane; empty in other lanes.
    pub key: FairKey,
    /// The wait that weighs as much as one step of priority; `None` when priority alone decides.
    pub ageing_ms: Option<u64>,
    pub limit: usize,
}

/// A query for the executions of a partition that are due first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DueQuery {
    pub partition: u16,
    pub limit: usize,
}

/// A query for edges out of or into a member, after a given edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EdgesOf {
    pub flow: FlowId,
    pub member: ExecutionId,
    pub side: Side,
    pub after: Option<EdgeId>,
    pub limit: usize,
}

/// The end of an edge that a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The upstream: the edges leave it.
    Outgoing,
    /// The downstream: the edges enter it.
    Incoming,
}

/// A query for members of a flow, after a given member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MembersOf {
    pub flow: FlowId,
    pub after: Option<ExecutionId>,
    pub limit: usize,
}

/// A record or query that an executor must load before the rule can decide.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Miss {
    Execution(ExecutionId),
    Key(Namespace, IdempotencyKey),
    KeyQueue(u16, Namespace, QueueName),
    Waitpoint(ExecutionId, WaitpointId),
    SuspendKey(ExecutionId, IdempotencyKey),
    SignalKey(ExecutionId, WaitpointId, IdempotencyKey),
    Stream(ExecutionId, AttemptIndex),
    Step(ExecutionId, StepRef),
    StepHeads(ExecutionId),
    Payload(ExecutionId),
    Ring(u16),
    Flow(FlowId),
    Edge(FlowId, EdgeId),
    Group(ExecutionId),
    FlowKey(FlowId, IdempotencyKey),
    Edges(EdgesOf),
    Members(MembersOf),
    DueFlows(DueQuery),
    Lane(u16, LaneId),
    Active(u16, LaneId),
    Turn(TurnName),
    Turns(TurnsQuery),
    Quotas(u16, Namespace),
    QuotaRow(QuotaPolicyId, QuotaRowName),
    Schedule(u16, ScheduleRef),
    UsageReport(ExecutionId, IdempotencyKey),
    Worker(WorkerInstanceId),
    ApiKey(KeyId),
    Feed(u16),
    Eligible(EligibleQuery),
    Due(DueQuery),
    /// Several misses at once. A rule that reads many records requires all of them before it reads the first.
    All(Vec<Miss>),
}

/// Requires the results of several reads, so that all missing records are reported in one miss.
pub(crate) fn require_all<T>(looks: impl IntoIterator<Item = Result<T, Miss>>) -> Result<(), Miss> {
    let missing: Vec<_> = looks.into_iter().filter_map(Result::err).collect();
    if missing.is_empty() { Ok(()) } else { Err(Miss::All(missing)) }
}

/// The reason why a rule did not decide.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    Miss(Miss),
    Refused(Refusal),
}

impl From<Miss> for Stop {
    fn from(miss: Miss) -> Self {
        Self::Miss(miss)
    }
}

impl<R: Into<Refusal>> From<R> for Stop {
    fn from(refusal: R) -> Self {
        Self::Refused(refusal.into())
    }
}
