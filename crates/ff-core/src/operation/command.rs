//! A command: the arguments of one mutation, with the rule that decides it, and the types that all rules share.

use crate::api_key::ApiKey;
use crate::backend::entropy::Nonce;
use crate::engine_error::{Code, Refusal, check_limit};
use crate::event::Feed;
use crate::execution::Execution;
use crate::fairness::TurnWrite;
use crate::flow::{FlowChange, StepOutcome};
use crate::lane::Lane;
use crate::limits;
use crate::partition::{PartitionConfig, check_id};
use crate::payload::Payload;
use crate::quota::QuotaWrites;
use crate::rule::change::Change;
use crate::rule::view::{Stop, View};
use crate::schedule::ScheduleWrite;
use crate::singleton::KeyQueue;
use crate::token::KeyRing;
use crate::types::{ExecutionId, TimestampMs};
use crate::worker::WorkerChange;

/// The arguments of one mutation. The file that implements this for a type has its reply, its checks and its rule too.
pub trait Command {
    /// The answer of the rule.
    type Reply;

    /// Whether the rule itself decides the consequences within flows.
    const SETTLES_FLOWS: bool = false;

    /// Refuses arguments that no state of the store could make acceptable.
    fn check(&self, _partitions: &PartitionConfig) -> Result<(), Refusal> {
        Ok(())
    }

    /// Returns the partition to which the command writes.
    fn partition(&self, partitions: &PartitionConfig) -> u16;

    /// Decides the command. After a miss, it runs again with the missing records loaded.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<Self::Reply>, Stop>;
}

/// A command on one execution. It writes to the partition that the execution's id names.
pub trait ExecutionCommand {
    /// The answer of the rule.
    type Reply;

    /// Whether the rule itself decides the consequences within flows.
    const SETTLES_FLOWS: bool = false;

    fn execution_id(&self) -> &ExecutionId;

    /// Refuses arguments that no state of the store could make acceptable.
    fn check(&self) -> Result<(), Refusal> {
        Ok(())
    }

    /// Decides the command. After a miss, it runs again with the missing records loaded.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<Self::Reply>, Stop>;
}

impl<C: ExecutionCommand> Command for C {
    type Reply = C::Reply;
    const SETTLES_FLOWS: bool = C::SETTLES_FLOWS;

    fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        check_id(self.execution_id(), partitions).and(ExecutionCommand::check(self))
    }

    fn partition(&self, _: &PartitionConfig) -> u16 {
        self.execution_id().partition()
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<Self::Reply>, Stop> {
        ExecutionCommand::decide(self, view, at)
    }
}

/// The conditions a command is decided under.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    pub partitions: PartitionConfig,
    pub nonce: Nonce,
    pub now: TimestampMs,
}

/// The answer to a command, and its writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision<R> {
    pub reply: R,
    pub changes: Vec<Change>,
    /// The writes to flows. Empty if no changed execution is in a flow.
    pub flows: Vec<FlowChange>,
    /// Executions to delete, with their attempts, leases, bytes, waitpoints, signals and remembered keys.
    pub forgotten: Vec<ExecutionId>,
    /// Lanes to write, by partition.
    pub lanes: Vec<(u16, Lane)>,
    /// The writes to records of workers.
    pub workers: Vec<WorkerChange>,
    /// API keys to write.
    pub api_keys: Vec<ApiKey>,
    /// The state of a partition's event feed.
    pub feed: Option<(u16, Feed)>,
    /// The token secrets to write to a partition.
    pub ring: Option<(u16, KeyRing)>,
    /// The writes to quotas.
    pub quotas: QuotaWrites,
    /// Queues of singleton and debounce keys to write. An empty queue is removed.
    pub key_queues: Vec<KeyQueue>,
    /// Turns of keys of fair lanes to write.
    pub turns: Vec<TurnWrite>,
    /// The writes to schedules.
    pub schedules: Vec<ScheduleWrite>,
}

