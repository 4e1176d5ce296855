//! The answers that clients received, with the times of each call and answer.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use ff_core::backend::Answer;
use ff_core::contracts::{DelayedExecution, DeliveredSignal, FailedAttempt, ResumedExecution, SuspendedExecution};
use ff_core::engine_error::EngineError;
use ff_core::lease::Fence;
use ff_core::types::{ExecutionId, IdempotencyKey, LeaseEpoch, WaitpointId};

/// One effect that a store acknowledged.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Time of the call. Times are values of a shared counter, not of a clock.
    pub began: u64,
    /// Time of the answer.
    pub ended: u64,
    pub id: ExecutionId,
    pub what: LedgerAction,
}

/// The effect of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum LedgerAction {
    Submitted {
        duplicate: bool,
    },
    Claimed(Fence),
    Renewed(Fence),
    Progressed(Fence),
    /// Completed, with a result that only this call sent.
    Completed(Fence, u64),
    Failed(Fence, FailedAttempt),
    Delayed(Fence, DelayedExecution),
    Suspended(Fence, SuspendedExecution),
    /// A signal to a waitpoint, with the idempotency key of the call, if any.
    Signalled(WaitpointId, Option<IdempotencyKey>, DeliveredSignal),
    Decided(ResumedExecution),
    Cancelled {
        already: bool,
    },
    Replayed,
    Revoked {
        epoch: LeaseEpoch,
        already: bool,
    },
}

impl LedgerAction {
    /// Returns the fence that the caller presented or received, if any.
    pub fn fence(&self) -> Option<Fence> {
        match self {
            Self::Claimed(fence)
            | Self::Renewed(fence)
            | Self::Progressed(fence)
            | Self::Completed(fence, _)
            | Self::Failed(fence, _)
            | Self::Delayed(fence, _)
            | Self::Suspended(fence, _) => Some(*fence),
            Self::Submitted { .. }
            | Self::Signalled(..)
            | Self::Decided(_)
            | Self::Cancelled { .. }
            | Self::Replayed
            | Self::Revoked { .. } => None,
        }
    }

    /// Returns whether the call ended the lease of its fence.
    pub fn ends_lease(&self) -> bool {
        matches!(self, Self::Completed(..) | Self::Failed(..) | Self::Delayed(..) | Self::Suspended(..))
    }
}

/// The answers that all clients received.
#[derive(Default)]
pub struct Ledger {
    moments: AtomicU64,
    entries: Mutex<Vec<Entry>>,
    refusals: Mutex<BTreeMap<&'static str, usize>>,
}

impl Ledger {
    /// Returns the next time of the shared counter.
    pub fn moment(&self) -> u64 {
        self.moments.fetch_add(1, Ordering::SeqCst)
    }

    /// Records the answer to a call that began at this time. Panics if the call failed without an answer or a refusal.
    pub fn note<T>(&self, began: u64, answer: Answer<T>, actions: impl FnOnce(T) -> Vec<(ExecutionId, LedgerAction)>) {
        let ended = self.moment();
        match answer {
            Ok(answer) => {
                let entries = actions(answer).into_iter().map(|(id, what)| Entry { began, ended, id, what });
                self.entries.lock().unwrap_or_else(PoisonError::into_inner).extend(entries);
            }
            Err(EngineError::Refused(refusal)) => {
                let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
                *refusals.entry(refusal.code.as_str()).or_default() += 1;
            }
            Err(trouble) => panic!("the store is in trouble: {trouble}"),
        }
    }

    /// Returns the entries of each execution.
    pub fn by_execution(&self) -> BTreeMap<ExecutionId, Vec<Entry>> {
        let mut sorted: BTreeMap<_, Vec<Entry>> = BTreeMap::new();
        for entry in self.entries.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            sorted.entry(entry.id).or_default().push(entry.clone());
        }
        sorted
    }

    /// Returns the number of refusals with this code.
    pub fn refused(&self, code: &str) -> usize {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner).get(code).copied().unwrap_or_default()
    }
}
