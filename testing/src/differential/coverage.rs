//! What happened on the walks. A comparison in which little happened proves little.

use std::collections::BTreeMap;
use std::fmt;

use ff_core::contracts::Failed;
use ff_core::engine_error::{Code, Refusal};
use ff_core::execution::{Execution, FinishedBy, Origin, Phase};
use ff_core::operation::{Operation, Reply};

use super::told::Word;

/// Every refusal the rooms of executions and leases can give to an operation.
const REFUSALS: &[Code] = &[
    Code::ExecutionNotFound,
    Code::ExecutionNotActive,
    Code::ExecutionNotTerminal,
    Code::MaxReplaysExhausted,
    Code::IdempotencyConflict,
    Code::InvalidExecutionId,
    Code::InvalidPolicyJson,
    Code::StaleLease,
    Code::LeaseExpired,
    Code::LeaseRevoked,
    Code::NoActiveLease,
    Code::InvalidInput,
    Code::LimitExceeded,
    Code::PayloadTooLarge,
];

/// Everything else that must have happened.
const EVENTS: &[&str] = &[
    "Submit",
    "Claim",
    "Renew",
    "Progress",
    "Complete",
    "Fail",
    "Delay",
    "Cancel",
    "Replay",
    "Revoke",
    "Pump",
    "Reopen",
    "duplicate",
    "retry scheduled",
    "failed for good",
    "cancelled before",
    "revoked before",
    "fired",
    "first try",
    "retry",
    "reclaim",
    "replay",
    "resumed",
    "several claimed",
    "ended by its holder",
    "ended by cancel",
    "ended by deadline",
    "ended by timeouts",
    "ended by reclaims",
];

/// How often each thing happened.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    counts: BTreeMap<&'static str, usize>,
}

impl Coverage {
    /// Takes over what happened elsewhere.
    pub fn add(&mut self, other: &Self) {
        other.counts.iter().for_each(|(what, count)| *self.counts.entry(what).or_default() += count);
    }

    /// Fails unless everything that can happen has, at least so many times.
    pub fn assert_at_least(&self, times: usize) {
        let all = REFUSALS.iter().map(|code| code.as_str()).chain(EVENTS.iter().copied());
        let rare: Vec<_> = all.filter(|what| self.counts.get(what).is_none_or(|count| *count < times)).collect();
        assert!(rare.is_empty(), "too rare, of {times}: {rare:?}\n{self}");
    }

    pub(crate) fn count_reopening(&mut self) {
        self.happened("Reopen");
    }

    pub(crate) fn count(&mut self, operation: &Operation, told: &Result<Word, Refusal>) {
        match told {
            Err(refusal) => self.happened(refusal.code.as_str()),
            Ok(word) => {
                self.happened(name(operation));
                self.count_word(word);
            }
        }
    }

    pub(crate) fn count_end(&mut self, execution: &Execution) {
        let Phase::Finished { by, .. } = &execution.phase else { return };
        self.happened(match by {
            FinishedBy::Holder => "ended by its holder",
            FinishedBy::Cancel { .. } => "ended by cancel",
            FinishedBy::Deadline => "ended by deadline",
            FinishedBy::AttemptTimeout => "ended by timeouts",
            FinishedBy::ReclaimCap => "ended by reclaims",
        });
    }

    fn count_word(&mut self, word: &Word) {
        match word {
            Word::Reply(Reply::Submitted(submitted)) if submitted.duplicate => self.happened("duplicate"),
            Word::Reply(Reply::Failed(Failed::RetryScheduled { .. })) => self.happened("retry scheduled"),
            Word::Reply(Reply::Failed(Failed::Failed)) => self.happened("failed for good"),
            Word::Reply(Reply::Cancelled(cancelled)) if cancelled.already => self.happened("cancelled before"),
            Word::Reply(Reply::Revoked(revoked)) if revoked.already => self.happened("revoked before"),
            Word::Reply(Reply::Pumped(pumped)) if pumped.fired > 0 => self.happened("fired"),
            Word::Reply(_) => {}
            Word::Claims(claims) => {
                if claims.claimed.len() > 1 {
                    self.happened("several claimed");
                }
                for claimed in &claims.claimed {
                    self.happened(match claimed.task.attempt {
                        _ if claimed.task.resumed => "resumed",
                        Origin::Initial => "first try",
                        Origin::Retry { .. } => "retry",
                        Origin::Reclaim { .. } => "reclaim",
                        Origin::Replay { .. } => "replay",
                    });
                }
            }
        }
    }

    fn happened(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counts.iter().try_for_each(|(what, count)| writeln!(f, "{count:>8}  {what}"))
    }
}

fn name(operation: &Operation) -> &'static str {
    match operation {
        Operation::Submit(_) => "Submit",
        Operation::Claim(_) => "Claim",
        Operation::Renew(_) => "Renew",
        Operation::Progress(_) => "Progress",
        Operation::Complete(_) => "Complete",
        Operation::Fail(_) => "Fail",
        Operation::Delay(_) => "Delay",
        Operation::Cancel(_) => "Cancel",
        Operation::Replay(_) => "Replay",
        Operation::Revoke(_) => "Revoke",
        Operation::Pump(_) => "Pump",
    }
}