impl<R> Decision<R> {
    /// Returns a decision that changes executions, or nothing.
    pub(crate) fn of(reply: R, changes: impl IntoIterator<Item = Change>) -> Self {
        Self {
            reply,
            changes: changes.into_iter().collect(),
            flows: Vec::new(),
            forgotten: Vec::new(),
            lanes: Vec::new(),
            workers: Vec::new(),
            api_keys: Vec::new(),
            feed: None,
            ring: None,
            quotas: QuotaWrites::default(),
            key_queues: Vec::new(),
            turns: Vec::new(),
            schedules: Vec::new(),
        }
    }

    /// Returns a decision that already contains its consequences within flows.
    pub(crate) fn settled(reply: R, settled: StepOutcome) -> Self {
        let StepOutcome { changes, flows, forgotten, .. } = settled;
        Self { flows, forgotten, ..Self::of(reply, changes) }
    }

    /// Returns a decision that writes a partition's record of a lane, if there is one to write.
    pub(crate) fn about_lane(reply: R, partition: u16, lane: Option<Lane>) -> Self {
        Self { lanes: lane.map(|lane| (partition, lane)).into_iter().collect(), ..Self::of(reply, None) }
    }

    /// Returns a decision that writes the record of a worker, if there is one to write.
    pub(crate) fn about_worker(reply: R, change: Option<WorkerChange>) -> Self {
        Self { workers: change.into_iter().collect(), ..Self::of(reply, None) }
    }

    /// Returns a decision that writes an API key, if there is one to write.
    pub(crate) fn about_key(reply: R, key: Option<ApiKey>) -> Self {
        Self { api_keys: key.into_iter().collect(), ..Self::of(reply, None) }
    }

    /// Returns a decision that writes quotas.
    pub(crate) fn about_quotas(reply: R, quotas: QuotaWrites) -> Self {
        Self { quotas, ..Self::of(reply, None) }
    }

    /// Returns a decision that writes a schedule.
    pub(crate) fn about_schedule(reply: R, write: ScheduleWrite) -> Self {
        Self { schedules: vec![write], ..Self::of(reply, None) }
    }

    /// Converts the reply to another type.
    pub(crate) fn map<T>(self, map: impl FnOnce(R) -> T) -> Decision<T> {
        Decision {
            reply: map(self.reply),
            changes: self.changes,
            flows: self.flows,
            forgotten: self.forgotten,
            lanes: self.lanes,
            workers: self.workers,
            api_keys: self.api_keys,
            feed: self.feed,
            ring: self.ring,
            quotas: self.quotas,
            key_queues: self.key_queues,
            turns: self.turns,
            schedules: self.schedules,
        }
    }
}

/// Returns an execution that callers can see. A staged execution becomes visible with its flow.
pub(crate) fn found<'v>(view: &'v dyn View, id: &ExecutionId) -> Result<&'v Execution, Stop> {
    let execution = view.execution(id)?.ok_or(Code::ExecutionNotFound)?;
    if execution.is_staged()
        && let Some(membership) = &execution.membership
        && view.flow(&membership.flow_id)?.is_none_or(|flow| flow.staging.is_some())
    {
        return Err(Code::ExecutionNotFound.into());
    }
    Ok(execution)
}

/// Refuses a payload over its limit.
pub fn check_payload(field: &str, payload: &Payload) -> Result<(), Refusal> {
    check_limit(Code::PayloadTooLarge, field, limits::PAYLOAD_BYTES, payload.bytes.len())
}

/// Refuses a text over its limit.
pub fn check_message(field: &str, text: Option<&str>) -> Result<(), Refusal> {
    check_limit(Code::LimitExceeded, field, limits::MESSAGE_BYTES, text.map_or(0, str::len))
}

/// Refuses to remember a key for longer than the maximum time span.
pub(crate) fn check_dedup_ttl(ttl_ms: u64) -> Result<(), Refusal> {
    check_limit(Code::LimitExceeded, "dedup_ttl_ms", limits::SPAN_MAX_MS, ttl_ms)
}
