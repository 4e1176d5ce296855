//! How rules read. A rule that needs a record its executor has not loaded gets a miss; the executor loads the record and
//! runs the rule again. Rules are pure, so running twice is free.

use crate::change::KeyEntry;
use crate::engine_error::Refusal;
use crate::execution::Execution;
use crate::signal::SignalKeyEntry;
use crate::suspension::{SuspendKeyEntry, Waitpoint};
use crate::token::KeyRing;
use crate::types::{ExecutionId, IdempotencyKey, Kind, LaneId, Namespace, TimestampMs, WaitpointId};

/// The records a rule may look at, as they stand when it runs.
pub trait View {
    fn execution(&self, id: &ExecutionId) -> Result<Option<&Execution>, Miss>;

    fn key(&self, namespace: &Namespace, key: &IdempotencyKey) -> Result<Option<&KeyEntry>, Miss>;

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

    /// The secrets of a partition; none when it was never given one.
    fn ring(&self, partition: u16) -> Result<Option<&KeyRing>, Miss>;

    /// The first waiting executions a query asks for, in the order they are to be claimed.
    fn eligible(&self, query: &Eligible) -> Result<Vec<ExecutionId>, Miss>;

    /// The executions of a partition whose next moment comes first, with that moment, earliest first, then by id.
    fn due(&self, query: &DueFirst) -> Result<Vec<(TimestampMs, ExecutionId)>, Miss>;
}

/// Which waiting executions: of one lane on one partition, of some kinds (of any when none is named).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Eligible {
    pub partition: u16,
    /// As indexes name it.
    pub lane: LaneId,
    pub kinds: Vec<Kind>,
    pub limit: usize,
}

/// Which due executions: the first of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DueFirst {
    pub partition: u16,
    pub limit: usize,
}

/// What an executor must load before the rule can decide.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Miss {
    Execution(ExecutionId),
    Key(Namespace, IdempotencyKey),
    Waitpoint(ExecutionId, WaitpointId),
    SuspendKey(ExecutionId, IdempotencyKey),
    SignalKey(ExecutionId, WaitpointId, IdempotencyKey),
    Ring(u16),
    Eligible(Eligible),
    Due(DueFirst),
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
