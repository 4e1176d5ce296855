//! How rules read. A rule that needs a record its executor has not loaded gets a miss; the executor loads the record and
//! runs the rule again. Rules are pure, so running twice is free.

use crate::api_key::ApiKey;
use crate::budget::UsageReportEntry;
use crate::change::KeyEntry;
use crate::engine_error::Refusal;
use crate::event::Feed;
use crate::execution::Execution;
use crate::fairness::{Turn, TurnName, TurnsQuery};
use crate::flow::{Edge, Flow, FlowKeyEntry, Group};
use crate::lane::Lane;
use crate::payload::Payload;
use crate::quota::{QuotaRow, QuotaRowName, QuotaSet};
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

/// The records a rule may look at, as they stand when it runs.
pub trait View {
    fn execution(&self, id: &ExecutionId) -> Result<Option<&Execution>, Miss>;

    fn key(&self, namespace: &Namespace, key: &IdempotencyKey) -> Result<Option<&KeyEntry>, Miss>;

    /// The live executions of a singleton or debounce key on their partition.
    fn key_queue(&self, partition: u16, of: &Namespace, name: &QueueName) -> Result<Option<&KeyQueue>, Miss>;

    /// A waitpoint of an execution; none when it is another execution's.
    fn waitpoint(&self, execution: &ExecutionId, waitpoint: &WaitpointId) -> Result<Option<&Waitpoint>, Miss>;

    /// The first answer to a suspension of this execution under a key.
    fn suspend_key(&self, execution: &ExecutionId, key: &IdempotencyKey) -> Result<Option<&SuspendKeyEntry>, Miss>;

    /// The first signal a waitpoint took under a key.
    fn signal_key(
        &self,
        execution: &ExecutionId,
        waitpoint: &WaitpointId,
        key: &IdempotencyKey,
    ) -> Result<Option<&SignalKeyEntry>, Miss>;

    /// The stream of an attempt; none before its first frame.
    fn stream(&self, execution: &ExecutionId, attempt: AttemptIndex) -> Result<Option<&StreamRecord>, Miss>;

    /// A recorded step, with its result.
    fn step(&self, execution: &ExecutionId, step: &StepRef) -> Result<Option<&Step>, Miss>;

    /// Every recorded step of an execution, in the order of their numbers.
    fn step_heads(&self, execution: &ExecutionId) -> Result<Vec<StepHead>, Miss>;

    /// The payload of an execution. Only a fork looks at it.
    fn payload(&self, execution: &ExecutionId) -> Result<Option<&Payload>, Miss>;

    /// The secrets of a partition; none when it was never given one.
    fn ring(&self, partition: u16) -> Result<Option<&KeyRing>, Miss>;

    /// A flow, visible or not.
    fn flow(&self, id: &FlowId) -> Result<Option<&Flow>, Miss>;

    fn edge(&self, flow: &FlowId, edge: &EdgeId) -> Result<Option<&Edge>, Miss>;

    /// The edges into an execution as a group; none when there never was one.
    fn group(&self, downstream: &ExecutionId) -> Result<Option<&Group>, Miss>;

    /// The first answer to a change of a flow's graph under a key.
    fn flow_key(&self, flow: &FlowId, key: &IdempotencyKey) -> Result<Option<&FlowKeyEntry>, Miss>;

    /// The next edges out of or into a member, in the order of their ids.
    fn edges(&self, query: &EdgesOf) -> Result<Vec<EdgeId>, Miss>;

    /// The next members of a flow, in the order of their ids.
    fn members(&self, query: &MembersOf) -> Result<Vec<ExecutionId>, Miss>;

    /// The flows of a partition that have something due themselves, earliest first, then by id.
    fn due_flows(&self, query: &DueQuery) -> Result<Vec<(TimestampMs, FlowId)>, Miss>;

    /// How a lane, named as indexes name it, is configured on a partition; none when it was never configured.
    fn lane(&self, partition: u16, lane: &LaneId) -> Result<Option<&Lane>, Miss>;

    /// How many executions of a lane are held on a partition.
    fn active(&self, partition: u16, lane: &LaneId) -> Result<u32, Miss>;

    /// The turn of a key of a fair lane; none when nothing of it waits or is remembered.
    fn turn(&self, name: &TurnName) -> Result<Option<&Turn>, Miss>;

    /// The keys of a fair lane whose turns come first, with their turns, then by key.
    fn turns(&self, query: &TurnsQuery) -> Result<Vec<(u64, FairKey)>, Miss>;

    /// The quota policies of a namespace, as a partition knows them; none when it never had one.
    fn quotas(&self, partition: u16, namespace: &Namespace) -> Result<Option<&QuotaSet>, Miss>;

    /// A row at the home of a quota policy.
    fn quota_row(&self, policy: &QuotaPolicyId, name: &QuotaRowName) -> Result<Option<&QuotaRow>, Miss>;

    /// A schedule at its home.
    fn schedule(&self, partition: u16, schedule: &ScheduleRef) -> Result<Option<&Schedule>, Miss>;
    /// A report of usage that was accepted; none when there was none of this id.
    fn usage_report(&self, execution: &ExecutionId, id: &IdempotencyKey) -> Result<Option<&UsageReportEntry>, Miss>;

    fn worker(&self, instance: &WorkerInstanceId) -> Result<Option<&Worker>, Miss>;

    fn api_key(&self, id: &KeyId) -> Result<Option<&ApiKey>, Miss>;

    /// Since when a partition records events; none when it was never followed.
    fn feed(&self, partition: u16) -> Result<Option<&Feed>, Miss>;

    /// The first waiting executions a query asks for, in the order they are to be claimed.
    fn eligible(&self, query: &EligibleQuery) -> Result<Vec<ExecutionId>, Miss>;

    /// The executions of a partition whose next moment comes first, with that moment, earliest first, then by id.
    fn due(&self, query: &DueQuery) -> Result<Vec<(TimestampMs, ExecutionId)>, Miss>;
}

/// Which waiting executions: of one lane on one partition, of some kinds (of any when none is named) and requirement classes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EligibleQuery {
    pub partition: u16,
    /// As indexes name it.
    pub lane: LaneId,
    pub kinds: Vec<Kind>,
    /// At least one, each once.
    pub classes: Vec<RequirementClass>,
    /// Of a fair lane, the key it is queued by; the empty one otherwise.
    pub key: FairKey,
    /// How long a wait weighs as much as one step of priority; none when priority alone decides.
    pub ageing_ms: Option<u64>,
    pub limit: usize,
}

/// Which due executions: the first of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DueQuery {
    pub partition: u16,
    pub limit: usize,
}

/// Which edges: out of a member or into it, after one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EdgesOf {
    pub flow: FlowId,
    pub member: ExecutionId,
    pub side: Side,
    pub after: Option<EdgeId>,
    pub limit: usize,
}

/// Which end of its edges a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The upstream: the edges leave it.
    Outgoing,
    /// The downstream: the edges enter it.
    Incoming,
}

/// Which members of a flow: those after one of them.
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
    /// Several at once: a rule that is going to look at many records says so before it looks at the first.
    All(Vec<Miss>),
}

/// Looks at several things, so that all missing ones are missed together.
pub(crate) fn require_all<T>(looks: impl IntoIterator<Item = Result<T, Miss>>) -> Result<(), Miss> {
    let missing: Vec<_> = looks.into_iter().filter_map(Result::err).collect();
    if missing.is_empty() { Ok(()) } else { Err(Miss::All(missing)) }
}

/// Why a rule did not decide.
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
